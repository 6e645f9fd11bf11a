/* The first screen, for who opens it. */
#ifndef WEIR_TUI_VIEW_OVERVIEW_H
#define WEIR_TUI_VIEW_OVERVIEW_H

#include "model/model.h"

/* Asks what the first screen will ask, before there is a screen. */
void overview_foresee(struct model *model);

#endif
