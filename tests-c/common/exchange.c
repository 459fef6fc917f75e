#include "exchange.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST = 1 << 20, SIZES = 5 };

static const size_t sizes[SIZES] = { 100, 9 * 1024, 64 * 1024, 300001, LARGEST };

/* Offsets in the region: bytes to send, received bytes, memory for the other side, a received word. */
enum { OUT_AT = 0, IN_AT = LARGEST, REMOTE_AT = 2 * LARGEST, WORD_AT = 3 * LARGEST, REGION = WORD_AT + 1 };

/* Posts the receives for a message and for the word after it. */
static bool expect(struct side *s, struct region *r)
{
    return post_recv(s, r, IN_AT, LARGEST, 4) == DAT_SUCCESS && post_recv(s, r, WORD_AT, 1, 6) == DAT_SUCCESS;
}

bool exchange_both_ways(struct side *s, struct region *r, DAT_RMR_TRIPLET all, unsigned own,
                        unsigned other, bool first, char *what, size_t room)
{
    int i, turn;

    for (i = 0; i < SIZES; i++) {
        size_t size = sizes[i];

        pattern_fill(r->mem + OUT_AT, size, own + (unsigned)i);
        for (turn = 0; turn < 2; turn++) {
            DAT_RMR_TRIPLET there = all;

            if ((turn == 0) == first) {
                there.segment_length = size;
                snprintf(what, room, "message of %zu bytes out", size);
                if (post_send(s, r, OUT_AT, size, 1) != DAT_SUCCESS ||
                    !wait_dto(s->req, 1, DAT_DTO_SUCCESS, NULL))
                    return false;
                snprintf(what, room, "RDMA write of %zu bytes", size);
                if (post_write(s, r, OUT_AT, size, there, 2) != DAT_SUCCESS ||
                    !wait_dto(s->req, 2, DAT_DTO_SUCCESS, NULL))
                    return false;
                snprintf(what, room, "RDMA read of %zu bytes", size);
                memset(r->mem + IN_AT, 0, size);
                if (post_read(s, r, IN_AT, size, there, 3) != DAT_SUCCESS ||
                    !wait_dto(s->req, 3, DAT_DTO_SUCCESS, NULL) ||
                    pattern_check(r->mem + IN_AT, size, own + (unsigned)i) >= 0)
                    return false;
                /* Post the next receives before the other side may send. */
                if (!expect(s, r) || post_send(s, r, OUT_AT, 1, 5) != DAT_SUCCESS ||
                    !wait_dto(s->req, 5, DAT_DTO_SUCCESS, NULL))
                    return false;
            } else {
                snprintf(what, room, "message of %zu bytes in", size);
                if (!wait_dto(s->recv, 4, DAT_DTO_SUCCESS, NULL) ||
                    pattern_check(r->mem + IN_AT, size, other + (unsigned)i) >= 0)
                    return false;
                snprintf(what, room, "word after %zu bytes", size);
                if (!wait_dto(s->recv, 6, DAT_DTO_SUCCESS, NULL))
                    return false;
                snprintf(what, room, "RDMA write of %zu bytes in", size);
                if (pattern_check(r->mem + REMOTE_AT, size, other + (unsigned)i) >= 0)
                    return false;
            }
        }
    }
    return true;
}

void exchange_open(struct fx *fx, struct side *s, struct region *r)
{
    fx_open(fx);
    side_make(s, fx, NULL);
    region_make(fx, r, REGION, DAT_MEM_PRIV_ALL_FLAG);
    must(expect(s, r), "a receive is refused");
}

void exchange_targets(struct link *l, struct region *r, DAT_RMR_TRIPLET *theirs)
{
    DAT_RMR_TRIPLET ours = target(r, REMOTE_AT, LARGEST);

    must(LINK_SEND(l, ours) && LINK_RECV(l, *theirs), "the other process has exited");
}
