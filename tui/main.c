/*
 * weir: the command line, a client of the engine's socket. It runs no pipeline
 * and links no SQLite; the console will live beside tui/cli.
 */
#include "cli/cli.h"

#include <locale.h>
#include <signal.h>

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_DFL);
	return cli_main(argc - 1, argv + 1);
}
