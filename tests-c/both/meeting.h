/* meeting.h - connections between two halves of one process. */
#ifndef TESTS_C_BOTH_MEETING_H
#define TESTS_C_BOTH_MEETING_H

#include "half.h"

/* Runs all subtests, with each half as the caller. */
void meet(const struct half *one, const struct half *other, int argc, char **argv);

#endif
