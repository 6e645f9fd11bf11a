/* Readline, and history files of the prompt. For prompt.c, readline.c and history.c only. */
#ifndef WEIR_TUI_PROMPT_PROMPT_PRIVATE_H
#define WEIR_TUI_PROMPT_PROMPT_PRIVATE_H

#include "prompt/prompt.h"

#include <stdio.h>

#define HISTORY_LINES_MAX 1000
#define HISTORY_FILE_BYTES_MAX (1u << 20)

/* Once in a process, whoever calls: readline reads by these two, and draws, asks and says nothing. */
void readline_begin(int (*get_byte)(FILE *), int (*has_byte)(void));

/* Adds the lines of a history file to readline's list, newest last; a file that has grown too long is shortened. */
void history_load(const char *path);
/* Puts the line behind the last one of the file, mode 0600. What fails is left: history is a comfort. */
void history_keep(const char *folder, const char *path, const char *line);
/* May this line be kept? Not if it has a secret, nor if a blank leads it (as in shells). */
bool history_may_keep(const char *line);

#endif
