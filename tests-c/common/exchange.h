/*
 * exchange.h - messages and RDMA of all sizes between two processes, both ways, each byte checked.
 *
 * Both call exchange_open(), connect, exchange_targets(), and exchange_both_ways() with the seeds of either
 * side swapped.
 */
#ifndef TESTS_C_EXCHANGE_H
#define TESTS_C_EXCHANGE_H

#include "fixture.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens the adapter, with an endpoint that has its first receive, and the memory for all of it. */
void exchange_open(struct fx *fx, struct side *s, struct region *r);

/* Tells the other process what it may use, and learns what of it may be used. */
void exchange_targets(struct link *l, struct region *r, DAT_RMR_TRIPLET *theirs);

/*
 * Sends, writes and reads; then takes what the other side sends. One side is the first. True if all is
 * as it should be; otherwise what[] says what was not.
 */
bool exchange_both_ways(struct side *s, struct region *r, DAT_RMR_TRIPLET all, unsigned own,
                        unsigned other, bool first, char *what, size_t room);

#endif
