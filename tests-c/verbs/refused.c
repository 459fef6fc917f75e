/*
 * refused.c - the device rejects posts from an SRQ's backlog while the device has no receive. If it accepts the posts
 * later, messages arrive. If it never accepts them, the connections end, and other connections can use the buffers.
 *
 * With DAT_VERBS_SRQ_BACKLOG=1 the provider does not resize the SRQ of the device. So the device has room for ROOM receives, and others wait.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq/srq_common.h"
#include "verbs/faulty.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 8, ROOM = 2, SIZE = 64 };

static struct faults faults;

/* Creates a queue of ROOM receives, enlarges it, and fills it. */
static void open_full(struct srq *q, struct fx *fx)
{
    srq_open(q, fx, ROOM, BUFFERS, SIZE);
    must_rc(dat_srq_resize(q->handle, BUFFERS), DAT_SUCCESS, "dat_srq_resize");
    srq_fill(q, 0, BUFFERS);
}

static void connect_srq(struct srq_pair *p, struct srq *q)
{
    memset(p, 0, sizeof *p);
    side_make_srq(&p->rx, q->fx, q->handle, NULL);
    side_make(&p->tx, q->fx, NULL);
    region_make(q->fx, &p->out, SIZE, MEM_LOCAL);
    sides_connect(&p->tx, &p->rx);
}

static int arrive(struct srq_pair *p, struct srq *q, int n)
{
    int right = 0;

    for (int i = 0; i < n; i++)
        right += srq_send(p, SIZE, (unsigned)i) && srq_take(q, p->rx.recv, p->rx.ep, SIZE, 0, (unsigned)i) >= 0;
    return right;
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct srq q;
    struct srq_pair p;
    DAT_EVENT e;
    int ends;

    env_init(argc, argv, NULL);
    if (env_is_iwarp())
        skip_all("a message without a receive ends an iWARP connection");
    faulty_use(&faults);
    must(setenv("DAT_VERBS_SRQ_BACKLOG", "1", 1) == 0, "setenv");
    fx_open(&fx);

    /* The device rejects four posts, uses up its buffers, and then accepts posts. */
    open_full(&q, &fx);
    faulty_reject("post_srq_recv", 4, 0);
    connect_srq(&p, &q);
    is_int(arrive(&p, &q, BUFFERS), BUFFERS, "buffers are refused four times and then taken: every message arrives");
    faults.armed = 0;
    ok(faults.fired, "buffers are refused four times and then taken: they were");
    is_counts(q.handle, 0, 0, "buffers are refused four times and then taken: nothing is left");
    srq_pair_close(&p);
    srq_close(&q);

    /* The device never accepts a post. */
    open_full(&q, &fx);
    faulty_reject("post_srq_recv", 1 << 30, 0);
    connect_srq(&p, &q);
    is_int(arrive(&p, &q, ROOM), ROOM, "buffers are always refused: what the device has is used");
    must_rc(srq_send_start(&p, SIZE, 0), DAT_SUCCESS, "dat_ep_post_send");
    /* Either end may break first. */
    ends = wait_event(p.rx.conn, &e) && (e.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                                         e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED);
    ok(ends, "buffers are always refused: the receiver's connection ends");
    ok(wait_number(p.tx.conn, DAT_CONNECTION_EVENT_DISCONNECTED, &e) ||
           e.event_number == DAT_CONNECTION_EVENT_BROKEN,
       "buffers are always refused: the sender's connection ends");
    ok(wait_event(p.tx.req, &e), "buffers are always refused: the message has its completion");
    is_counts(q.handle, BUFFERS - ROOM, BUFFERS - ROOM, "buffers are always refused: all others are there");
    faults.armed = 0;
    srq_pair_close(&p);
    connect_srq(&p, &q);
    is_int(arrive(&p, &q, BUFFERS - ROOM), BUFFERS - ROOM, "buffers were refused: another connection has them all");
    is_counts(q.handle, 0, 0, "buffers were refused: nothing is left");
    srq_pair_close(&p);
    srq_close(&q);
    fx_close(&fx);
    return done_testing();
}
