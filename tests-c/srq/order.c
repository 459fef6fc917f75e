/*
 * order.c - the completions of an SRQ arrive per connection in the order of the sends. An empty
 * queue acts like an empty receive queue of the endpoint.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 8 };

static struct fx fx;

/* The receiving side's state of one connection. */
struct stream {
    struct side rx;
    unsigned next;  /* number of the expected message */
    unsigned total; /* number of messages */
};

/* Returns sizes from 0 to 1 MiB, in an irregular order. */
static size_t size_of(unsigned from, unsigned seq)
{
    static const size_t sizes[] = { 0, 1, 7, 64, 200, 1000, 4096, 5000, 40000, 100000, 1u << 20 };

    return sizes[(seq * 7 + from * 3) % (sizeof sizes / sizeof *sizes)];
}

/* The second process: sends messages of size_of() or 64 bytes on all connections. */
static int crowd(struct link *up)
{
    static struct side tx[MANY];
    static struct region out[MANY];
    struct fx own;
    uint32_t n, total, mixed;
    unsigned posted[MANY] = { 0 }, done[MANY] = { 0 };
    bool all;

    fx_open(&own);
    must(LINK_RECV(up, n) && LINK_RECV(up, total) && LINK_RECV(up, mixed), "no orders");
    for (uint32_t i = 0; i < n; i++) {
        side_make(&tx[i], &own, NULL);
        side_connect_peer(&tx[i], up);
        region_make(&own, &out[i], 4u << 20, MEM_LOCAL); /* four outstanding messages of up to 1 MiB */
    }
    must(link_hear(up, "go"), "no start");
    do {
        all = true;
        for (uint32_t i = 0; i < n; i++) {
            DAT_EVENT event;

            while (posted[i] < total && posted[i] - done[i] < 4) {
                size_t size = mixed ? size_of(i, posted[i]) : 64;
                size_t at = (size_t)(posted[i] % 4) << 20;

                message_fill(out[i].mem + at, size, i, posted[i]);
                must_rc(post_send(&tx[i], &out[i], at, size, posted[i]), DAT_SUCCESS,
                        "dat_ep_post_send");
                posted[i]++;
            }
            while (dat_evd_dequeue(tx[i].req, &event) == DAT_SUCCESS) {
                DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;

                must(d->status == DAT_DTO_SUCCESS, "a Send fails with %s", status_text(d->status));
                must(d->user_cookie.as_64 == done[i], "completions of Sends in another order");
                done[i]++;
            }
            all = all && done[i] == total;
        }
        if (!all)
            breathe();
    } while (!all);
    must(link_say(up, "sent") && link_hear(up, "bye"), "the other process has exited");
    fx_close(&own);
    return 0;
}

/* Checks that a completion is the next of its stream, and posts the buffer again. */
static bool next_of_its_stream(struct srq *q, struct stream *st, int n, bool mixed,
                               const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event->event_data.dto_completion_event_data;
    DAT_COUNT i = srq_buffer(q, d->user_cookie.as_64);
    int from = 0;
    size_t size;

    while (from < n && st[from].rx.ep != d->ep_handle)
        from++;
    if (from == n || i < 0 || d->status != DAT_DTO_SUCCESS) {
        diag("completion of an unknown endpoint, an unknown buffer or with %s",
             status_text(d->status));
        return false;
    }
    size = mixed ? size_of((unsigned)from, st[from].next) : 64;
    if (d->transfered_length != size ||
        !message_right(q->mem.mem + (size_t)i * q->slot, size, (unsigned)from, st[from].next)) {
        diag("endpoint %d: message %u is wrong: %llu bytes, expected %zu", from,
             st[from].next, (unsigned long long)d->transfered_length, size);
        return false;
    }
    st[from].next++;
    must_rc(srq_post(q, i), DAT_SUCCESS, "dat_srq_post_recv");
    return true;
}

/* Tests n connections with total messages each. */
static void streams(int n, unsigned total, bool mixed, bool one_evd)
{
    struct stream st[MANY];
    struct srq q;
    struct peer p;
    struct side evd_of;
    char name[128];
    uint32_t word;
    uint64_t end;
    bool good = true, done = false;
    /* On iWARP a message without a buffer ends the connection, so all messages have a buffer from the start. */
    const DAT_COUNT buffers = env_is_iwarp() ? n * (DAT_COUNT)total : 4 * n;

    snprintf(name, sizeof name, "%d connections, %u messages each, %s, %s", n, total,
             mixed ? "0 to 1048576 bytes" : "64 bytes",
             one_evd ? "one receive EVD" : "a receive EVD each");
    memset(st, 0, sizeof st);
    memset(&evd_of, 0, sizeof evd_of);
    srq_open(&q, &fx, buffers, buffers, mixed ? 1u << 20 : 64);
    if (one_evd)
        evd_of.recv = fx_evd(&fx, buffers, DAT_EVD_DTO_FLAG);
    peer_start(&p, "crowd");
    word = (uint32_t)n;
    must(LINK_SEND(&p.link, word), "the second process has exited");
    word = total;
    must(LINK_SEND(&p.link, word), "the second process has exited");
    word = mixed;
    must(LINK_SEND(&p.link, word), "the second process has exited");
    for (int i = 0; i < n; i++) {
        struct side *s = &st[i].rx;
        DAT_EP_ATTR attr;

        attr_default(&attr);
        attr.max_recv_dtos = DAT_HW_DEFAULT;
        s->fx = &fx;
        s->recv = one_evd ? evd_of.recv : fx_evd(&fx, buffers, DAT_EVD_DTO_FLAG);
        s->req = fx_evd(&fx, 8, DAT_EVD_DTO_FLAG);
        s->conn = fx_evd(&fx, 8, DAT_EVD_CONNECTION_FLAG);
        must_rc(dat_ep_create_with_srq(fx.ia, fx.pz, s->recv, s->req, s->conn, q.handle, &attr,
                                       &s->ep),
                DAT_SUCCESS, "dat_ep_create_with_srq");
        st[i].total = total;
        side_accept_peer(s, &p.link);
    }
    srq_fill(&q, 0, buffers);
    must(link_say(&p.link, "go"), "the second process has exited");

    end = now_ms() + env_ms(3 * SOON_MS);
    while (good && !done && now_ms() < end) {
        bool any = false;

        done = true;
        for (int i = 0; i < n; i++) {
            DAT_EVENT event;

            while (good && dat_evd_dequeue(st[i].rx.recv, &event) == DAT_SUCCESS) {
                any = true;
                good = next_of_its_stream(&q, st, n, mixed, &event);
            }
            done = done && st[i].next == total;
        }
        if (!any)
            breathe();
    }
    ok(good && done, "%s: each connection's completions in the order of its sends", name);
    for (int i = 0; i < n; i++)
        if (st[i].next != total)
            diag("connection %d: %u of %u messages", i, st[i].next, total);
    if (good && done) {
        must(link_hear(&p.link, "sent"), "the crowd has no completions");
        is_counts(q.handle, buffers, buffers, "%s: every buffer is back on the queue", name);
        must(link_say(&p.link, "bye"), "the second process has exited");
        peer_ok(&p, "%s: the senders' completions came in order", name);
    } else {
        peer_kill(&p);
    }
    for (int i = 0; i < n; i++) {
        if (one_evd)
            st[i].rx.recv = DAT_HANDLE_NULL;
        side_free(&st[i].rx);
    }
    if (one_evd)
        must_rc(dat_evd_free(evd_of.recv), DAT_SUCCESS, "dat_evd_free");
    srq_close(&q);
}

static void empty_queue(void)
{
    struct srq q;
    struct srq_pair p[3];
    DAT_EVENT event;
    int arrived = 0;
    uint64_t end;

    srq_open(&q, &fx, 8, 8, 256);
    for (int i = 0; i < 3; i++)
        srq_pair_open(&p[i], &q);
    for (int i = 0; i < 3; i++)
        is_success(srq_send_start(&p[i], 100, 1), "empty queue: Send on connection %d: success", i);
    for (int i = 0; i < 3; i++)
        ok(no_event(p[i].tx.req) && no_event(p[i].rx.recv) && no_event(p[i].rx.conn) &&
               ep_state(p[i].rx.ep) == DAT_EP_STATE_CONNECTED &&
               ep_state(p[i].tx.ep) == DAT_EP_STATE_CONNECTED,
           "empty queue: connection %d: the message waits, the connection stands", i);

    srq_fill(&q, 0, 1);
    end = now_ms() + env_ms(SOON_MS);
    while (arrived == 0 && now_ms() < end) {
        for (int i = 0; i < 3; i++)
            if (dat_evd_dequeue(p[i].tx.req, &event) == DAT_SUCCESS)
                arrived++;
        breathe();
    }
    ok(arrived == 1, "empty queue: one buffer is posted: one message arrives");
    is_counts(q.handle, 0, 1, "empty queue: one buffer is posted: 0, 1");
    srq_fill(&q, 1, 2);
    for (int i = 0; i < 3; i++)
        ok(srq_take(&q, p[i].rx.recv, p[i].rx.ep, 100, 0, 1) >= 0,
           "empty queue: two more are posted: connection %d has its message", i);
    is_counts(q.handle, 0, 0, "empty queue: three dequeued: 0, 0");
    for (int i = 0; i < 3; i++)
        srq_pair_close(&p[i]);
    srq_close(&q);
}

static void beside_a_plain_endpoint(void)
{
    struct srq q;
    struct srq_pair p;
    struct pair plain;

    srq_open(&q, &fx, 4, 4, 256);
    srq_pair_open(&p, &q);
    pair_open(&plain, &fx, NULL);
    must_rc(srq_send_start(&p, 100, 1), DAT_SUCCESS, "dat_ep_post_send");
    ok(sides_talk(&plain.a, &plain.b),
       "a message waits on an empty shared queue: other endpoints go on");
    srq_fill(&q, 0, 1);
    ok(srq_take(&q, p.rx.recv, p.rx.ep, 100, 0, 1) == 0, "and it arrives when a buffer is posted");
    pair_close(&plain);
    srq_pair_close(&p);
    srq_close(&q);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "crowd", crowd }, { NULL, NULL } };

    unsigned long_ones;

    env_init(argc, argv, roles);
    long_ones = env_is_iwarp() ? 11 : (unsigned)env_count(66, 11);
    fx_open(&fx);
    streams(1, (unsigned)env_count(2000, 200), false, true);
    streams(1, 2 * long_ones, true, true);
    streams(MANY, (unsigned)env_count(1000, 100), false, true);
    streams(MANY, (unsigned)env_count(1000, 100), false, false);
    streams(MANY, long_ones, true, true);
    streams(MANY, long_ones, true, false);
    if (!none_waits("empty queue")) {
        empty_queue();
        beside_a_plain_endpoint();
    }
    fx_close(&fx);
    return done_testing();
}
