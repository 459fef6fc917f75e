/*
 * exchange.h - messages and RDMA of all sizes between two processes, both ways, with all bytes checked.
 *
 * Both processes call exchange_open(), connect, and call exchange_targets() and exchange_both_ways(),
 * one of them as `first`, with swapped seeds.
 */
#ifndef TESTS_C_EXCHANGE_H
#define TESTS_C_EXCHANGE_H

#include "fixture.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens the adapter, and creates an endpoint with one posted receive, and the memory for all transfers. */
void exchange_open(struct fx *fx, struct side *s, struct region *r);

/* Exchanges the triplets of the shared memory. */
void exchange_targets(struct link *l, struct region *r, DAT_RMR_TRIPLET *theirs);

/*
 * Sends, writes and reads, and receives the same. On failure, returns false with a description in
 * what[].
 */
bool exchange_both_ways(struct side *s, struct region *r, DAT_RMR_TRIPLET all, unsigned own,
                        unsigned other, bool first, char *what, size_t room);

#endif
