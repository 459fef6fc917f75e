/*
 * starving.c - every message arrives in an SRQ that has grown, although the receiver only reads its memory and makes no
 * call. With backlog.sh, the device's queue keeps its first size.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq/srq_common.h"

#include <string.h>

enum { BUFFERS = 8, SIZE = 65536, ROUNDS = 4 };

static unsigned char last_of(int round, int i)
{
    return (unsigned char)(1 + round * BUFFERS + i);
}

/* The other process: posts all messages of a round. */
static int feeder(struct link *up)
{
    static struct region out;
    struct fx fx;
    struct side s;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &out, BUFFERS * SIZE, MEM_LOCAL);
    side_connect_peer(&s, up);
    for (int round = 0; round < ROUNDS; round++) {
        must(link_hear(up, "feed"), "no orders");
        for (int i = 0; i < BUFFERS; i++) {
            unsigned char *message = out.mem + (size_t)i * SIZE;

            message_fill(message, SIZE - 1, (unsigned)round, (unsigned)i);
            message[SIZE - 1] = last_of(round, i);
            must_rc(post_send(&s, &out, (size_t)i * SIZE, SIZE, (DAT_UINT64)i), DAT_SUCCESS,
                    "dat_ep_post_send");
        }
        for (int i = 0; i < BUFFERS; i++)
            must(wait_dto(s.req, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL), "a message does not arrive");
    }
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

/* State of the received messages. */
struct sight {
    const unsigned char *mem;
    int round;
    int seen;
};

static bool all_there(void *arg)
{
    struct sight *s = arg;

    s->seen = 0;
    for (int i = 0; i < BUFFERS; i++) {
        const volatile unsigned char *last = s->mem + (size_t)i * SIZE + SIZE - 1;

        s->seen += *last == last_of(s->round, i);
    }
    return s->seen == BUFFERS;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "feeder", feeder }, { NULL, NULL } };
    struct fx fx;
    struct srq q;
    struct side rx;
    struct peer p;

    env_init(argc, argv, roles);
    fx_open(&fx);
    srq_open(&q, &fx, 1, BUFFERS, SIZE);
    is_success(dat_srq_resize(q.handle, BUFFERS), "dat_srq_resize: 1 to 8: success");
    side_make_srq(&rx, &fx, q.handle, NULL);
    peer_start(&p, "feeder");
    side_accept_peer(&rx, &p.link);
    for (int round = 0; round < ROUNDS; round++) {
        struct sight sight = { q.mem.mem, round, 0 };
        int right = 0;

        srq_fill(&q, 0, BUFFERS);
        must(link_say(&p.link, "feed"), "the peer is gone");
        wait_until(all_there, &sight, SOON_MS);
        is_int(sight.seen, BUFFERS, "round %d: no call: the messages are in memory", round);
        for (int i = 0; i < BUFFERS; i++)
            right += wait_dto(rx.recv, srq_cookie(i), DAT_DTO_SUCCESS, NULL) &&
                     message_right(q.mem.mem + (size_t)i * SIZE, SIZE - 1, (unsigned)round, (unsigned)i);
        is_int(right, BUFFERS, "round %d: completions in order, each message whole", round);
        is_counts(q.handle, 0, 0, "round %d: nothing is left", round);
        if (right != BUFFERS)
            bail("the queue stands still");
    }
    link_say(&p.link, "bye");
    peer_ok(&p, "the other process ends well");
    side_free(&rx);
    srq_close(&q);
    fx_close(&fx);
    return done_testing();
}
