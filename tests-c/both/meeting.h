/* meeting.h - two halves of one process meet. */
#ifndef TESTS_C_BOTH_MEETING_H
#define TESTS_C_BOTH_MEETING_H

#include "half.h"

/* All that the two can do with each other, each calling the other. Subtests. */
void meet(const struct half *one, const struct half *other, int argc, char **argv);

#endif
