/* network.c - transfers over a good wire, with small socket buffers, and over a wire with delays and losses. */
#define _POSIX_C_SOURCE 200809L
#include "common/exchange.h"
#include "srq/srq_common.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

enum { ENDPOINTS = 4, MESSAGES = 24, ROUNDS = 10, BUFFERS = ENDPOINTS * MESSAGES, SIZE = 20000 };

/* reads(): where the bytes are stored, bytes of each read, number of reads. */
enum { LAST = 1 << 20, PART = 64 * 1024, READS = 8 };

/* Limits the kernel's socket buffers. */
static void little_room(void)
{
    world_set("net/ipv4/tcp_wmem", "4096 16384 16384");
    world_set("net/ipv4/tcp_rmem", "4096 16384 16384");
}

/*
 * The far host: exchanges messages and RDMA with the near host once per order. Order 0: connects. 1: listens.
 * 2: listens, with small socket buffers. Below 0: ends.
 */
static int far(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET all;
    char what[80];
    int order;

    world_enter();
    while (LINK_RECV(up, order) && order >= 0) {
        if (order > 1)
            little_room();
        exchange_open(&fx, &s, &r);
        if (order > 0)
            side_accept_peer(&s, up);
        else
            side_connect_peer(&s, up);
        exchange_targets(up, &r, &all);
        must(exchange_both_ways(&s, &r, all, 50, 10, false, what, sizeof what), "%s", what);
        must(link_hear(up, "bye"), "the other process is gone");
        fx_close(&fx);
    }
    return 0;
}

static int far_sender(struct link *up)
{
    world_enter();
    return sender_role(up);
}

/*
 * Reads back the bytes that exchange_both_ways() has written last, with concurrent reads. Returns whether the bytes are
 * right.
 */
static bool reads(struct side *s, struct region *r, DAT_RMR_TRIPLET all)
{
    DAT_RMR_TRIPLET part = all;

    memset(r->mem + LAST, 0, READS * PART);
    part.segment_length = PART;
    for (DAT_UINT64 i = 0; i < READS; i++, part.target_address += PART)
        must_rc(post_read(s, r, LAST + i * PART, PART, part, i), DAT_SUCCESS, "dat_ep_post_rdma_read");
    for (DAT_UINT64 i = 0; i < READS; i++)
        if (!wait_dto(s->req, i, DAT_DTO_SUCCESS, NULL))
            return false;
    return memcmp(r->mem, r->mem + LAST, READS * PART) == 0;
}

static void exchange(struct peer *p, const char *how, int order)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET all;
    char what[80] = "";

    must(LINK_SEND(&p->link, order), "the far host is gone");
    exchange_open(&fx, &s, &r);
    if (order > 0)
        side_connect_peer(&s, &p->link);
    else
        side_accept_peer(&s, &p->link);
    exchange_targets(&p->link, &r, &all);
    ok(exchange_both_ways(&s, &r, all, 10, 50, true, what, sizeof what),
       "%s: messages and RDMA of all sizes, both ways (%s)", how, what);
    ok(reads(&s, &r, all), "%s: several reads at a time", how);
    must(link_say(&p->link, "bye"), "the far host is gone");
    fx_close(&fx);
}

/* Receives messages of several endpoints through an SRQ, one endpoint after another. Checks the counters of the SRQ. */
static void shared(const char *how)
{
    struct fx fx;
    struct srq q;
    struct side rx[ENDPOINTS];
    struct sender s;
    unsigned next[ENDPOINTS] = { 0 }, right = 0;

    fx_open(&fx);
    srq_open(&q, &fx, BUFFERS, BUFFERS, SIZE);
    srq_fill(&q, 0, BUFFERS);
    for (int i = 0; i < ENDPOINTS; i++)
        side_make_srq(&rx[i], &fx, q.handle, NULL);
    sender_start(&s, rx, ENDPOINTS);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t size = 1 + (SIZE - 1) * round / (ROUNDS - 1);

        for (int i = 0; i < ENDPOINTS; i++)
            sender_send(&s, i, MESSAGES, size, round * MESSAGES);
        if (round == 0)
            is_counts(q.handle, 0, BUFFERS, "%s: each message that has arrived counts", how);
        for (int i = 0; i < ENDPOINTS; i++)
            for (int k = 0; k < MESSAGES; k++) {
                DAT_COUNT at = srq_take(&q, rx[i].recv, rx[i].ep, size, (unsigned)i, next[i]++);

                right += at >= 0 && srq_post(&q, at) == DAT_SUCCESS;
            }
    }
    is_int(right, ROUNDS * BUFFERS, "%s: messages on a shared receive queue, in order", how);
    is_counts(q.handle, BUFFERS, BUFFERS, "%s: every buffer is back", how);
    sender_end(&s);
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "far", far }, { "sender", far_sender }, { NULL, NULL } };
    struct wire *w = world_make(argc, argv, roles);
    struct peer p;
    int end = -1;

    peer_start(&p, "far");
    exchange(&p, "two hosts", 1);
    exchange(&p, "two hosts, the other way", 0);
    little_room();
    exchange(&p, "little room on both hosts", 2);

    w->delay_us = 2000;
    w->lost = 20;
    w->dropped = 0;
    exchange(&p, "2 ms a way, and one frame in 50 lost", 1);
    shared("2 ms a way, and one frame in 50 lost");
    ok(w->dropped > 0, "frames were lost");
    diag("%u of %u frames", w->dropped, w->carried);
    w->delay_us = w->lost = 0;

    must(LINK_SEND(&p.link, end), "the far host is gone");
    peer_ok(&p, "the far host agrees");
    return done_testing();
}
