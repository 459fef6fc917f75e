/*
 * datagram_post.c - unreliable datagrams: sends, receives, the 40 bytes before the data, shared receive queues,
 * suppressed completions, limits and errors.
 */
#include "v20/datagram.h"

#include "common/waiter.h"
#include "common/zoo.h"

#include <string.h>

#define NAME "dat_ib_post_send_ud"
#define UNTOUCHED_BYTE 0xee

static struct fx fx;
static struct region here, there;

/* Two endpoints with each other's address. */
struct two {
    struct side a, b;
    struct known to_a, to_b;
};

static void two_open(struct two *t, const DAT_EP_ATTR *attr)
{
    ud_make(&t->a, &fx, DAT_HANDLE_NULL, attr);
    ud_make(&t->b, &fx, DAT_HANDLE_NULL, attr);
    ud_meet(&t->a, &t->to_b, &t->b, &t->to_a);
}

static void two_close(struct two *t)
{
    side_free(&t->a);
    side_free(&t->b);
}

static bool two_talk(struct two *t)
{
    return ud_passes(&t->a, &t->to_b, &t->b) && ud_passes(&t->b, &t->to_a, &t->a);
}

/* ---- Datagrams of all sizes and shapes ---- */

/* Sends datagrams of several sizes to receives of the exact length. They change no byte after the data. */
static void sizes(void)
{
    const size_t mtu = ud_mtu();
    const size_t all[] = { 0, 1, 7, 8, 63, 64, 216, 217, 255, 256, 1000, mtu - 40, mtu - 1, mtu };
    const int count = (int)(sizeof all / sizeof *all);
    struct two t;
    int good = 0;

    two_open(&t, NULL);
    for (int i = 0; i < count; i++) {
        size_t n = all[i];
        bool fine;

        pattern_fill(here.mem, mtu, (unsigned)i);
        memset(there.mem, UNTOUCHED_BYTE, GRH + n + 64);
        must_rc(ud_receive(&t.b, &there, 0, n, 100), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(ud_send(&t.a, &here, 0, n, &t.to_b, 200), DAT_SUCCESS, NAME);
        fine = ud_sent(&t.a, 200, n) && ud_received(&t.b, 100, n) &&
               pattern_check(there.mem + GRH, n, (unsigned)i) < 0 &&
               all_bytes(there.mem + GRH + n, 64, UNTOUCHED_BYTE) && pattern_check(here.mem, mtu, (unsigned)i) < 0;
        if (!fine)
            diag("%zu bytes", n);
        good += fine;
    }
    is_int(good, count, NAME ": 0 bytes to DAT_IB_TRANSPORT_MTU: they are there behind %d others", GRH);
    memset(there.mem, UNTOUCHED_BYTE, 3 * mtu);
    must_rc(post_recv(&t.b, &there, 0, 3 * mtu, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(ud_send(&t.a, &here, 0, 10, &t.to_b, 2), DAT_SUCCESS, NAME);
    ok(ud_received(&t.b, 1, 10) && ud_sent(&t.a, 2, 10) && memcmp(there.mem + GRH, here.mem, 10) == 0 &&
           all_bytes(there.mem + GRH + 10, 3 * mtu - GRH - 10, UNTOUCHED_BYTE),
       "dat_ep_post_recv: datagrams, a receive that is longer than any: the length is that of the datagram");
    ok(ud_quiet(&t.a) && ud_quiet(&t.b), NAME ": no other event");
    two_close(&t);
}

/* Uses four segments on both sides. Segments of the receives end within, at and after the end of the 40 bytes. */
static void segments(void)
{
    static const size_t cut[][4] = { { 40, 60, 0, 0 }, { 10, 30, 50, 10 }, { 39, 1, 1, 59 }, { 41, 0, 59, 0 }, { 1, 0, 98, 1 } };
    const int count = (int)(sizeof cut / sizeof *cut);
    struct two t;
    int good = 0;

    two_open(&t, NULL);
    pattern_fill(here.mem, 8192, 3);
    for (int i = 0; i < count; i++) {
        DAT_LMR_TRIPLET from[4], into[4];
        DAT_IB_ADDR_HANDLE ah = t.to_b.ah;
        unsigned char got[100], sent[60];
        size_t in = 0, out = 0;

        memset(there.mem, 0, 8192);
        for (int k = 0; k < 4; k++) {
            into[k] = segment(&there, 1000 * (size_t)k, cut[i][k]);
            from[k] = segment(&here, 1000 * (size_t)k + 7, 15);
        }
        must_rc(dat_ep_post_recv(t.b.ep, 4, into, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                "dat_ep_post_recv");
        must_rc(dat_ib_post_send_ud(t.a.ep, 4, from, &ah, cookie(2), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS, NAME);
        if (!ud_received(&t.b, 1, 60) || !ud_sent(&t.a, 2, 60))
            continue;
        for (int k = 0; k < 4; k++) {
            memcpy(got + in, there.mem + 1000 * k, cut[i][k]);
            memcpy(sent + out, here.mem + 1000 * k + 7, 15);
            in += cut[i][k];
            out += 15;
        }
        good += memcmp(got + GRH, sent, sizeof sent) == 0;
    }
    is_int(good, count, NAME ": four segments on each side: the data are behind the first %d bytes", GRH);
    two_close(&t);
}

/* The program may overwrite the address after the call, and the memory after the completion. */
static void reuse(void)
{
    enum { N = 32 };
    struct two t;
    int good = 0;

    two_open(&t, NULL);
    for (unsigned i = 0; i < N; i++)
        must_rc(ud_receive(&t.b, &there, 256 * i, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    for (unsigned i = 0; i < N; i++) {
        DAT_LMR_TRIPLET from = segment(&here, 0, 64);
        DAT_IB_ADDR_HANDLE ah = t.to_b.ah;

        pattern_fill(here.mem, 64, i);
        must_rc(dat_ib_post_send_ud(t.a.ep, 1, &from, &ah, cookie(i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS, NAME);
        memset(&ah, 0x5a, sizeof ah);
        memset(&from, 0x5a, sizeof from);
        good += ud_sent(&t.a, i, 64);
        memset(here.mem, 0, 64);
    }
    is_int(good, N, NAME ": each ends by itself");
    for (unsigned i = 0; i < N; i++)
        good -= ud_received(&t.b, i, 64) && pattern_check(there.mem + 256 * i + GRH, 64, i) < 0;
    is_int(good, 0, NAME ": memory that is used again: each has its own bytes");
    two_close(&t);
}

/* As many datagrams as receives, both ways concurrently: all arrive in order. */
static void bursts(void)
{
    enum { N = 48 };
    struct two t;
    int rounds = env_count(100, 5), good = 0;

    two_open(&t, NULL);
    for (int round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < N; i++) {
            must_rc(ud_receive(&t.a, &there, 256 * i, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
            must_rc(ud_receive(&t.b, &there, 256 * (N + i), 64, i), DAT_SUCCESS, "dat_ep_post_recv");
        }
        for (unsigned i = 0; i < N; i++) {
            pattern_fill(here.mem + 64 * i, 64, (unsigned)round * N + i);
            must_rc(ud_send(&t.a, &here, 64 * i, 64, &t.to_b, i), DAT_SUCCESS, NAME);
            must_rc(ud_send(&t.b, &here, 64 * i, 64, &t.to_a, i), DAT_SUCCESS, NAME);
        }
        for (unsigned i = 0; i < N; i++) {
            good += ud_received(&t.b, i, 64) &&
                    pattern_check(there.mem + 256 * (N + i) + GRH, 64, (unsigned)round * N + i) < 0;
            good += ud_received(&t.a, i, 64) && pattern_check(there.mem + 256 * i + GRH, 64, (unsigned)round * N + i) < 0;
            good += ud_sent(&t.a, i, 64) && ud_sent(&t.b, i, 64);
        }
        if (good != 3 * N * (round + 1))
            break;
    }
    is_int(good, 3 * N * rounds, NAME ": bursts of %d, both ways: all arrive, in order", N);
    two_close(&t);
}

static void suppressed(void)
{
    enum { N = 40 };
    static const unsigned flags[] = { DAT_COMPLETION_SUPPRESS_FLAG, DAT_COMPLETION_DEFAULT_FLAG,
                                      DAT_COMPLETION_BARRIER_FENCE_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG };
    struct two t;
    int good = 0, ends = 0;

    two_open(&t, NULL);
    for (unsigned i = 0; i < N; i++)
        must_rc(ud_receive(&t.b, &there, 256 * i, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    for (unsigned i = 0; i < N; i++) {
        DAT_LMR_TRIPLET from = segment(&here, 64 * i, 64);

        pattern_fill(here.mem + 64 * i, 64, i);
        must_rc(dat_ib_post_send_ud(t.a.ep, 1, &from, &t.to_b.ah, cookie(i), (DAT_COMPLETION_FLAGS)flags[i % 4]),
                DAT_SUCCESS, NAME);
    }
    for (unsigned i = 0; i < N; i++) {
        good += ud_received(&t.b, i, 64) && pattern_check(there.mem + 256 * i + GRH, 64, i) < 0;
        if (i % 4 != 0)
            ends += ud_sent(&t.a, i, 64);
    }
    is_int(good, N, NAME ": all flags: they arrive");
    is_int(ends, N - N / 4, NAME ": all flags: those end that are to");
    ok(quiet(t.a.req), NAME ": SUPPRESS: no completion");
    two_close(&t);
}

/* The completion of a receive with UNSIGNALLED wakes no waiter, at each length of the datagram. */
static void unsignalled(size_t len)
{
    struct two t;
    struct waiter w;
    DAT_EP_ATTR attr;
    DAT_LMR_TRIPLET into = segment(&there, 0, GRH + len);

    ud_attr(&attr);
    attr.recv_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    two_open(&t, &attr);
    is_success(dat_ep_post_recv(t.b.ep, 1, &into, cookie(1), DAT_COMPLETION_UNSIGNALLED_FLAG),
               "dat_ep_post_recv: datagrams, UNSIGNALLED: success");
    must_rc(ud_receive(&t.b, &there, 8192, len, 2), DAT_SUCCESS, "dat_ep_post_recv");
    waiter_start(&w, t.b.recv, DAT_TIMEOUT_INFINITE, 1);
    must_rc(ud_send(&t.a, &here, 0, len, &t.to_b, 1), DAT_SUCCESS, NAME);
    ok(ud_sent(&t.a, 1, len) && !waiter_done(&w, QUIET_MS),
       NAME ": %zu bytes, UNSIGNALLED receive: a blocked waiter is not woken", len);
    must_rc(ud_send(&t.a, &here, 0, len, &t.to_b, 2), DAT_SUCCESS, NAME);
    waiter_join(&w);
    ok(ud_sent(&t.a, 2, len) && w.rc == DAT_SUCCESS && ud_is_datagram(&w.event, &t.b, 1, len) && w.more == 1,
       NAME ": %zu bytes, UNSIGNALLED receive: a default one wakes it, and it gets the oldest", len);
    two_close(&t);
}

/* Tests an endpoint with one EVD for requests and receives. */
static void one_evd(void)
{
    enum { N = 16 };
    struct two t;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE own;
    DAT_EVENT e;
    unsigned sent = 0, received = 0, wrong = 0;

    two_open(&t, NULL);
    own = t.a.ep;
    ud_attr(&attr);
    must_rc(dat_ep_create(fx.ia, fx.pz, t.a.recv, t.a.recv, t.a.conn, &attr, &t.a.ep), DAT_SUCCESS, "dat_ep_create");
    must_rc(dat_ep_free(own), DAT_SUCCESS, "dat_ep_free");
    ud_meet(&t.a, &t.to_b, &t.b, &t.to_a);
    for (unsigned i = 0; i < N; i++) {
        must_rc(ud_receive(&t.a, &there, 0, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(ud_receive(&t.b, &there, 256, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    }
    for (unsigned i = 0; i < N; i++) {
        must_rc(ud_send(&t.a, &here, 0, 64, &t.to_b, 100 + i), DAT_SUCCESS, NAME);
        must_rc(ud_send(&t.b, &here, 0, 64, &t.to_a, 100 + i), DAT_SUCCESS, NAME);
    }
    for (unsigned i = 0; i < 2 * N && wait_event(t.a.recv, &e); i++) {
        const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
        bool receive = (int)d->operation == DAT_IB_DTO_RECV_UD;

        wrong += e.event_number != (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT || d->status != DAT_DTO_SUCCESS ||
                 d->user_cookie.as_64 != (receive ? received : 100 + sent) ||
                 d->transfered_length != (receive ? 64 + GRH : 64);
        *(receive ? &received : &sent) += 1;
    }
    ok(sent == N && received == N && wrong == 0, NAME ": one EVD for requests and receives: each of both, in order");
    two_close(&t);
}

/* ---- Shared receive queues ---- */

/* Returns the cookie of the next event if it is a datagram in a receive of the SRQ, otherwise -1. */
static long shared_receive(struct side *s, DAT_SRQ_HANDLE srq, size_t len)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    if (!wait_event(s->recv, &e))
        return -1;
    if ((e.event_number == DAT_DTO_COMPLETION_EVENT || e.event_number == (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT) &&
        (d->ep_handle == s->ep || d->ep_handle == srq) && d->status == DAT_DTO_SUCCESS &&
        d->transfered_length == len + GRH)
        return (long)d->user_cookie.as_64;
    diag("got event %s, handle %p, %s, length %llu", event_text(e.event_number), d->ep_handle, status_text(d->status),
         (unsigned long long)d->transfered_length);
    return -1;
}

static void shared_queue(void)
{
    enum { N = 12 };
    DAT_SRQ_ATTR attr = { N, 2, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq;
    DAT_LMR_TRIPLET into;
    struct side x, y, sender;
    struct known to_x, to_y, from_x;
    int good = 0;
    bool seen[N] = { false };

    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    ud_make(&x, &fx, srq, NULL);
    ud_make(&y, &fx, srq, NULL);
    ud_make(&sender, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&sender, &to_x, &x, &from_x);
    ud_meet(&y, NULL, &sender, &to_y);
    is_type(ud_receive(&x, &there, 0, 64, 1), DAT_INVALID_STATE,
            "dat_ep_post_recv: datagrams, endpoint on a shared queue: DAT_INVALID_STATE");
    for (unsigned i = 0; i < N; i++) {
        into = segment(&there, 256 * i, GRH + 64);
        must_rc(dat_srq_post_recv(srq, 1, &into, cookie(i)), DAT_SUCCESS, "dat_srq_post_recv");
    }
    for (unsigned i = 0; i < N; i++) {
        long c;

        pattern_fill(here.mem, 64, i);
        must_rc(ud_send(&sender, &here, 0, 64, i % 3 == 0 ? &to_x : &to_y, i), DAT_SUCCESS, NAME);
        c = shared_receive(i % 3 == 0 ? &x : &y, srq, 64);
        good += c >= 0 && c < N && !seen[c] && ud_sent(&sender, i, 64) &&
                pattern_check(there.mem + 256 * c + GRH, 64, i) < 0;
        if (c >= 0 && c < N)
            seen[c] = true;
    }
    is_int(good, N, "dat_srq_post_recv: datagrams to two endpoints: each is told by its own EVD");

    must_rc(ud_send(&sender, &here, 0, 64, &to_x, 1), DAT_SUCCESS, NAME);
    ok(ud_sent(&sender, 1, 64) && quiet(x.recv) && quiet(y.recv),
       "dat_srq_create: datagrams, the queue is empty: the datagram is lost");
    pattern_fill(here.mem, 64, 77);
    into = segment(&there, 0, GRH + 64);
    must_rc(dat_srq_post_recv(srq, 1, &into, cookie(77)), DAT_SUCCESS, "dat_srq_post_recv");
    must_rc(ud_send(&sender, &here, 0, 64, &to_y, 2), DAT_SUCCESS, NAME);
    ok(shared_receive(&y, srq, 64) == 77 && ud_sent(&sender, 2, 64) && pattern_check(there.mem + GRH, 64, 77) < 0,
       "dat_srq_post_recv: datagrams, the queue was empty: the next one arrives");
    ok(ud_passes(&x, &from_x, &sender), NAME ": from an endpoint on a shared queue: it arrives");

    /* Freeing an endpoint does not flush the SRQ's receives. */
    must_rc(dat_srq_post_recv(srq, 1, &into, cookie(78)), DAT_SUCCESS, "dat_srq_post_recv");
    must_rc(dat_ep_free(x.ep), DAT_SUCCESS, "dat_ep_free");
    x.ep = DAT_HANDLE_NULL;
    ok(quiet(x.recv), "dat_ep_free: datagrams, shared queue: no receive ends");
    must_rc(ud_send(&sender, &here, 0, 64, &to_x, 3), DAT_SUCCESS, NAME);
    must_rc(ud_send(&sender, &here, 0, 64, &to_y, 4), DAT_SUCCESS, NAME);
    ok(ud_sent(&sender, 3, 64) && ud_sent(&sender, 4, 64) && shared_receive(&y, srq, 64) == 78,
       "dat_ep_free: datagrams, shared queue: another endpoint takes the receive");
    side_free(&x);
    side_free(&y);
    side_free(&sender);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

/* ---- Limits ---- */

/* Checks that sends above the limit fail, in one segment and in two. */
static void too_long(const DAT_EP_ATTR *attr, const char *what)
{
    const size_t limit = ud_mtu();
    struct two t;
    DAT_LMR_TRIPLET from[2];
    DAT_IB_ADDR_HANDLE ah;

    two_open(&t, attr);
    must_rc(ud_receive(&t.b, &there, 0, limit, 1), DAT_SUCCESS, "dat_ep_post_recv");
    is_either(ud_send(&t.a, &here, 0, limit + 1, &t.to_b, 2), DAT_LENGTH_ERROR, DAT_INVALID_PARAMETER,
              NAME ": a byte more than %s: refused", what);
    is_either(ud_send(&t.a, &here, 0, 1u << 16, &t.to_b, 2), DAT_LENGTH_ERROR, DAT_INVALID_PARAMETER,
              NAME ": 64 KiB, %s: refused", what);
    from[0] = segment(&here, 0, limit);
    from[1] = segment(&here, 0, 1);
    ah = t.to_b.ah;
    is_either(dat_ib_post_send_ud(t.a.ep, 2, from, &ah, cookie(2), DAT_COMPLETION_DEFAULT_FLAG), DAT_LENGTH_ERROR,
              DAT_INVALID_PARAMETER, NAME ": a byte more than %s, in two segments: refused", what);
    ok(ud_quiet(&t.a) && ud_quiet(&t.b), NAME ": longer than %s: no event", what);
    must_rc(ud_send(&t.a, &here, 0, limit, &t.to_b, 3), DAT_SUCCESS, NAME);
    ok(ud_received(&t.b, 1, limit) && ud_sent(&t.a, 3, limit), NAME ": as long as %s: it arrives", what);
    two_close(&t);
}

static void lengths(void)
{
    DAT_EP_ATTR attr;

    too_long(NULL, "DAT_IB_TRANSPORT_MTU");
    ud_attr(&attr);
    attr.max_message_size = 200;
    too_long(&attr, "DAT_IB_TRANSPORT_MTU, max_message_size 200");
    attr.max_message_size = 0;
    too_long(&attr, "DAT_IB_TRANSPORT_MTU, max_message_size 0");
}

/* The request queue is full only while requests are outstanding. */
static void full_queue(void)
{
    enum { N = 200, DEPTH = 4 };
    struct two t;
    DAT_EP_ATTR attr;
    unsigned posted = 0, ended = 0, wrong = 0, full = 0;

    ud_attr(&attr);
    attr.max_request_dtos = DEPTH;
    two_open(&t, &attr);
    while (posted < N && wrong == 0) {
        DAT_RETURN rc = ud_send(&t.a, &here, 0, 64, &t.to_b, posted);

        if (rc == DAT_SUCCESS) {
            posted++;
            continue;
        }
        full++;
        wrong += !rc_is(rc, DAT_INSUFFICIENT_RESOURCES) || ended == posted;
        if (wrong == 0)
            wrong += !ud_sent(&t.a, ended++, 64);
    }
    while (ended < posted && wrong == 0)
        wrong += !ud_sent(&t.a, ended++, 64);
    diag("the queue of %d requests was full %u times", DEPTH, full);
    ok(wrong == 0 && posted == N, NAME ": more than the queue holds: all end, none is refused without others under way");
    ok(quiet(t.a.req) && two_talk(&t), NAME ": more than the queue holds: the endpoint goes on");
    two_close(&t);
}

/* ---- What is refused ---- */

static void parameters(void)
{
    struct two t;
    struct known freed;
    DAT_LMR_TRIPLET from = segment(&here, 0, 64), many[64];
    DAT_IB_ADDR_HANDLE ah;

    two_open(&t, NULL);
    ud_meet(&t.a, &freed, &t.b, NULL);
    must_rc(dat_ib_ud_ah_free(t.a.ep, &freed.ah), DAT_SUCCESS, "dat_ib_ud_ah_free");
    must_rc(ud_receive(&t.b, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");

    is_type(dat_ib_post_send_ud(t.a.ep, 1, &from, NULL, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_INVALID_PARAMETER,
            NAME ": no address: DAT_INVALID_PARAMETER");
    ud_refused(ud_send(&t.a, &here, 0, 64, &freed, 1), NAME ": address that is given up: refused");
    for (int i = 0; i < 5; i++) {
        const uintptr_t made_up[] = { 0, UINTPTR_MAX, (uintptr_t)&from, (uintptr_t)0x5a5a5a5a5a5a5a50u,
                                      (uintptr_t)0x7fffffff00000000u };

        ah = t.to_b.ah;
        ah.ah = (struct ibv_ah *)made_up[i];
        ud_refused(dat_ib_post_send_ud(t.a.ep, 1, &from, &ah, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                   NAME ": address handle %p: refused", (void *)made_up[i]);
    }
    ah = t.to_b.ah;
    is_type(dat_ib_post_send_ud(t.a.ep, 1, NULL, &ah, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_INVALID_PARAMETER,
            NAME ": list NULL with a count: DAT_INVALID_PARAMETER");
    is_type(dat_ib_post_send_ud(t.a.ep, -1, &from, &ah, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_INVALID_PARAMETER,
            NAME ": segment count -1: DAT_INVALID_PARAMETER");
    for (int i = 0; i < 64; i++)
        many[i] = segment(&here, (size_t)i, 1);
    is_type(dat_ib_post_send_ud(t.a.ep, 64, many, &ah, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_INVALID_PARAMETER,
            NAME ": more segments than the endpoint allows: DAT_INVALID_PARAMETER");
    is_type(dat_ib_post_send_ud(t.a.ep, 1, &from, &ah, cookie(1), (DAT_COMPLETION_FLAGS)0x100), DAT_INVALID_PARAMETER,
            NAME ": unknown flag: DAT_INVALID_PARAMETER");
    ok(quiet(t.a.req) && quiet(t.b.recv), NAME ": refused: nothing is posted");
    must_rc(ud_send(&t.a, &here, 0, 64, &t.to_b, 2), DAT_SUCCESS, NAME);
    ok(ud_received(&t.b, 1, 64) && ud_sent(&t.a, 2, 64), NAME ": refused: the endpoint goes on");
    two_close(&t);
}

/*
 * Sends with the address handle of another endpoint of the same adapter and zone. The send must succeed if the sender
 * has its own address handle of the peer. Otherwise it may succeed or fail.
 */
static void of_a_neighbour(void)
{
    struct two t;
    struct side neighbour, stranger;
    struct known to_b, to_stranger;
    DAT_RETURN rc;

    two_open(&t, NULL);
    ud_make(&neighbour, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&stranger, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&neighbour, &to_b, &t.b, NULL);
    ud_meet(&neighbour, &to_stranger, &stranger, NULL);
    ok(ud_passes(&t.a, &to_b, &t.b), NAME ": address of a neighbour, the peer is known: it arrives");
    ok(ud_passes(&neighbour, &to_b, &t.b), NAME ": address that a neighbour has used: it arrives");

    must_rc(ud_receive(&stranger, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    rc = ud_send(&t.a, &here, 0, 64, &to_stranger, 2);
    if (rc == DAT_SUCCESS)
        ok(ud_sent(&t.a, 2, 64) && ud_received(&stranger, 1, 64),
           NAME ": address of a neighbour, the peer is not known: it arrives");
    else
        ud_refused(rc, NAME ": address of a neighbour, the peer is not known: refused");
    must_rc(dat_ib_ud_ah_free(neighbour.ep, &to_b.ah), DAT_SUCCESS, "dat_ib_ud_ah_free");
    ud_refused(ud_send(&t.a, &here, 0, 64, &to_b, 3), NAME ": address that a neighbour has given up: refused");
    ok(quiet(t.a.req) && two_talk(&t), NAME ": address that a neighbour has given up: the own one stands");
    two_close(&t);
    side_free(&neighbour);
    side_free(&stranger);
}

/* Checks that the call or the completion reports the violation, and that nothing is sent. */
static void violation(struct two *t, DAT_LMR_TRIPLET from, DAT_UINT32 type, const char *what)
{
    DAT_IB_ADDR_HANDLE ah = t->to_b.ah;
    DAT_RETURN rc = dat_ib_post_send_ud(t->a.ep, 1, &from, &ah, cookie(0xbad), DAT_COMPLETION_DEFAULT_FLAG);
    DAT_EVENT e;

    if (rc != DAT_SUCCESS)
        is_type(rc, type, NAME ": %s: %s", what, rc_text(rc));
    else
        ok(wait_event(t->a.req, &e) &&
               e.event_data.dto_completion_event_data.status == DAT_DTO_ERR_LOCAL_PROTECTION &&
               e.event_data.dto_completion_event_data.user_cookie.as_64 == 0xbad,
           NAME ": %s: completes as LOCAL_PROTECTION", what);
    ok(quiet(t->b.recv) && quiet(t->a.conn), NAME ": %s: nothing is sent", what);
    if (rc == DAT_SUCCESS) {
        two_close(t);
        two_open(t, NULL);
    }
}

static void memory(void)
{
    struct two t;
    struct region foreign, freed, mute;
    DAT_LMR_TRIPLET from;
    DAT_PZ_HANDLE zone;

    two_open(&t, NULL);
    must_rc(dat_pz_create(fx.ia, &zone), DAT_SUCCESS, "dat_pz_create");
    region_make_in(&fx, zone, &foreign, 64, MEM_LOCAL);
    region_make(&fx, &mute, 64, DAT_MEM_PRIV_NONE_FLAG);
    region_make(&fx, &freed, 64, MEM_LOCAL);
    must_rc(dat_lmr_free(freed.lmr), DAT_SUCCESS, "dat_lmr_free");
    freed.lmr = DAT_HANDLE_NULL;
    must_rc(ud_receive(&t.b, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    violation(&t, segment(&foreign, 0, 64), DAT_PROTECTION_VIOLATION, "segment of another zone");
    from = segment(&here, 0, 64);
    from.lmr_context ^= 0x40000000u;
    violation(&t, from, DAT_PRIVILEGES_VIOLATION, "unknown LMR context");
    violation(&t, segment(&freed, 0, 64), DAT_PRIVILEGES_VIOLATION, "context of a freed LMR");
    violation(&t, segment(&mute, 0, 64), DAT_PRIVILEGES_VIOLATION, "no local privilege at all");
    violation(&t, segment(&here, here.size - 63, 64), DAT_INVALID_PARAMETER, "segment beyond its LMR");
    two_close(&t);
    region_free(&foreign);
    region_free(&mute);
    region_free(&freed);
    must_rc(dat_pz_free(zone), DAT_SUCCESS, "dat_pz_free");
}

static struct known victim;

static DAT_RETURN send_from(DAT_HANDLE h, void *arg)
{
    DAT_LMR_TRIPLET from = segment(&here, 0, 8);
    DAT_IB_ADDR_HANDLE ah = victim.ah;

    (void)arg;
    return dat_ib_post_send_ud(h, 1, &from, &ah, cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
}

static void bad_handles(void)
{
    struct zoo z;
    struct two t;
    struct pair p;
    DAT_EP_HANDLE gone;

    zoo_open(&z);
    two_open(&t, NULL);
    victim = t.to_b;
    is_type(send_from(z.of[DAT_HANDLE_TYPE_EP], NULL), DAT_INVALID_HANDLE,
            NAME ": unconnected endpoint of connections: DAT_INVALID_HANDLE");
    pair_open(&p, &fx, NULL);
    is_type(send_from(p.a.ep, NULL), DAT_INVALID_HANDLE, NAME ": connected endpoint: DAT_INVALID_HANDLE");
    ok(sides_talk(&p.a, &p.b), NAME ": connected endpoint: the connection stands");
    pair_close(&p);
    gone = t.a.ep;
    must_rc(dat_ep_free(t.a.ep), DAT_SUCCESS, "dat_ep_free");
    t.a.ep = DAT_HANDLE_NULL;
    zoo_sweep(&z, NAME, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, gone, 0, send_from, NULL);
    zoo_intact(&z, NAME " with bad handles");
    two_close(&t);
    zoo_close(&z);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    ud_open(&fx);
    region_make(&fx, &here, 1u << 17, MEM_LOCAL);
    region_make(&fx, &there, 1u << 17, MEM_LOCAL);
    sizes();
    segments();
    reuse();
    bursts();
    suppressed();
    unsignalled(8);
    unsignalled(ud_mtu());
    one_evd();
    shared_queue();
    lengths();
    full_queue();
    parameters();
    of_a_neighbour();
    memory();
    bad_handles();
    fx_close(&fx);
    return done_testing();
}
