/*
 * watermark.c - dat_ep_set_watermark: soft and hard high watermark of an endpoint; and
 * dat_ep_recv_query.
 *
 * Watermarks limit the allocated buffers of an endpoint. A buffer of the endpoint's own receive queue counts
 * from its post, and a buffer of a shared queue from the time that a message takes it. Both count until the
 * completion is generated. So on a shared queue each message exceeds a watermark of 0.
 */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <limits.h>
#include <string.h>

static struct zoo zoo;
static struct fx *const fx = &zoo.fx;

/* Checks that the next asynchronous event is the soft high watermark of this endpoint. */
static bool soft_comes(DAT_EP_HANDLE ep, const char *name)
{
    DAT_EVENT event;

    return ok(wait_watermark(fx, &event) && is_watermark(&event, ep, DAT_HANDLE_TYPE_EP,
                                                            DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT),
              "%s", name);
}

/* ---- dat_ep_recv_query ---- */

static DAT_RETURN recv_query(DAT_HANDLE handle, void *arg)
{
    return dat_ep_recv_query(handle, arg, arg);
}

/* Checks that dat_ep_recv_query() returns this number of allocated buffers, and a span that is not smaller. */
static void has(DAT_EP_HANDLE ep, DAT_COUNT want, const char *what)
{
    uint64_t end = now_ms() + env_ms(SOON_MS);
    DAT_COUNT n = 99, span = 99;
    DAT_RETURN rc;

    /* On iWARP, the completion of a Send precedes the arrival. */
    while ((rc = dat_ep_recv_query(ep, &n, &span)) == DAT_SUCCESS && n != want && env_is_iwarp() && now_ms() < end)
        breathe();
    ok(rc == DAT_SUCCESS && n == want && span >= n,
       "dat_ep_recv_query: %s: %d buffers, the span no less", what, (int)want);
    if (rc != DAT_SUCCESS || n != want || span < n)
        diag("  %s, nbufs_allocated %d, bufs_alloc_span %d", rc_text(rc), (int)n, (int)span);
}

static bool query(void)
{
    struct side plain;
    struct pair pair;
    struct srq q;
    struct srq_pair p;
    struct region out;
    DAT_COUNT n = 99, span = 99, keep = 99;
    DAT_EP_HANDLE freed;

    side_make(&plain, fx, NULL);
    if (!is_success(dat_ep_recv_query(plain.ep, &n, &span), "dat_ep_recv_query: success"))
        return false;
    is_int(n, 0, "dat_ep_recv_query: new endpoint: nbufs_allocated 0");
    is_int(span, 0, "dat_ep_recv_query: new endpoint: bufs_alloc_span 0");
    for (int i = 0; i < 3; i++)
        must_rc(post_recv(&plain, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    has(plain.ep, 3, "three posted on an endpoint of its own queue");
    n = span = 99;
    is_success(dat_ep_recv_query(plain.ep, &n, NULL), "dat_ep_recv_query: bufs_alloc_span NULL");
    is_int(n, 3, "dat_ep_recv_query: bufs_alloc_span NULL: nbufs_allocated is given");
    is_success(dat_ep_recv_query(plain.ep, NULL, &span), "dat_ep_recv_query: nbufs_allocated NULL");
    ok(span >= 3 && span != 99, "dat_ep_recv_query: nbufs_allocated NULL: bufs_alloc_span is given");
    is_success(dat_ep_recv_query(plain.ep, NULL, NULL), "dat_ep_recv_query: both NULL: success");
    freed = plain.ep;
    side_free(&plain);

    pair_open(&pair, fx, NULL);
    region_make(fx, &out, 256, MEM_LOCAL);
    for (int i = 0; i < 5; i++)
        must_rc(post_recv(&pair.b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    has(pair.b.ep, 5, "connected, five posted");
    for (DAT_UINT64 i = 0; i < 2; i++)
        must(post_send(&pair.a, NULL, 0, 0, i) == DAT_SUCCESS &&
                 wait_dto(pair.a.req, i, DAT_DTO_SUCCESS, NULL),
             "no arrival");
    has(pair.b.ep, 3, "connected, two of five completed, not dequeued");
    is_int(drain_dtos(pair.b.recv, 2), 2, "two are dequeued");
    has(pair.b.ep, 3, "connected, two of five completed and dequeued");
    has(pair.a.ep, 0, "the sending end");
    must_rc(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_state(pair.b.ep, DAT_EP_STATE_DISCONNECTED) && drain_dtos(pair.b.recv, 3) == 3,
         "the receives are not flushed");
    has(pair.b.ep, 0, "disconnected, all flushed");
    pair_close(&pair);
    region_free(&out);

    srq_open(&q, fx, 10, 10, 64);
    srq_fill(&q, 0, 10);
    srq_pair_open(&p, &q);
    has(p.rx.ep, 0, "ten on the shared queue, none taken");
    must(srq_send_many(&p, 4, 20, 0), "no arrival");
    has(p.rx.ep, 0, "four taken and completed");
    srq_pair_close(&p);
    srq_close(&q);

    zoo_sweep(&zoo, "dat_ep_recv_query", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, freed, 0,
              recv_query, &keep);
    is_int(keep, 99, "dat_ep_recv_query: wrong handles: nothing is written");
    return true;
}

/* ---- dat_ep_set_watermark ---- */

static DAT_RETURN set_watermark(DAT_HANDLE handle, void *arg)
{
    (void)arg;
    return dat_ep_set_watermark(handle, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);
}

static bool arguments(void)
{
    static const DAT_COUNT bad[] = { -2, -10, INT_MIN };
    struct side s;
    DAT_EP_HANDLE freed;

    side_make(&s, fx, NULL);
    if (!is_success(dat_ep_set_watermark(s.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE),
                    "dat_ep_set_watermark: both infinite: success"))
        return false;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        is_code(dat_ep_set_watermark(s.ep, bad[i], DAT_WATERMARK_INFINITE), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG2, "dat_ep_set_watermark: soft %d: DAT_INVALID_PARAMETER",
                (int)bad[i]);
        is_code(dat_ep_set_watermark(s.ep, DAT_WATERMARK_INFINITE, bad[i]), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG3, "dat_ep_set_watermark: hard %d: DAT_INVALID_PARAMETER",
                (int)bad[i]);
    }
    ok(no_event(fx->async), "dat_ep_set_watermark: errors: no event");
    freed = s.ep;
    side_free(&s);
    zoo_sweep(&zoo, "dat_ep_set_watermark", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, freed, 0,
              set_watermark, NULL);
    zoo_intact(&zoo, "dat_ep_set_watermark");
    return true;
}

static void soft_at_once(void)
{
    struct side s;
    DAT_EVENT event;
    DAT_ASYNCH_ERROR_EVENT_DATA *d = &event.event_data.asynch_error_event_data;

    side_make(&s, fx, NULL);
    for (int i = 0; i < 3; i++)
        must_rc(post_recv(&s, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(dat_ep_set_watermark(s.ep, 3, DAT_WATERMARK_INFINITE),
               "dat_ep_set_watermark: soft 3, three posted: success");
    nothing_comes(fx, "soft high watermark 3, three posted: not exceeded: no event");
    is_success(dat_ep_set_watermark(s.ep, 2, DAT_WATERMARK_INFINITE),
               "dat_ep_set_watermark: soft 2, three posted: success");
    memset(&event, 0x5a, sizeof event);
    is_success(dat_evd_dequeue(fx->async, &event),
               "dat_ep_set_watermark: soft 2, three posted: the event is there at once");
    is_event(event.event_number, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR,
             "soft high watermark event: event_number DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR");
    is_ptr(event.evd_handle, fx->async, "soft high watermark event: the asynchronous EVD");
    is_ptr(d->dat_handle, s.ep, "soft high watermark event: dat_handle is the endpoint");
    is_int(d->reason, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT,
           "soft high watermark event: reason DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT");
    nothing_comes(fx, "soft high watermark: one event");
    must_rc(post_recv(&s, NULL, 0, 0, 3), DAT_SUCCESS, "dat_ep_post_recv");
    nothing_comes(fx, "soft high watermark 2, fired, four posted: no second event");
    must_rc(dat_ep_set_watermark(s.ep, 2, DAT_WATERMARK_INFINITE), DAT_SUCCESS,
            "dat_ep_set_watermark");
    soft_comes(s.ep, "dat_ep_set_watermark: 2 again, four posted: the event again");
    must_rc(dat_ep_set_watermark(s.ep, 0, DAT_WATERMARK_INFINITE), DAT_SUCCESS,
            "dat_ep_set_watermark");
    soft_comes(s.ep, "dat_ep_set_watermark: 0, four posted: the event");
    must_rc(dat_ep_set_watermark(s.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE), DAT_SUCCESS,
            "dat_ep_set_watermark");
    nothing_comes(fx, "dat_ep_set_watermark: infinite: no event");
    side_free(&s);
}

/* Tests a soft high watermark of 0 on a shared queue: the next message exceeds it. */
static void soft_when_taken(void)
{
    struct srq q;
    struct srq_pair p[2];

    srq_open(&q, fx, 20, 20, 64);
    for (int i = 0; i < 2; i++)
        srq_pair_open(&p[i], &q);
    srq_fill(&q, 0, 20);
    is_success(dat_ep_set_watermark(p[0].rx.ep, 0, DAT_WATERMARK_INFINITE),
               "dat_ep_set_watermark: soft 0, shared queue, nothing taken: success");
    nothing_comes(fx, "soft high watermark 0, shared queue: nothing taken: no event");
    must(srq_send(&p[1], 10, 0), "no arrival");
    nothing_comes(fx, "soft high watermark 0: another endpoint takes a buffer: no event");
    must(srq_send(&p[0], 10, 0), "no arrival");
    soft_comes(p[0].rx.ep, "soft high watermark 0: the endpoint takes a buffer: the event");
    must(srq_send(&p[0], 10, 1), "no arrival");
    nothing_comes(fx, "soft high watermark 0: another buffer: no second event");
    drain_dtos(p[0].rx.recv, 2);
    must_rc(dat_ep_set_watermark(p[0].rx.ep, 0, DAT_WATERMARK_INFINITE), DAT_SUCCESS,
            "dat_ep_set_watermark");
    must(srq_send(&p[0], 10, 2), "no arrival");
    soft_comes(p[0].rx.ep, "soft high watermark 0, set again: the event again");
    drain_dtos(p[0].rx.recv, 1);
    must_rc(dat_ep_set_watermark(p[0].rx.ep, 0, DAT_WATERMARK_INFINITE), DAT_SUCCESS,
            "dat_ep_set_watermark");
    must_rc(dat_ep_set_watermark(p[0].rx.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE),
            DAT_SUCCESS, "dat_ep_set_watermark");
    must(srq_send(&p[0], 10, 3), "no arrival");
    nothing_comes(fx, "soft high watermark 0, then infinite: replaced, no event");
    must_rc(dat_ep_set_watermark(p[0].rx.ep, 1000, DAT_WATERMARK_INFINITE), DAT_SUCCESS,
            "dat_ep_set_watermark");
    must(srq_send_many(&p[0], 5, 10, 4), "no arrival");
    nothing_comes(fx, "soft high watermark 1000: five taken: no event");
    ok(ep_state(p[0].rx.ep) == DAT_EP_STATE_CONNECTED,
       "soft high watermark: the connection is never touched");
    for (int i = 0; i < 2; i++)
        srq_pair_close(&p[i]);
    srq_close(&q);
}

static void hard_when_taken(void)
{
    struct srq q;
    struct srq_pair p, other;
    DAT_EVENT event;
    DAT_SRQ_PARAM param;
    int completed;

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_pair_open(&other, &q);
    srq_fill(&q, 0, 10);
    must(srq_send_many(&p, 2, 10, 0) && drain_dtos(p.rx.recv, 2) == 2, "no arrival");
    is_success(dat_ep_set_watermark(p.rx.ep, DAT_WATERMARK_INFINITE, 0),
               "dat_ep_set_watermark: hard 0, shared queue: success");
    ok(ep_state(p.rx.ep) == DAT_EP_STATE_CONNECTED && no_event(p.rx.conn),
       "hard high watermark 0: nothing taken: the connection stands");
    must_rc(srq_send_start(&p, 10, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_connection(p.rx.conn, DAT_CONNECTION_EVENT_BROKEN),
       "hard high watermark 0: the endpoint takes a buffer: BROKEN");
    is_state(ep_state(p.rx.ep), DAT_EP_STATE_DISCONNECTED, "hard high watermark 0: disconnected");
    ok(wait_event(p.tx.conn, &event) && (event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                                         event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED),
       "hard high watermark 0: the other end's connection ends too");
    must(drain_dtos(p.tx.req, 1) == 1, "no completion of the Send");
    ok(no_event(fx->async), "hard high watermark: no asynchronous event");
    completed = srq_settle(q.handle, p.rx.recv);
    ok(completed == 0 || completed == 1, "hard high watermark 0: at most the one that was taken");
    param = srq_param(q.handle);
    ok(param.available_dto_count == 8 - completed &&
           param.outstanding_dto_count == param.available_dto_count,
       "hard high watermark 0: the other buffers are available");
    ok(srq_send_many(&other, param.available_dto_count, 10, 0) &&
           srq_arrived(q.handle, 0).available_dto_count == 0 &&
           srq_drain(other.rx.recv) == param.available_dto_count,
       "hard high watermark 0: another endpoint uses them");
    srq_pair_close(&other);
    srq_pair_close(&p);
    srq_close(&q);
}

static void hard_at_once(void)
{
    struct pair p;

    pair_open(&p, fx, NULL);
    for (int i = 0; i < 3; i++)
        must_rc(post_recv(&p.b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(dat_ep_set_watermark(p.b.ep, DAT_WATERMARK_INFINITE, 3),
               "dat_ep_set_watermark: hard 3, three posted: success");
    ok(quiet(p.b.conn), "hard high watermark 3, three posted: not exceeded: the connection stands");
    is_success(dat_ep_set_watermark(p.b.ep, DAT_WATERMARK_INFINITE, 2),
               "dat_ep_set_watermark: hard 2, three posted: success");
    ok(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_BROKEN),
       "hard high watermark 2, three posted: BROKEN");
    is_state(ep_state(p.b.ep), DAT_EP_STATE_DISCONNECTED, "hard high watermark 2: disconnected");
    for (DAT_UINT64 i = 0; i < 3; i++)
        ok(wait_dto(p.b.recv, i, DAT_DTO_ERR_FLUSHED, NULL),
           "hard high watermark 2: receive %d is flushed", (int)i);
    ok(no_event(fx->async), "hard high watermark: no asynchronous event");
    pair_close(&p);
}

static void hard_before_the_connection(void)
{
    struct side a, b;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    DAT_EVENT event;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    is_success(dat_ep_set_watermark(b.ep, DAT_WATERMARK_INFINITE, 2),
               "dat_ep_set_watermark: hard 2, unconnected: success");
    for (int i = 0; i < 3; i++)
        must_rc(post_recv(&b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    ok(quiet(b.conn), "hard high watermark 2, three posted, unconnected: no event");
    is_state(ep_state(b.ep), DAT_EP_STATE_UNCONNECTED, "hard high watermark 2: still unconnected");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx->cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    ok(wait_event(b.conn, &event) &&
           (event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
            (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED &&
             wait_connection(b.conn, DAT_CONNECTION_EVENT_BROKEN))),
       "hard high watermark 2, three posted: the connection breaks as soon as it is there");

    /* The watermark also applies to the next connection. */
    must(drain_dtos(b.recv, 3) == 3 && wait_state(a.ep, DAT_EP_STATE_DISCONNECTED),
         "the connection has not ended");
    must_rc(dat_ep_reset(a.ep), DAT_SUCCESS, "dat_ep_reset");
    must_rc(dat_ep_reset(b.ep), DAT_SUCCESS, "dat_ep_reset");
    drain(a.conn);
    for (int i = 0; i < 2; i++)
        must_rc(post_recv(&b, NULL, 0, 0, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(fx->cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    ok(wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED) && quiet(b.conn),
       "hard high watermark 2, the next connection, two posted: it stands");
    must_rc(post_recv(&b, NULL, 0, 0, 2), DAT_SUCCESS, "dat_ep_post_recv");
    ok(wait_connection(b.conn, DAT_CONNECTION_EVENT_BROKEN),
       "hard high watermark 2, the next connection, the third is posted: BROKEN");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

static void every_state(void)
{
    struct pair p;
    struct side s;

    side_make(&s, fx, NULL);
    is_success(dat_ep_set_watermark(s.ep, 5, 9), "dat_ep_set_watermark: unconnected: success");
    side_free(&s);
    is_success(dat_ep_set_watermark(zoo.reserved.ep, 5, 9),
               "dat_ep_set_watermark: reserved: success");
    is_success(dat_ep_set_watermark(zoo.caller.ep, 5, 9),
               "dat_ep_set_watermark: active connection pending: success");
    pair_open(&p, fx, NULL);
    is_success(dat_ep_set_watermark(p.a.ep, 5, 9), "dat_ep_set_watermark: connected: success");
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    is_success(dat_ep_set_watermark(p.a.ep, 5, 9), "dat_ep_set_watermark: disconnected: success");
    ok(no_event(fx->async), "dat_ep_set_watermark: nothing exceeded: no event");
    pair_close(&p);
}

/*
 * On a shared queue, an endpoint has one buffer in progress: messages in quick succession never exceed a watermark of 1.
 * A provider may take several buffers; then this test is the one to change.
 */
static void one_in_progress(size_t size)
{
    enum { MESSAGES = 32, ROUNDS = 4 };
    DAT_COUNT n, most = 0;
    struct sender s;
    struct side rx;
    struct srq q;
    int arrived = 0;

    srq_open(&q, fx, MESSAGES, MESSAGES, size);
    side_make_srq(&rx, fx, q.handle, NULL);
    sender_start(&s, &rx, 1);
    is_success(dat_ep_set_watermark(rx.ep, 1, 1), "dat_ep_set_watermark: soft 1, hard 1, shared queue: success");
    for (int round = 0; round < ROUNDS; round++) {
        int reaped = 0;
        DAT_EVENT event;

        srq_fill(&q, 0, MESSAGES);
        sender_begin(&s, 0, MESSAGES, size, (unsigned)(round * MESSAGES));
        while (reaped < MESSAGES && wait_number(rx.recv, DAT_DTO_COMPLETION_EVENT, &event) &&
               event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
            must_rc(dat_ep_recv_query(rx.ep, &n, NULL), DAT_SUCCESS, "dat_ep_recv_query");
            most = n > most ? n : most;
            reaped++;
        }
        arrived += sender_arrived(&s);
    }
    is_int(arrived, ROUNDS * MESSAGES, "high watermarks 1, shared queue, %zu bytes: all messages arrive", size);
    ok(most <= 1, "dat_ep_recv_query: shared queue, %zu bytes: never more than 1 in progress", size);
    ok(ep_state(rx.ep) == DAT_EP_STATE_CONNECTED, "hard high watermark 1, shared queue, %zu bytes: not exceeded", size);
    ok(no_event(fx->async), "soft high watermark 1, shared queue, %zu bytes: not exceeded", size);
    sender_end(&s);
    side_free(&rx);
    srq_close(&q);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { SENDER_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    zoo_open(&zoo);
    query();
    if (arguments()) {
        soft_at_once();
        soft_when_taken();
        hard_when_taken();
        hard_at_once();
        hard_before_the_connection();
        every_state();
        one_in_progress(100);
        one_in_progress(100000);
    }
    zoo_close(&zoo);
    return done_testing();
}
