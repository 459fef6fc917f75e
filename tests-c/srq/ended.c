/*
 * ended.c - uDAPL 2.0 reports the end of a connection of an endpoint with an SRQ by an asynchronous
 * event, DAT_ASYNC_ERROR_EP_BROKEN: one per end, in the order of the connection events. uDAPL 1.2 has
 * no such event.
 */
#include "srq_common.h"

#include <string.h>

#define MANY 40

static struct fx fx;
static struct srq q;

/* Returns whether the next asynchronous event reports the end of this endpoint's connection. In 1.2 returns true. */
static bool told(DAT_EP_HANDLE ep)
{
    const DAT_ASYNCH_ERROR_EVENT_DATA *d;
    DAT_EVENT event;

    if (UDAPL == 12)
        return true;
    memset(&event, 0x5a, sizeof event);
    if (!wait_number(fx.async, DAT_ASYNC_ERROR_EP_BROKEN, &event))
        return false;
    d = &event.event_data.asynch_error_event_data;
    if (d->dat_handle == ep && d->reason == 1)
        return true;
    diag("%s endpoint, reason %d", d->dat_handle == ep ? "right" : "wrong", (int)d->reason);
    return false;
}

/* Connects endpoint a to endpoint b. b uses the queue, and so does a if `both`. */
static void make(struct pair *p, bool both)
{
    if (both)
        side_make_srq(&p->a, &fx, q.handle, NULL);
    else
        side_make(&p->a, &fx, NULL);
    side_make_srq(&p->b, &fx, q.handle, NULL);
    sides_connect(&p->a, &p->b);
}

static void orderly(void)
{
    for (int graceful = 0; graceful < 2; graceful++) {
        const char *how = graceful ? "graceful" : "abrupt";
        struct pair p;

        make(&p, false);
        ok(quiet(fx.async), "%s: nothing before", how);
        must_rc(dat_ep_disconnect(p.a.ep, graceful ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS,
                "dat_ep_disconnect");
        ok(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) &&
               wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
           "%s, by the other side: DISCONNECTED", how);
        ok(told(p.b.ep), "%s, by the other side: an event of the endpoint on the queue", how);
        ok(quiet(fx.async), "%s: one event, and none of the endpoint with receives of its own", how);
        is_state(ep_state(p.b.ep), DAT_EP_STATE_DISCONNECTED, "%s: the endpoint is DISCONNECTED", how);

        must_rc(dat_ep_reset(p.a.ep), DAT_SUCCESS, "dat_ep_reset");
        must_rc(dat_ep_reset(p.b.ep), DAT_SUCCESS, "dat_ep_reset");
        ok(quiet(fx.async), "%s: dat_ep_reset: no event", how);
        sides_connect(&p.a, &p.b);
        must_rc(dat_ep_disconnect(p.b.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        ok(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED) && told(p.b.ep),
           "%s: connected anew, ended by itself: told again", how);
        must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
        pair_close(&p);
        ok(quiet(fx.async), "%s: dat_ep_free of ended endpoints: no event", how);
    }
}

static void broken(void)
{
    struct region r;
    struct pair p;
    DAT_RMR_TRIPLET nowhere;

    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    make(&p, true);
    nowhere = target(&r, 0, 64);
    nowhere.rmr_context ^= 0x55555555u;
    must_rc(post_write(&p.a, &r, 64, 64, nowhere, 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
    ok(wait_broken(p.a.conn), "an access that is refused: the end");
    ok(wait_state(p.b.ep, DAT_EP_STATE_DISCONNECTED), "an access that is refused: the other side ends, too");
    {
        DAT_EVENT event[2];
        int got = 0;

        while (got < 2 && wait_event_ms(fx.async, UDAPL == 20 ? SOON_MS : QUIET_MS, &event[got]))
            got++;
        is_int(got, UDAPL == 20 ? 2 : 0, "an access that is refused: an event of each endpoint");
        if (got == 2) {
            DAT_HANDLE one = event[0].event_data.asynch_error_event_data.dat_handle;
            DAT_HANDLE two = event[1].event_data.asynch_error_event_data.dat_handle;

            ok(event[0].event_number == DAT_ASYNC_ERROR_EP_BROKEN && event[1].event_number == DAT_ASYNC_ERROR_EP_BROKEN &&
                   ((one == p.a.ep && two == p.b.ep) || (one == p.b.ep && two == p.a.ep)),
               "an access that is refused: each endpoint once");
        }
    }
    ok(quiet(fx.async), "an access that is refused: no more");
    pair_close(&p);
    region_free(&r);
}

static void never(void)
{
    struct side s;
    struct pair p;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);

    side_make_srq(&s, &fx, q.handle, NULL);
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_reject(next_request(fx.cr)), DAT_SUCCESS, "dat_cr_reject");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_PEER_REJECTED), "no PEER_REJECTED");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_ep_reset(s.ep), DAT_SUCCESS, "dat_ep_reset");
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED), "no NON_PEER_REJECTED");
    side_free(&s);
    ok(quiet(fx.async), "refused attempts: no event");

    make(&p, false);
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    p.b.ep = DAT_HANDLE_NULL;
    must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    ok(quiet(fx.async), "dat_ep_free of a connected endpoint: no event");
    pair_close(&p);
}

/* Frees the endpoint before the event is taken. The event names it, and every call refuses the handle. */
static void freed(void)
{
    const DAT_ASYNCH_ERROR_EVENT_DATA *d;
    DAT_HANDLE_TYPE type;
    DAT_EVENT event;
    struct pair p;
    DAT_HANDLE ep;

    make(&p, false);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    ep = p.b.ep;
    must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
    p.b.ep = DAT_HANDLE_NULL;
    is_type(dat_get_handle_type(ep, &type), DAT_INVALID_HANDLE, "freed before its event is taken: DAT_INVALID_HANDLE");
    if (UDAPL == 20) {
        d = &event.event_data.asynch_error_event_data;
        ok(wait_number(fx.async, DAT_ASYNC_ERROR_EP_BROKEN, &event) && d->dat_handle == ep &&
               d->reason == DAT_EP_OTHER_ERROR,
           "freed before its event is taken: the event names the endpoint");
    }
    ok(quiet(fx.async), "freed before its event is taken: no more");
    pair_close(&p);
}

/* The second process: on request, disconnects all its endpoints. */
static int caller(struct link *up)
{
    struct fx own;
    static struct side s[MANY];

    fx_open(&own);
    for (int i = 0; i < MANY; i++) {
        side_make(&s[i], &own, NULL);
        side_connect_peer(&s[i], up);
    }
    must(link_hear(up, "end"), "no word");
    for (int i = 0; i < MANY; i++)
        must_rc(dat_ep_disconnect(s[(i * 7) % MANY].ep, i % 2 == 0 ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG),
                DAT_SUCCESS, "dat_ep_disconnect");
    must(link_hear(up, "bye"), "no word");
    fx_close(&own);
    return 0;
}

/* Ends many connections from the other process and, if from_here is set, every third also from this process. */
static void many(bool from_here)
{
    const char *what = from_here ? "many ends, by both sides at once" : "many ends, by the other side";
    DAT_EVD_HANDLE conn = fx_evd(&fx, 4 * MANY, DAT_EVD_CONNECTION_FLAG);
    DAT_EVD_HANDLE dto = fx_evd(&fx, 4 * MANY, DAT_EVD_DTO_FLAG);
    struct side s[MANY];
    struct peer p;
    DAT_EP_ATTR attr;
    int ended = 0, in_order = 0;

    attr_default(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    peer_start(&p, "caller");
    for (int i = 0; i < MANY; i++) {
        s[i] = (struct side){ .fx = &fx, .conn = conn };
        must_rc(dat_ep_create_with_srq(fx.ia, fx.pz, dto, dto, conn, q.handle, &attr, &s[i].ep), DAT_SUCCESS,
                "dat_ep_create_with_srq");
        side_accept_peer(&s[i], &p.link);
    }
    link_say(&p.link, "end");
    if (from_here)
        for (int i = 0; i < MANY; i += 3)
            dat_ep_disconnect(s[i].ep, DAT_CLOSE_ABRUPT_FLAG);
    for (int i = 0; i < MANY; i++) {
        DAT_EVENT event;

        if (!wait_number(conn, DAT_CONNECTION_EVENT_DISCONNECTED, &event))
            break;
        ended++;
        in_order += told(event.event_data.connect_event_data.ep_handle);
    }
    is_int(ended, MANY, "%s: DISCONNECTED, each", what);
    is_int(in_order, MANY, "%s: an event of each, in the order of the connection events", what);
    ok(quiet(fx.async), "%s: one each", what);
    link_say(&p.link, "bye");
    peer_ok(&p, "%s: the other process ends well", what);
    for (int i = 0; i < MANY; i++)
        must_rc(dat_ep_free(s[i].ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(conn), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_evd_free(dto), DAT_SUCCESS, "dat_evd_free");
    ok(quiet(fx.async), "%s: dat_ep_free: no event", what);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "caller", caller }, { NULL, NULL } };

    env_init(argc, argv, roles);
    fx_open(&fx);
    srq_open(&q, &fx, 64, 64, 64);
    orderly();
    broken();
    never();
    freed();
    many(false);
    many(true);
    fx_close(&fx);
    return done_testing();
}
