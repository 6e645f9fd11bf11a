#include "drive.h"
const struct scenario rest_scenarios[] = { { NULL, NULL } };
