/* order.h - orders to another process: receive a message, fill memory, check memory, or end. */
#ifndef TESTS_C_ORDER_H
#define TESTS_C_ORDER_H

#include "peer.h"

enum order_kind { RECEIVE, FILL, CHECK, END };

struct order {
    enum order_kind what;
    size_t offset, size;
    unsigned seed;
};

void order_send(struct link *l, enum order_kind what, size_t offset, size_t size, unsigned seed);

#endif
