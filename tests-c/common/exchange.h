/*
 * exchange.h - messages and RDMA of all sizes between two processes, both ways, with all bytes checked.
 *
 * Both processes call exchange_open(), connect, and call exchange_targets() and exchange_both_ways().
 * Exactly one process passes `first`. `own` of each process is `other` of the other process.
 */
#ifndef TESTS_C_EXCHANGE_H
#define TESTS_C_EXCHANGE_H

#include "fixture.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens the adapter, and creates an endpoint with one posted receive, and the memory for all transfers. */
void exchange_open(struct fx *fx, struct side *s, struct region *r);

/*
 * Sends the triplet of this process's memory for RDMA, and receives the other process's triplet into
 * *theirs.
 */
void exchange_targets(struct link *l, struct region *r, DAT_RMR_TRIPLET *theirs);

/*
 * Transfers each size with a message, an RDMA write to `all` and an RDMA read of the written bytes,
 * and receives the same from the other process. `own` and `other` are the seeds of the sent and of
 * the received bytes. On failure, returns false with a description in what[], of `room` bytes.
 */
bool exchange_both_ways(struct side *s, struct region *r, DAT_RMR_TRIPLET all, unsigned own,
                        unsigned other, bool first, char *what, size_t room);

#endif
