/* flags.c - completion flags: SUPPRESS, UNSIGNALLED, SOLICITED_WAIT, BARRIER_FENCE. */
#include "common/waiter.h"

#include <string.h>

static DAT_RETURN send_with(struct side *s, struct region *r, unsigned flags, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET t = segment(r, 0, 32);

    return dat_ep_post_send(s->ep, 1, &t, cookie(c), (DAT_COMPLETION_FLAGS)flags);
}

static DAT_RETURN recv_with(struct side *s, struct region *r, unsigned flags, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET t = segment(r, 64, 32);

    return dat_ep_post_recv(s->ep, 1, &t, cookie(c), (DAT_COMPLETION_FLAGS)flags);
}

static void suppress(struct fx *fx, struct region *r)
{
    struct pair p;
    DAT_LMR_TRIPLET t = segment(r, 0, 32);
    DAT_RMR_TRIPLET to = target(r, 128, 32);

    pair_open(&p, fx, NULL);
    for (unsigned i = 0; i < 4; i++)
        must_rc(post_recv(&p.b, r, 64, 32, i), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(send_with(&p.a, r, DAT_COMPLETION_SUPPRESS_FLAG, 1),
               "dat_ep_post_send: SUPPRESS: success");
    is_success(dat_ep_post_rdma_write(p.a.ep, 1, &t, cookie(2), &to, DAT_COMPLETION_SUPPRESS_FLAG),
               "dat_ep_post_rdma_write: SUPPRESS: success");
    is_success(dat_ep_post_rdma_read(p.a.ep, 1, &t, cookie(3), &to, DAT_COMPLETION_SUPPRESS_FLAG),
               "dat_ep_post_rdma_read: SUPPRESS: success");
    is_success(send_with(&p.a, r, 0, 4), "dat_ep_post_send: without: success");
    ok(wait_dto(p.a.req, 4, DAT_DTO_SUCCESS, NULL),
       "SUPPRESS: three successes give no event, the fourth does");
    ok(wait_dto(p.b.recv, 0, DAT_DTO_SUCCESS, NULL) && wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL),
       "SUPPRESS: both messages have arrived");
    ok(quiet(p.a.req), "SUPPRESS: no event comes later");
    to.rmr_context ^= 0x55555555u;
    must_rc(dat_ep_post_rdma_write(p.a.ep, 1, &t, cookie(5), &to, DAT_COMPLETION_SUPPRESS_FLAG),
            DAT_SUCCESS, "dat_ep_post_rdma_write");
    must_rc(send_with(&p.a, r, DAT_COMPLETION_SUPPRESS_FLAG, 6), DAT_SUCCESS, "dat_ep_post_send");
    if (env_is_iwarp()) {
        DAT_EVENT e;
        const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

        /* The peer refuses the write without a response. The end of the connection may flush the send. */
        must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
        must_rc(send_with(&p.a, r, DAT_COMPLETION_SUPPRESS_FLAG, 7), DAT_SUCCESS, "dat_ep_post_send");
        ok(wait_number(p.a.req, DAT_DTO_COMPLETION_EVENT, &e) && d->status == DAT_DTO_ERR_FLUSHED &&
               (d->user_cookie.as_64 == 7 ||
                (d->user_cookie.as_64 == 6 && wait_dto(p.a.req, 7, DAT_DTO_ERR_FLUSHED, NULL))),
           "SUPPRESS: a flushed request gives an event");
    } else {
        ok(wait_dto(p.a.req, 5, DAT_DTO_ERR_REMOTE_ACCESS, NULL), "SUPPRESS: a failure gives an event");
        ok(wait_dto(p.a.req, 6, DAT_DTO_ERR_FLUSHED, NULL), "SUPPRESS: so does a flushed request");
    }
    pair_close(&p);
}

/* Requests after a suppressed send complete without further calls at the sender. */
static void behind_suppressed(struct fx *fx, struct region *r)
{
    for (int late = 0; late < 2 && !(late && none_waits("SUPPRESS, its receive comes late")); late++) {
        const char *when = late ? "its receive comes late" : "its receive is there";
        struct pair p;

        pair_open(&p, fx, NULL);
        if (!late)
            must_rc(post_recv(&p.b, r, 64, 32, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(send_with(&p.a, r, DAT_COMPLETION_SUPPRESS_FLAG, 2), DAT_SUCCESS,
                "dat_ep_post_send");
        must_rc(post_write(&p.a, r, 0, 32, target(r, 128, 32), 3), DAT_SUCCESS,
                "dat_ep_post_rdma_write");
        if (late) {
            ok(quiet(p.a.req), "SUPPRESS, a write behind it, no receive: no completion yet");
            must_rc(post_recv(&p.b, r, 64, 32, 1), DAT_SUCCESS, "dat_ep_post_recv");
        }
        ok(wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL), "SUPPRESS, a write behind it, %s: the "
                                                        "write completes", when);
        ok(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL), "SUPPRESS, a write behind it, %s: the "
                                                         "message arrives", when);
        if (!late)
            must_rc(post_recv(&p.b, r, 64, 32, 4), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(send_with(&p.a, r, DAT_COMPLETION_SUPPRESS_FLAG, 5), DAT_SUCCESS,
                "dat_ep_post_send");
        is_success(dat_ep_disconnect(p.a.ep, DAT_CLOSE_GRACEFUL_FLAG),
                   "SUPPRESS, %s: dat_ep_disconnect: graceful: success", when);
        if (late) {
            ok(quiet(p.a.conn) && ep_state(p.a.ep) == DAT_EP_STATE_DISCONNECT_PENDING,
               "SUPPRESS, graceful behind it, no receive: DISCONNECT_PENDING");
            must_rc(post_recv(&p.b, r, 64, 32, 4), DAT_SUCCESS, "dat_ep_post_recv");
        }
        ok(wait_dto(p.b.recv, 4, DAT_DTO_SUCCESS, NULL),
           "SUPPRESS, graceful behind it, %s: the message arrives", when);
        ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
           "SUPPRESS, graceful behind it, %s: DISCONNECTED here", when);
        ok(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
           "SUPPRESS, graceful behind it, %s: DISCONNECTED there", when);
        ok(quiet(p.a.req), "SUPPRESS, graceful behind it, %s: no event for it", when);
        pair_close(&p);
    }
}

/* The other process: posts a receive on each order, until the connection ends. */
static int slow(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET place;

    fx_open(&fx);
    region_make(&fx, &r, 256, DAT_MEM_PRIV_ALL_FLAG);
    side_make(&s, &fx, NULL);
    place = target(&r, 128, 32);
    must(link_send_target(up, place), "the other process has exited");
    side_accept_peer(&s, up);
    for (unsigned i = 0; i < 2; i++) {
        must(link_hear(up, "receive"), "no orders");
        must_rc(post_recv(&s, &r, 0, 32, i), DAT_SUCCESS, "dat_ep_post_recv");
        must(wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL), "no message");
    }
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void behind_suppressed_far(struct fx *fx, struct region *r)
{
    struct peer other;
    struct side s;
    DAT_RMR_TRIPLET place;

    peer_start(&other, "slow");
    must(link_recv_target(&other.link, &place), "no answer");
    side_make(&s, fx, NULL);
    side_connect_peer(&s, &other.link);
    must_rc(send_with(&s, r, DAT_COMPLETION_SUPPRESS_FLAG, 1), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_write(&s, r, 0, 32, place, 2), DAT_SUCCESS, "dat_ep_post_rdma_write");
    ok(quiet(s.req), "another process: SUPPRESS, a write behind it, no receive: no completion yet");
    link_say(&other.link, "receive");
    ok(wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL),
       "another process: SUPPRESS, a write behind it: the write completes");
    must_rc(send_with(&s, r, DAT_COMPLETION_SUPPRESS_FLAG, 3), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(quiet(s.conn) && ep_state(s.ep) == DAT_EP_STATE_DISCONNECT_PENDING,
       "another process: SUPPRESS, graceful behind it, no receive: DISCONNECT_PENDING");
    link_say(&other.link, "receive");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
       "another process: SUPPRESS, graceful behind it: DISCONNECTED here");
    link_say(&other.link, "bye");
    peer_ok(&other, "another process: SUPPRESS, graceful behind it: message and DISCONNECTED there");
    side_free(&s);
}

/*
 * Opens a pair whose passive side has these flags. Returns false, with a skip, if the provider does
 * not support them.
 */
static bool pair_with(struct fx *fx, struct pair *p, unsigned recv, unsigned request,
                      const char *what)
{
    DAT_EP_ATTR attr;
    DAT_RETURN rc;

    attr_default(&attr);
    attr.recv_completion_flags = (DAT_COMPLETION_FLAGS)recv;
    attr.request_completion_flags = (DAT_COMPLETION_FLAGS)request;
    side_make(&p->a, fx, NULL);
    side_make(&p->b, fx, NULL);
    must_rc(dat_ep_free(p->b.ep), DAT_SUCCESS, "dat_ep_free");
    p->b.ep = DAT_HANDLE_NULL;
    rc = dat_ep_create(fx->ia, fx->pz, p->b.recv, p->b.req, p->b.conn, &attr, &p->b.ep);
    if (rc_is(rc, DAT_MODEL_NOT_SUPPORTED) || rc_not_implemented(rc)) {
        skip_named(what, "the provider has no such endpoints");
        pair_close(p);
        return false;
    }
    if (!is_success(rc, "dat_ep_create: %s: success", what)) {
        pair_close(p);
        return false;
    }
    sides_connect(&p->a, &p->b);
    return true;
}

static void unsignalled_requests(struct fx *fx, struct region *r)
{
    struct pair p;
    struct waiter w;

    if (!pair_with(fx, &p, DAT_COMPLETION_EVD_THRESHOLD_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG,
                   "request_completion_flags UNSIGNALLED"))
        return;
    for (unsigned i = 0; i < 4; i++)
        must_rc(post_recv(&p.a, r, 64, 32, i), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(send_with(&p.b, r, DAT_COMPLETION_UNSIGNALLED_FLAG, 10),
               "dat_ep_post_send: UNSIGNALLED: success");
    {
        DAT_EVENT e;

        ok(poll_event(p.b.req, &e) &&
               e.event_data.dto_completion_event_data.user_cookie.as_64 == 10,
           "UNSIGNALLED: the event is queued, dat_evd_dequeue finds it");
    }
    waiter_start(&w, p.b.req, DAT_TIMEOUT_INFINITE, 1);
    must_rc(send_with(&p.b, r, DAT_COMPLETION_UNSIGNALLED_FLAG, 11), DAT_SUCCESS,
            "dat_ep_post_send");
    ok(wait_dto(p.a.recv, 0, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.recv, 1, DAT_DTO_SUCCESS, NULL),
       "UNSIGNALLED: the messages arrive");
    ok(!waiter_done(&w, QUIET_MS), "UNSIGNALLED: a blocked waiter is not woken");
    must_rc(send_with(&p.b, r, 0, 12), DAT_SUCCESS, "dat_ep_post_send");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 11 &&
           w.more == 1,
       "UNSIGNALLED: a signalled one wakes it, and it gets the oldest");
    {
        DAT_EVENT e;
        DAT_COUNT more;

        must(wait_dto(p.b.req, 12, DAT_DTO_SUCCESS, NULL), "the signalled one is not there");
        must_rc(send_with(&p.b, r, DAT_COMPLETION_UNSIGNALLED_FLAG, 13), DAT_SUCCESS,
                "dat_ep_post_send");
        {
            uint64_t end = now_ms() + env_ms(SOON_MS);
            DAT_RETURN rc;

            while (rc_is(rc = dat_evd_wait(p.b.req, 0, 1, &e, &more), DAT_TIMEOUT_EXPIRED) &&
                   now_ms() < end)
                breathe();
            is_success(rc, "UNSIGNALLED: dat_evd_wait, one is queued at the call: success");
        }
        is_either(dat_evd_wait(p.b.req, 0, 2, &e, &more), DAT_INVALID_STATE, DAT_INVALID_PARAMETER,
                  "dat_evd_wait: UNSIGNALLED stream, threshold 2: refused");
    }
    pair_close(&p);
}

static void unsignalled_receives(struct fx *fx, struct region *r)
{
    struct pair p;
    struct waiter w;

    if (!pair_with(fx, &p, DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_EVD_THRESHOLD_FLAG,
                   "recv_completion_flags UNSIGNALLED"))
        return;
    is_success(recv_with(&p.b, r, DAT_COMPLETION_UNSIGNALLED_FLAG, 20),
               "dat_ep_post_recv: UNSIGNALLED: success");
    is_success(recv_with(&p.b, r, 0, 21), "dat_ep_post_recv: UNSIGNALLED endpoint, default: success");
    waiter_start(&w, p.b.recv, DAT_TIMEOUT_INFINITE, 1);
    must_rc(post_send(&p.a, r, 0, 32, 1), DAT_SUCCESS, "dat_ep_post_send");
    drain_dtos(p.a.req, 1);
    ok(!waiter_done(&w, QUIET_MS), "UNSIGNALLED receive: a blocked waiter is not woken");
    must_rc(post_send(&p.a, r, 0, 32, 2), DAT_SUCCESS, "dat_ep_post_send");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 20 &&
           w.more == 1,
       "UNSIGNALLED receive: a default one wakes it, and it gets the oldest");
    pair_close(&p);
}

static void solicited(struct fx *fx, struct region *r)
{
    struct pair p;
    struct waiter w;

    if (env_is_iwarp()) {
        skip_named("SOLICITED_WAIT", "soft-iWARP announces every message");
        return;
    }
    if (!pair_with(fx, &p, DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_EVD_THRESHOLD_FLAG,
                   "recv_completion_flags SOLICITED_WAIT"))
        return;
    for (unsigned i = 0; i < 4; i++)
        must_rc(post_recv(&p.b, r, 64, 32, 30 + i), DAT_SUCCESS, "dat_ep_post_recv");
    waiter_start(&w, p.b.recv, DAT_TIMEOUT_INFINITE, 1);
    must_rc(send_with(&p.a, r, 0, 1), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(send_with(&p.a, r, 0, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(drain_dtos(p.a.req, 2) == 2 && !waiter_done(&w, QUIET_MS),
       "SOLICITED_WAIT: messages sent without it: a blocked waiter is not woken");
    is_success(send_with(&p.a, r, DAT_COMPLETION_SOLICITED_WAIT_FLAG, 3),
               "dat_ep_post_send: SOLICITED_WAIT: success");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS && w.event.event_data.dto_completion_event_data.user_cookie.as_64 == 30 &&
           w.more == 2,
       "SOLICITED_WAIT: a message sent with it wakes the waiter, which gets the oldest");
    ok(wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL),
       "SOLICITED_WAIT: the sender's own completion is as ever");
    ok(wait_dto(p.b.recv, 31, DAT_DTO_SUCCESS, NULL) && wait_dto(p.b.recv, 32, DAT_DTO_SUCCESS, NULL),
       "SOLICITED_WAIT: the others are queued");
    {
        DAT_EVENT e;
        DAT_COUNT more;

        is_either(dat_evd_wait(p.b.recv, 0, 2, &e, &more), DAT_INVALID_STATE, DAT_INVALID_PARAMETER,
                  "dat_evd_wait: SOLICITED_WAIT stream, threshold 2: refused");
    }
    pair_close(&p);
    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.b, r, 64, 32, 40), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(send_with(&p.a, r, DAT_COMPLETION_SOLICITED_WAIT_FLAG, 4),
               "dat_ep_post_send: SOLICITED_WAIT, threshold endpoint: success");
    ok(wait_dto(p.b.recv, 40, DAT_DTO_SUCCESS, NULL),
       "SOLICITED_WAIT: threshold endpoint: arrives as ever");
    pair_close(&p);
}

static void failures_notify(struct fx *fx, struct region *r)
{
    struct pair p;
    struct waiter w;

    if (!pair_with(fx, &p, DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_EVD_THRESHOLD_FLAG,
                   "recv_completion_flags SOLICITED_WAIT, for failures"))
        return;
    must_rc(post_recv(&p.b, r, 64, 32, 50), DAT_SUCCESS, "dat_ep_post_recv");
    waiter_start(&w, p.b.recv, DAT_TIMEOUT_INFINITE, 1);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    waiter_join(&w);
    ok(w.rc == DAT_SUCCESS &&
           w.event.event_data.dto_completion_event_data.status == DAT_DTO_ERR_FLUSHED,
       "SOLICITED_WAIT: a flushed receive wakes the waiter");
    pair_close(&p);
}

static void fence(struct fx *fx, struct region *r)
{
    struct pair p;
    struct region here, there;
    int good = 0, rounds = env_count(200, 20);

    region_make(fx, &here, 65536, DAT_MEM_PRIV_ALL_FLAG);
    region_make(fx, &there, 2 * 65536, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, fx, NULL);
    for (int i = 0; i < rounds; i++) {
        DAT_LMR_TRIPLET all = segment(&here, 0, 65536);
        DAT_RMR_TRIPLET from = target(&there, 0, 65536), to = target(&there, 65536, 65536);

        pattern_fill(there.mem, 65536, (unsigned)i);
        must_rc(dat_ep_post_rdma_read(p.a.ep, 1, &all, cookie(1), &from,
                                      DAT_COMPLETION_SUPPRESS_FLAG),
                DAT_SUCCESS, "dat_ep_post_rdma_read");
        must_rc(dat_ep_post_rdma_write(p.a.ep, 1, &all, cookie(2), &to,
                                       DAT_COMPLETION_BARRIER_FENCE_FLAG),
                DAT_SUCCESS, "dat_ep_post_rdma_write");
        good += wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) && written(there.mem + 65536, 65536, (unsigned)i);
    }
    is_int(good, rounds, "BARRIER_FENCE: a write of what a read has brought: the new bytes");
    must_rc(post_recv(&p.b, r, 64, 32, 3), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(send_with(&p.a, r, DAT_COMPLETION_BARRIER_FENCE_FLAG, 4),
               "dat_ep_post_send: BARRIER_FENCE: success");
    ok(wait_dto(p.b.recv, 3, DAT_DTO_SUCCESS, NULL), "dat_ep_post_send: BARRIER_FENCE: arrives");
    pair_close(&p);
    region_free(&here);
    region_free(&there);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "slow", slow }, { NULL, NULL } };
    struct fx fx;
    struct region r;

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    suppress(&fx, &r);
    behind_suppressed(&fx, &r);
    if (!none_waits("another process: SUPPRESS"))
        behind_suppressed_far(&fx, &r);
    unsignalled_requests(&fx, &r);
    unsignalled_receives(&fx, &r);
    solicited(&fx, &r);
    failures_notify(&fx, &r);
    fence(&fx, &r);
    fx_close(&fx);
    return done_testing();
}
