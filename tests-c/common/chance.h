/* chance.h - pseudo-random numbers from a seed, the same in each process. */
#ifndef TESTS_C_CHANCE_H
#define TESTS_C_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

void chance_begin(struct chance *c, uint64_t seed);

/* Returns a number below `below`. */
unsigned draw(struct chance *c, unsigned below);

/*
 * Returns a number from least, which must be above 0, to most. All orders of magnitude are equally
 * likely.
 */
unsigned draw_size(struct chance *c, unsigned least, unsigned most);

#endif
