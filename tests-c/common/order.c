#include "order.h"

#include <string.h>

void order_send(struct link *l, enum order_kind what, size_t offset, size_t size, unsigned seed)
{
    struct order o;

    memset(&o, 0, sizeof o);
    o.what = what;
    o.offset = offset;
    o.size = size;
    o.seed = seed;
    must(LINK_SEND(l, o), "the other process has exited");
}
