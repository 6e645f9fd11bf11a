/* Names that the console knows, for completion. */
#ifndef WEIR_TUI_VIEW_KNOWN_NAMES_H
#define WEIR_TUI_VIEW_KNOWN_NAMES_H

/* As prompt_names.each; `context` is the console. */
void known_names_each(void *context, const char *kind, const char *job,
                      void (*add)(void *to, const char *name, const char *note), void *to);

#endif
