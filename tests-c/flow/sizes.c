/* sizes.c - messages, RDMA writes and RDMA reads of all sizes. */
#include "common/fixture.h"
#include "common/order.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define GUARD 64 /* bytes after each transfer that must not change */

static const size_t sizes[] = {
    0,          1,          2,           3,           4,         7,         8,
    15,         16,         31,          63,          64,        65,        127,
    128,        129,        255,         256,         257,       511,       512,
    1000,       1023,       1024,        1025,        2047,      2048,      2049,
    4095,       4096,       4097,        8191,        8192,      8193,      12345,
    16383,      16384,      16385,       32767,       32768,     32769,     65535,
    65536,      65537,      131071,      131072,      131073,    262143,    262145,
    MIB - 1,    MIB,        MIB + 1,     3 * MIB + 7, 4 * MIB,   8 * MIB,   16 * MIB + 3,
    32 * MIB,   64 * MIB,
};

#define COUNT (sizeof sizes / sizeof sizes[0])

static size_t biggest(void)
{
    return (size_t)env_count(64, 1) * MIB;
}

static void attributes(DAT_EP_ATTR *attr)
{
    attr_default(attr);
    attr->max_message_size = attr->max_rdma_size = 64 * MIB;
}

struct report {
    long wrong;       /* offset of the first wrong byte, or -1 */
    DAT_VLEN length;  /* in the completion */
    int guard;        /* 1 if no byte after the transfer has changed */
    int status;
};

static int partner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_RMR_TRIPLET t;
    struct order o;

    fx_open(&fx);
    attributes(&attr);
    side_make(&s, &fx, &attr);
    region_make(&fx, &r, biggest() + 4096, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, up);
    t = target(&r, 0, r.size);
    must(link_send_target(up, t), "the other process has exited");
    while (LINK_RECV(up, o) && o.what != END) {
        struct report a = { -1, 0, 1, 0 };
        DAT_EVENT e;

        switch (o.what) {
        case RECEIVE:
            memset(r.mem + o.offset, 0xee, o.size + GUARD);
            must_rc(post_recv(&s, &r, o.offset, o.size, 5), DAT_SUCCESS, "dat_ep_post_recv");
            link_say(up, "posted");
            must(wait_event(s.recv, &e), "no completion");
            a.length = e.event_data.dto_completion_event_data.transfered_length;
            a.status = (int)e.event_data.dto_completion_event_data.status;
            break;
        case FILL:
            pattern_fill(r.mem + o.offset, o.size, o.seed);
            link_say(up, "filled");
            continue;
        default:
            break;
        }
        a.wrong = pattern_check(r.mem + o.offset, o.size, o.seed);
        a.guard = all_bytes(r.mem + o.offset + o.size, GUARD, 0xee);
        memset(r.mem + o.offset, 0xee, o.size + GUARD);
        must(LINK_SEND(up, a), "the other process has exited");
    }
    fx_close(&fx);
    return 0;
}

static void hear(struct link *l, struct report *a)
{
    memset(a, 0, sizeof *a);
    must(link_recv(l, a, sizeof *a, 4 * SOON_MS), "the other process does not answer");
}

static void verdict(const struct report *a, const char *what, size_t size)
{
    if (!ok(a->wrong < 0 && a->guard, "%s: %zu bytes: all right, none beyond", what, size)) {
        diag("first wrong byte at %ld", a->wrong);
        diag("bytes behind it are %s", a->guard ? "untouched" : "overwritten");
    }
}

static void between_processes(void)
{
    struct fx fx;
    struct peer p;
    struct side s;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_RMR_TRIPLET all, t;
    struct report a;

    fx_open(&fx);
    attributes(&attr);
    side_make(&s, &fx, &attr);
    region_make(&fx, &r, biggest() + 4096, DAT_MEM_PRIV_ALL_FLAG);
    peer_start(&p, "partner");
    side_accept_peer(&s, &p.link);
    must(link_recv_target(&p.link, &all), "no memory at the other end");

    for (size_t i = 0; i < COUNT; i++) {
        size_t n = sizes[i], here = (i * 7) % 64, there = (i * 13) % 64;
        unsigned seed = (unsigned)i + 1;

        if (n > biggest())
            break;
        pattern_fill(r.mem + here, n, seed);
        order_send(&p.link, RECEIVE, there, n, seed);
        must(link_hear(&p.link, "posted"), "the other process does not answer");
        must_rc(post_send(&s, &r, here, n, i), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL), "dat_ep_post_send: %zu bytes: completes", n);
        hear(&p.link, &a);
        verdict(&a, "dat_ep_post_send", n);
        ok(a.status == DAT_DTO_SUCCESS && a.length == n,
           "dat_ep_post_recv: %zu bytes: status and transfered_length", n);
        if (n == 0)
            continue;

        /* The other process makes no call during an RDMA write. */
        t = all;
        t.target_address += there;
        t.segment_length = n;
        must_rc(post_write(&s, &r, here, n, t, i), DAT_SUCCESS, "dat_ep_post_rdma_write");
        ok(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL), "dat_ep_post_rdma_write: %zu bytes: completes",
           n);
        order_send(&p.link, CHECK, there, n, seed);
        hear(&p.link, &a);
        verdict(&a, "dat_ep_post_rdma_write", n);

        order_send(&p.link, FILL, there, n, seed + 100);
        must(link_hear(&p.link, "filled"), "the other process does not answer");
        memset(r.mem + here, 0xee, n + GUARD);
        must_rc(post_read(&s, &r, here, n, t, i), DAT_SUCCESS, "dat_ep_post_rdma_read");
        ok(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL), "dat_ep_post_rdma_read: %zu bytes: completes",
           n);
        a.wrong = pattern_check(r.mem + here, n, seed + 100);
        a.guard = all_bytes(r.mem + here + n, GUARD, 0xee);
        verdict(&a, "dat_ep_post_rdma_read", n);
    }
    order_send(&p.link, END, 0, 0, 0);
    peer_ok(&p, "two processes: the other one ends well");
    fx_close(&fx);
}

static void in_one_process(void)
{
    struct fx fx;
    struct pair p;
    struct region r;
    DAT_EP_ATTR attr;
    size_t half = (size_t)env_count(4, 1) * MIB + 4096;
    int done = 0, good = 0;

    fx_open(&fx);
    attributes(&attr);
    pair_open(&p, &fx, &attr);
    region_make(&fx, &r, 2 * half, DAT_MEM_PRIV_ALL_FLAG);
    for (size_t i = 0; i < COUNT && sizes[i] + 128 <= half; i++) {
        size_t n = sizes[i];
        DAT_EVENT e;

        done += 3;
        pattern_fill(r.mem, n, (unsigned)i);
        memset(r.mem + half, 0xee, n + GUARD);
        must_rc(post_recv(&p.b, &r, half, n, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 0, n, i), DAT_SUCCESS, "dat_ep_post_send");
        good += wait_dto(p.b.recv, i, DAT_DTO_SUCCESS, &e) &&
                e.event_data.dto_completion_event_data.transfered_length == n &&
                wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem + half, n, (unsigned)i) < 0 &&
                all_bytes(r.mem + half + n, GUARD, 0xee);
        memset(r.mem + half, 0xee, n + GUARD);
        if (n == 0) {
            good += 2;
            continue;
        }
        must_rc(post_write(&p.a, &r, 0, n, target(&r, half, n), i), DAT_SUCCESS,
                "dat_ep_post_rdma_write");
        good += wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem + half, n, (unsigned)i) < 0 &&
                all_bytes(r.mem + half + n, GUARD, 0xee);
        memset(r.mem + half, 0xee, n + GUARD);
        must_rc(post_read(&p.b, &r, half, n, target(&r, 0, n), i), DAT_SUCCESS,
                "dat_ep_post_rdma_read");
        good += wait_dto(p.b.req, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem + half, n, (unsigned)i) < 0 &&
                all_bytes(r.mem + half + n, GUARD, 0xee);
    }
    is_int(good, done, "one process: messages, writes and reads of all sizes");
    fx_close(&fx);
}

/* Tests receives that are larger and smaller than the message. */
static void buffers(void)
{
    struct fx fx;
    struct pair p;
    struct region r;
    DAT_EVENT e;

    fx_open(&fx);
    pair_open(&p, &fx, NULL);
    region_make(&fx, &r, 4 * 65536, MEM_LOCAL);
    for (size_t n = 1; n <= 65536 - 1; n = n * 17 + 1) {
        pattern_fill(r.mem, n, 1);
        memset(r.mem + 131072, 0xee, 65536);
        must_rc(post_recv(&p.b, &r, 131072, 65536, n), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 0, n, n), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(p.b.recv, n, DAT_DTO_SUCCESS, &e) &&
               e.event_data.dto_completion_event_data.transfered_length == n &&
               pattern_check(r.mem + 131072, n, 1) < 0 &&
               all_bytes(r.mem + 131072 + n, 65536 - n, 0xee),
           "dat_ep_post_recv: %zu bytes into 65536: the length, and the rest is untouched", n);
        drain_dtos(p.a.req, 1);
    }
    pair_close(&p);
    for (size_t n = 64; n <= 65536; n *= 32) {
        DAT_EVENT at_b, at_a;

        pair_open(&p, &fx, NULL);
        memset(r.mem + 131072, 0xee, 65536 + GUARD);
        must_rc(post_recv(&p.b, &r, 131072, n - 1, 3), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_recv(&p.b, &r, 196608, 16, 4), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 0, n, 5), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_dto(p.b.recv, 3, DAT_DTO_ERR_LOCAL_LENGTH, NULL),
           "a message of %zu bytes for a buffer of one less: LOCAL_LENGTH at the receiver", n);
        /* On iWARP the send succeeds if it completes before the receiver finds the buffer too short. */
        ok(wait_number(p.a.req, DAT_DTO_COMPLETION_EVENT, &e) &&
               (e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS || env_is_iwarp()),
           "a message of %zu bytes for a buffer of one less: the send fails", n);
        if (e.event_data.dto_completion_event_data.status != DAT_DTO_ERR_REMOTE_RESPONDER)
            diag("  %s, REMOTE_RESPONDER is usual",
                 status_text(e.event_data.dto_completion_event_data.status));
        ok(all_bytes(r.mem + 131072 + n - 1, GUARD, 0xee),
           "a message of %zu bytes for a buffer of one less: nothing behind the buffer", n);
        ok(wait_dto(p.b.recv, 4, DAT_DTO_ERR_FLUSHED, NULL),
           "a message of %zu bytes for a buffer of one less: the next buffer is flushed", n);
        ok(wait_number(p.b.conn, DAT_CONNECTION_EVENT_BROKEN, &at_b),
           "a message of %zu bytes for a buffer of one less: BROKEN at the receiver", n);
        ok(wait_event(p.a.conn, &at_a) &&
               (at_a.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                at_a.event_number == DAT_CONNECTION_EVENT_DISCONNECTED),
           "a message of %zu bytes for a buffer of one less: BROKEN at the sender", n);
        pair_close(&p);
    }
    region_free(&r);
    fx_close(&fx);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "partner", partner }, { NULL, NULL } };

    env_init(argc, argv, roles);
    in_one_process();
    buffers();
    between_processes();
    return done_testing();
}
