/* `manual NAME` writes one document of the manual to standard output, `manual` lists their names. Run by the Makefile. */
#include "manual/manual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_BYTES_MAX (4u << 20)

static int print(const struct manual_document *document)
{
	OWNED(text) out = text_new(DOCUMENT_BYTES_MAX);

	if (!document->write(out))
		return EXIT_FAILURE;
	return fputs(out->at, stdout) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < manual_document_count; i++) {
		if (argc < 2)
			puts(manual_documents[i].name);
		else if (strcmp(manual_documents[i].name, argv[1]) == 0)
			return print(&manual_documents[i]);
	}
	return argc < 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
