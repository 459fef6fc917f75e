/*
 * order.h - orders of one process to another about the memory of the latter.
 */
#ifndef TESTS_C_ORDER_H
#define TESTS_C_ORDER_H

#include "peer.h"

/* RECEIVE a message, FILL with a pattern, CHECK the contents; END. */
enum order_kind { RECEIVE, FILL, CHECK, END };

struct order {
    enum order_kind what;
    size_t offset, size;
    unsigned seed;
};

void order_send(struct link *l, enum order_kind what, size_t offset, size_t size, unsigned seed);

#endif
