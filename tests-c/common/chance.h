/*
 * chance.h - numbers that follow from a seed, the same ones in each process.
 */
#ifndef TESTS_C_CHANCE_H
#define TESTS_C_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

void chance_begin(struct chance *c, uint64_t seed);

/* Any number below that. */
unsigned draw(struct chance *c, unsigned below);

/* Any number from least, which is above 0, to most: small ones as often as large ones. */
unsigned draw_size(struct chance *c, unsigned least, unsigned most);

#endif
