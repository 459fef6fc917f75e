/* disconnect.c - the end of a connection, from either side, and of outstanding work. */
#include "common/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLAG(graceful) ((graceful) ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG)

static const char *const how[2] = { "abrupt", "graceful" };

/*
 * Checks that the endpoint has one DISCONNECTED event, the state DISCONNECTED, and no other event. Further
 * calls of dat_ep_disconnect have no effect.
 */
static void is_over(struct side *s, const char *what)
{
    DAT_EVENT event;

    if (ok(wait_number(s->conn, DAT_CONNECTION_EVENT_DISCONNECTED, &event), "%s: DISCONNECTED",
           what)) {
        is_ptr(event.event_data.connect_event_data.ep_handle, s->ep, "%s: ep_handle is true", what);
        is_int(event.event_data.connect_event_data.private_data_size, 0, "%s: no private data",
               what);
    }
    is_state(ep_state(s->ep), DAT_EP_STATE_DISCONNECTED, "%s: the endpoint is DISCONNECTED", what);
    is_success(dat_ep_disconnect(s->ep, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ep_disconnect: again, after %s: success", what);
    is_success(dat_ep_disconnect(s->ep, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ep_disconnect: again gracefully, after %s: success", what);
    ok(quiet(s->conn), "%s: one event and no more", what);
}

static void either_side(struct fx *fx)
{
    for (int graceful = 0; graceful < 2; graceful++)
        for (int passive = 0; passive < 2; passive++) {
            struct pair p;
            struct side *self, *other;
            char text[64];

            pair_open(&p, fx, NULL);
            self = passive ? &p.b : &p.a;
            other = passive ? &p.a : &p.b;
            snprintf(text, sizeof text, "%s by the %s side", how[graceful],
                     passive ? "passive" : "active");
            is_success(dat_ep_disconnect(self->ep, FLAG(graceful)), "dat_ep_disconnect: %s: success",
                       text);
            is_over(self, text);
            snprintf(text, sizeof text, "%s by the %s side, the other", how[graceful],
                     passive ? "passive" : "active");
            is_over(other, text);
            pair_close(&p);
        }
}

static void both_sides(struct fx *fx)
{
    for (int graceful = 0; graceful < 2; graceful++) {
        struct pair p;

        pair_open(&p, fx, NULL);
        is_success(dat_ep_disconnect(p.a.ep, FLAG(graceful)),
                   "dat_ep_disconnect: both sides at once, %s: success", how[graceful]);
        is_success(dat_ep_disconnect(p.b.ep, FLAG(graceful)),
                   "dat_ep_disconnect: both sides at once, %s, the second: success", how[graceful]);
        is_over(&p.a, "both at once, the first");
        is_over(&p.b, "both at once, the second");
        pair_close(&p);
    }
}

static void receives(struct fx *fx, struct region *r)
{
    for (int graceful = 0; graceful < 2; graceful++) {
        struct pair p;
        int posted = 0, flushed = 0;

        pair_open(&p, fx, NULL);
        for (DAT_UINT64 i = 0; i < 10; i++)
            posted += post_recv(&p.a, r, 0, 64, i) == DAT_SUCCESS &&
                      post_recv(&p.b, r, 0, 64, 100 + i) == DAT_SUCCESS;
        ok(posted == 10 && quiet(p.a.recv) && quiet(p.b.recv),
           "receives posted, %s: no completion before the end", how[graceful]);
        must_rc(dat_ep_disconnect(p.a.ep, FLAG(graceful)), DAT_SUCCESS, "dat_ep_disconnect");
        for (DAT_UINT64 i = 0; i < 10; i++)
            flushed += wait_dto(p.a.recv, i, DAT_DTO_ERR_FLUSHED, NULL);
        is_int(flushed, 10, "dat_ep_disconnect: %s: receives here flushed, in order",
               how[graceful]);
        for (DAT_UINT64 i = 0; i < 10; i++)
            flushed += wait_dto(p.b.recv, 100 + i, DAT_DTO_ERR_FLUSHED, NULL);
        is_int(flushed, 20, "dat_ep_disconnect: %s: receives there flushed, in order",
               how[graceful]);
        ok(quiet(p.a.recv) && quiet(p.b.recv), "dat_ep_disconnect: %s: each receive once",
           how[graceful]);
        pair_close(&p);
    }
}

static void drained(struct fx *fx, struct region *r)
{
    enum { N = 16 };
    struct pair p;
    struct side *a = &p.a;
    DAT_EVD_HANDLE one = fx_evd(fx, 64, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    DAT_EP_ATTR attr;
    DAT_EVENT event;
    int sent = 0, arrived = 0;

    attr_default(&attr);
    side_make(a, fx, NULL);
    must_rc(dat_ep_free(a->ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_create(fx->ia, fx->pz, a->recv, one, one, &attr, &a->ep), DAT_SUCCESS,
            "dat_ep_create");
    must_rc(dat_evd_free(a->req), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(a->conn), DAT_SUCCESS, "dat_evd_free");
    a->req = one;
    a->conn = one;
    side_make(&p.b, fx, NULL);
    sides_connect(a, &p.b);
    for (unsigned i = 0; i < N; i++)
        must_rc(post_recv(&p.b, r, i * 64, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    pattern_fill(r->mem + 2048, 64, 3);
    for (unsigned i = 0; i < N; i++)
        must_rc(post_send(a, r, 2048, 64, i), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(dat_ep_disconnect(a->ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    for (unsigned i = 0; i < N; i++)
        sent += wait_dto(one, i, DAT_DTO_SUCCESS, NULL);
    is_int(sent, N, "graceful: sends posted before: all succeed");
    ok(wait_number(one, DAT_CONNECTION_EVENT_DISCONNECTED, &event),
       "graceful: one EVD for both: DISCONNECTED comes after the completions");
    for (unsigned i = 0; i < N; i++)
        arrived += wait_dto(p.b.recv, i, DAT_DTO_SUCCESS, NULL) &&
                   pattern_check(r->mem + i * 64, 64, 3) < 0;
    is_int(arrived, N, "graceful: sends posted before: all arrive");
    is_over(&p.b, "graceful, after traffic, the other side");
    must_rc(dat_ep_free(a->ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(a->recv), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(one), DAT_SUCCESS, "dat_evd_free");
    side_free(&p.b);
}

/* A graceful disconnect stays pending while a message waits for a receive. endings[ending] completes it. */
static void pending(struct fx *fx, struct region *r, int ending)
{
    static const char *const endings[3] = { "the buffer comes", "abrupt call",
                                            "the peer disconnects" };
    struct pair p;
    DAT_EP_STATE state = (DAT_EP_STATE)77;
    DAT_BOOLEAN idle = DAT_TRUE;
    const char *text = endings[ending];

    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.a, r, 0, 64, 71), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, r, 64, 64, 72), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_send(&p.a, r, 64, 64, 73), DAT_SUCCESS, "dat_ep_post_send");
    dat_ep_get_status(p.a.ep, &state, NULL, &idle);
    is_int(idle, DAT_FALSE, "dat_ep_get_status: a send is outstanding: requests are not idle");
    is_success(dat_ep_disconnect(p.a.ep, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ep_disconnect: graceful, sends wait for a buffer: success");
    is_state(ep_state(p.a.ep), DAT_EP_STATE_DISCONNECT_PENDING,
             "dat_ep_disconnect: graceful, sends wait: DISCONNECT_PENDING");
    ok(quiet(p.a.conn), "DISCONNECT_PENDING: no event yet");
    is_success(dat_ep_disconnect(p.a.ep, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ep_disconnect: graceful, DISCONNECT_PENDING: success");
    is_state(ep_state(p.a.ep), DAT_EP_STATE_DISCONNECT_PENDING,
             "dat_ep_disconnect: graceful, DISCONNECT_PENDING: no effect");
    switch (ending) {
    case 0:
        must_rc(post_recv(&p.b, r, 128, 64, 74), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_recv(&p.b, r, 192, 64, 75), DAT_SUCCESS, "dat_ep_post_recv");
        ok(wait_dto(p.b.recv, 74, DAT_DTO_SUCCESS, NULL) &&
               wait_dto(p.b.recv, 75, DAT_DTO_SUCCESS, NULL),
           "DISCONNECT_PENDING, %s: the messages arrive", text);
        ok(wait_dto(p.a.req, 72, DAT_DTO_SUCCESS, NULL) &&
               wait_dto(p.a.req, 73, DAT_DTO_SUCCESS, NULL),
           "DISCONNECT_PENDING, %s: the sends succeed", text);
        break;
    case 1:
        is_success(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ep_disconnect: abrupt, DISCONNECT_PENDING: success");
        break;
    default:
        must_rc(dat_ep_disconnect(p.b.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        break;
    }
    if (ending != 0)
        ok(wait_dto(p.a.req, 72, DAT_DTO_ERR_FLUSHED, NULL) &&
               wait_dto(p.a.req, 73, DAT_DTO_ERR_FLUSHED, NULL),
           "DISCONNECT_PENDING, %s: the sends are flushed, in order", text);
    is_over(&p.a, text);
    ok(wait_dto(p.a.recv, 71, DAT_DTO_ERR_FLUSHED, NULL),
       "DISCONNECT_PENDING, %s: the receive is flushed", text);
    is_over(&p.b, "DISCONNECT_PENDING, the other side");
    pair_close(&p);
}

static void afterwards(struct fx *fx, struct region *r)
{
    struct pair p;
    int good = 1;

    pair_open(&p, fx, NULL);
    for (DAT_UINT64 i = 0; i < 5; i++)
        good &= post_recv(&p.a, r, 0, 64, i) == DAT_SUCCESS &&
                post_send(&p.a, r, 0, 64, i) == DAT_SUCCESS;
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_state(p.a.ep, DAT_EP_STATE_DISCONNECTED), "not DISCONNECTED");
    is_success(post_recv(&p.a, r, 0, 64, 90), "dat_ep_post_recv: DISCONNECTED: success");
    is_success(post_send(&p.a, r, 0, 64, 91), "dat_ep_post_send: DISCONNECTED: success");
    is_success(post_write(&p.a, r, 0, 64, target(r, 0, 64), 92),
               "dat_ep_post_rdma_write: DISCONNECTED: success");
    is_success(post_read(&p.a, r, 0, 64, target(r, 0, 64), 93),
               "dat_ep_post_rdma_read: DISCONNECTED: success");
    for (DAT_UINT64 i = 0; i < 5; i++)
        good &= wait_dto(p.a.recv, i, DAT_DTO_ERR_FLUSHED, NULL);
    ok(good && wait_dto(p.a.recv, 90, DAT_DTO_ERR_FLUSHED, NULL),
       "a receive posted in DISCONNECTED: flushed, after all earlier ones");
    for (DAT_UINT64 i = 0; i < 5; i++) {
        DAT_EVENT e;

        good &= wait_number(p.a.req, DAT_DTO_COMPLETION_EVENT, &e) &&
                e.event_data.dto_completion_event_data.user_cookie.as_64 == i;
    }
    for (DAT_UINT64 i = 91; i < 94; i++)
        good &= wait_dto(p.a.req, i, DAT_DTO_ERR_FLUSHED, NULL);
    ok(good, "requests posted in DISCONNECTED: flushed, after all earlier ones, in order");
    pair_close(&p);
}

static void freed(struct fx *fx, struct region *r)
{
    struct pair p;
    struct fx other;
    struct side a, b;

    pair_open(&p, fx, NULL);
    must_rc(post_recv(&p.b, r, 0, 64, 81), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(dat_ep_free(p.a.ep), "dat_ep_free: CONNECTED: success");
    p.a.ep = DAT_HANDLE_NULL;
    is_over(&p.b, "dat_ep_free at the other side");
    ok(wait_dto(p.b.recv, 81, DAT_DTO_ERR_FLUSHED, NULL),
       "dat_ep_free at the other side: receives are flushed");
    pair_close(&p);

    fx_open(&other);
    side_make(&a, &other, NULL);
    side_make(&b, fx, NULL);
    sides_connect(&a, &b);
    is_success(dat_ia_close(other.ia, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ia_close: abrupt, with a connection: success");
    is_over(&b, "dat_ia_close at the other side");
    side_free(&b);
}

static void reused(struct fx *fx, struct region *r)
{
    struct pair p;
    int rounds = 0;
    DAT_BOOLEAN recv_idle = DAT_TRUE;

    side_make(&p.a, fx, NULL);
    side_make(&p.b, fx, NULL);

    is_success(dat_ep_reset(p.a.ep), "dat_ep_reset: UNCONNECTED: success");
    must_rc(post_recv(&p.a, r, 0, 64, 61), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(dat_ep_reset(p.a.ep), "dat_ep_reset: UNCONNECTED, a receive posted: success");
    dat_ep_get_status(p.a.ep, NULL, &recv_idle, NULL);
    is_int(recv_idle, DAT_FALSE, "dat_ep_reset: UNCONNECTED: the receive stays posted");
    sides_connect(&p.a, &p.b);
    must_rc(post_send(&p.b, r, 64, 64, 62), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(p.a.recv, 61, DAT_DTO_SUCCESS, NULL) &&
           wait_dto(p.b.req, 62, DAT_DTO_SUCCESS, NULL),
       "dat_ep_reset: UNCONNECTED: the receive takes a message later");
    for (int i = 0; i < 10; i++) {
        struct side *x = i % 2 ? &p.a : &p.b;

        must_rc(post_recv(&p.a, r, 0, 64, 63), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(dat_ep_disconnect(x->ep, FLAG(i % 3 == 0)), DAT_SUCCESS, "dat_ep_disconnect");
        if (!wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) ||
            !wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED) ||
            dat_ep_reset(p.a.ep) != DAT_SUCCESS || dat_ep_reset(p.b.ep) != DAT_SUCCESS)
            break;
        drain(p.a.recv); /* flushed receives, if dat_ep_reset kept them */
        sides_connect(i % 2 ? &p.a : &p.b, i % 2 ? &p.b : &p.a);
        if (!sides_talk(&p.a, &p.b))
            break;
        rounds++;
    }
    is_int(rounds, 10, "dat_ep_reset: ten times disconnected, reset and connected again");
    pair_close(&p);
}

/* The other process: accepts a connection, and ends in the requested way. */
static int leaver(struct link *up)
{
    struct fx fx;
    struct side s;
    int way;

    must(LINK_RECV(up, way), "no orders");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_accept_peer(&s, up);
    must(link_hear(up, "leave"), "no orders");
    switch (way) {
    case 0:
        must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
        link_hear(up, "bye");
        fx_close(&fx);
        return 0;
    case 1: fx_close(&fx); link_hear(up, "bye"); return 0;
    case 2: return 0;        /* exit() with all objects alive */
    default: _exit(0);       /* without exit handlers */
    }
}

static void left(struct fx *fx, struct region *r)
{
    static const char *const ways[4] = { "dat_ep_disconnect", "dat_ia_close", "exit", "_exit" };

    for (int way = 0; way < 4; way++) {
        struct peer p;
        struct side s;
        DAT_EVENT event;

        peer_start(&p, "leaver");
        must(LINK_SEND(&p.link, way), "the peer has exited");
        side_make(&s, fx, NULL);
        side_connect_peer(&s, &p.link);
        must_rc(post_recv(&s, r, 0, 64, 51), DAT_SUCCESS, "dat_ep_post_recv");
        link_say(&p.link, "leave");
        ok(wait_event(s.conn, &event) &&
               (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                (way >= 2 && event.event_number == DAT_CONNECTION_EVENT_BROKEN)),
           "%s in the other process: DISCONNECTED%s", ways[way], way >= 2 ? " or BROKEN" : "");
        is_state(ep_state(s.ep), DAT_EP_STATE_DISCONNECTED,
                 "%s in the other process: the endpoint is DISCONNECTED", ways[way]);
        ok(wait_dto(s.recv, 51, DAT_DTO_ERR_FLUSHED, NULL),
           "%s in the other process: receives are flushed", ways[way]);
        ok(quiet(s.conn), "%s in the other process: one event and no more", ways[way]);
        link_say(&p.link, "bye");
        peer_ok(&p, "%s in the other process: it ended well", ways[way]);
        side_free(&s);
    }
}

/* The other process disconnects gracefully with an outstanding send, and then makes no call. */
static int silent(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    int passive;

    must(LINK_RECV(up, passive), "no orders");
    fx_open(&fx);
    region_make(&fx, &r, 64, MEM_LOCAL);
    side_make(&s, &fx, NULL);
    if (passive)
        side_accept_peer(&s, up);
    else
        side_connect_peer(&s, up);
    pattern_fill(r.mem, 64, 9);
    must_rc(post_send(&s, &r, 0, 64, 41), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(link_say(up, "left") && link_hear(up, "call again"), "the peer has exited");
    must(wait_dto(s.req, 41, DAT_DTO_SUCCESS, NULL), "the send does not succeed");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    fx_close(&fx);
    return 0;
}

static void left_silently(struct fx *fx)
{
    for (int passive = 0; passive < 2; passive++) {
        const char *side = passive ? "passive" : "active";
        struct region r;
        struct peer p;
        struct side s;

        region_make(fx, &r, 64, MEM_LOCAL);
        peer_start(&p, "silent");
        must(LINK_SEND(&p.link, passive), "the peer has exited");
        side_make(&s, fx, NULL);
        if (passive)
            side_connect_peer(&s, &p.link);
        else
            side_accept_peer(&s, &p.link);
        must(link_hear(&p.link, "left"), "the peer has exited");
        ok(quiet(s.conn), "graceful by the %s process, its send waits: no event yet", side);
        must_rc(post_recv(&s, &r, 0, 64, 42), DAT_SUCCESS, "dat_ep_post_recv");
        ok(wait_dto(s.recv, 42, DAT_DTO_SUCCESS, NULL) && pattern_check(r.mem, 64, 9) < 0,
           "graceful by the %s process, which makes no call since: its message arrives", side);
        ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
           "graceful by the %s process, which makes no call since: then DISCONNECTED", side);
        is_state(ep_state(s.ep), DAT_EP_STATE_DISCONNECTED,
                 "graceful by the %s process, which makes no call since: DISCONNECTED here", side);
        link_say(&p.link, "call again");
        peer_ok(&p, "graceful by the %s process: its send succeeded, and DISCONNECTED there", side);
        side_free(&s);
        region_free(&r);
    }
}

/*
 * The active side ends each connection immediately after ESTABLISHED: by freeing the endpoint, by
 * disconnecting, or by a failing request. The passive side still receives ESTABLISHED first.
 */
static int hasty(struct link *up)
{
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual = 0;
    struct region r;
    struct fx fx;
    int rounds = 0;

    must(LINK_RECV(up, address) && LINK_RECV(up, qual) && LINK_RECV(up, rounds), "no orders");
    fx_open(&fx);
    region_make(&fx, &r, 64, MEM_LOCAL);
    for (int i = 0; i < rounds; i++) {
        struct side s;

        side_make(&s, &fx, NULL);
        must_rc(side_connect(&s, (DAT_IA_ADDRESS_PTR)&address, qual), DAT_SUCCESS,
                "dat_ep_connect");
        must(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
        if (i % 3 == 1) {
            must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS,
                    "dat_ep_disconnect");
        } else if (i % 3 == 2) {
            DAT_RMR_TRIPLET nowhere = target(&r, 0, 64);

            nowhere.rmr_context = 0;
            must_rc(post_write(&s, &r, 0, 64, nowhere, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
            must(wait_broken(s.conn), "the connection does not end");
        }
        side_free(&s);
    }
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void ended_at_once(struct fx *fx)
{
    int rounds = env_count(100, 20), stood = 0, over = 0;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);
    struct peer p;

    peer_start(&p, "hasty");
    must(LINK_SEND(&p.link, fx->address) && LINK_SEND(&p.link, qual) && LINK_SEND(&p.link, rounds),
         "the peer has exited");
    for (int i = 0; i < rounds; i++) {
        struct side s;

        side_make(&s, fx, NULL);
        must_rc(dat_cr_accept(next_request(fx->cr), s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        if (wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED)) {
            DAT_EVENT e;

            stood++;
            over += wait_event(s.conn, &e) &&
                    (e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                     (i % 3 == 2 && e.event_number == DAT_CONNECTION_EVENT_BROKEN));
        }
        side_free(&s);
    }
    is_int(stood, rounds, "the active side ends it as soon as it is ESTABLISHED there: "
                          "ESTABLISHED here as well");
    is_int(over, stood, "the active side ends it as soon as it is ESTABLISHED there: then its end");
    link_say(&p.link, "bye");
    peer_ok(&p, "the active side ends it at once: it ends well");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

/* The passive side ends each connection before it is ESTABLISHED there. The active side gets this end soon. */
static void left_after_accept(struct fx *fx)
{
    int rounds = env_count(30, 10), told = 0;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(fx, &qual);

    for (int i = 0; i < rounds; i++) {
        struct side a, b;
        DAT_EVENT e;

        side_make(&a, fx, NULL);
        side_make(&b, fx, NULL);
        must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
        must_rc(dat_cr_accept(next_request(fx->cr), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        if (i % 2)
            must_rc(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        else
            side_free(&b);
        memset(&e, 0, sizeof e);
        if (wait_event_ms(a.conn, env_ms(5000), &e) && e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
            wait_event_ms(a.conn, env_ms(5000), &e);
        told += e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                e.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                e.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
        if (i % 2)
            side_free(&b);
        side_free(&a);
    }
    is_int(told, rounds, "the passive side ends it as soon as it has accepted: the active side gets the end");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
}

/*
 * Either side disconnects during long messages and writes. Both sides get DISCONNECTED, all work
 * completes, and the provider no longer writes to memory of completed receives.
 */
static void long_transfers(struct fx *fx)
{
    enum { N = 4 };
    const size_t len = 3 << 20;
    struct region from, to;
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_message_size = attr.max_rdma_size = len;
    region_make(fx, &from, len, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(from.mem, len, 1);
    for (int far = 0; far < 2; far++) {
        const char *who = far ? "by the receiver" : "by the sender";
        struct pair p;
        int back = 0;

        region_make(fx, &to, 2 * len, DAT_MEM_PRIV_ALL_FLAG);
        pair_open(&p, fx, &attr);
        for (unsigned i = 0; i < N; i++)
            must_rc(post_recv(&p.b, &to, 0, len, i), DAT_SUCCESS, "dat_ep_post_recv");
        for (unsigned i = 0; i < N; i++) {
            must_rc(post_send(&p.a, &from, 0, len, 2 * i), DAT_SUCCESS, "dat_ep_post_send");
            must_rc(post_write(&p.a, &from, 0, len, target(&to, len, len), 2 * i + 1), DAT_SUCCESS,
                    "dat_ep_post_rdma_write");
        }
        is_success(dat_ep_disconnect(far ? p.b.ep : p.a.ep, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ep_disconnect: long work under way, %s: success", who);
        back = drain_dtos(p.b.recv, N);
        memset(to.mem, 7, len);
        back += drain_dtos(p.a.req, 2 * N);
        is_int(back, 3 * N, "long work under way, %s: all comes back", who);
        ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) &&
               wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
           "long work under way, %s: DISCONNECTED on both sides", who);
        pair_close(&p);
        ok(all_bytes(to.mem, len, 7), "long work under way, %s: what came back is not touched", who);
        region_free(&to);
    }
    region_free(&from);
}

/*
 * Either side frees its memory during long messages. The messages arrive, or the connection ends.
 */
static void memory_goes(struct fx *fx)
{
    enum { N = 4 };
    const size_t len = 3 << 20;
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_message_size = len;
    for (int far = 0; far < 2; far++) {
        struct region from, to;
        struct pair p;

        region_make(fx, &from, len, DAT_MEM_PRIV_ALL_FLAG);
        region_make(fx, &to, len, DAT_MEM_PRIV_ALL_FLAG);
        pair_open(&p, fx, &attr);
        for (unsigned i = 0; i < N; i++)
            must_rc(post_recv(&p.b, &to, 0, len, i), DAT_SUCCESS, "dat_ep_post_recv");
        for (unsigned i = 0; i < N; i++)
            must_rc(post_send(&p.a, &from, 0, len, i), DAT_SUCCESS, "dat_ep_post_send");
        region_free(far ? &to : &from);
        is_int(drain_dtos(p.a.req, N) + drain_dtos(p.b.recv, N), 2 * N,
               "dat_lmr_free: under long messages, of the %s: all come back", far ? "receiver" : "sender");
        pair_close(&p);
        region_free(far ? &from : &to);
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "leaver", leaver },
                                              { "silent", silent },
                                              { "hasty", hasty },
                                              { NULL, NULL } };
    struct fx fx;
    struct region r;

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    either_side(&fx);
    both_sides(&fx);
    receives(&fx, &r);
    drained(&fx, &r);
    if (!none_waits("DISCONNECT_PENDING"))
        for (int ending = 0; ending < 3; ending++)
            pending(&fx, &r, ending);
    afterwards(&fx, &r);
    freed(&fx, &r);
    reused(&fx, &r);
    long_transfers(&fx);
    memory_goes(&fx);
    left(&fx, &r);
    if (!none_waits("graceful by the other process, its send waits"))
        left_silently(&fx);
    ended_at_once(&fx);
    left_after_accept(&fx);
    region_free(&r);
    is_success(dat_pz_free(fx.pz), "dat_pz_free: everything was freed: success");
    fx_close(&fx);
    return done_testing();
}
