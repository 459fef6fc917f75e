/* reserved.c - connections through reserved service points. */
#include "common/fixture.h"

#include <string.h>

static DAT_RETURN reserve_on(DAT_EVD_HANDLE evd, struct side *s, DAT_CONN_QUAL *qual, DAT_RSP_HANDLE *rsp)
{
    DAT_RETURN rc;

    do
        *qual = unique_qual(false);
    while (rc_is(rc = dat_rsp_create(s->fx->ia, *qual, s->ep, evd, rsp), DAT_CONN_QUAL_IN_USE));
    return rc;
}

static DAT_RETURN reserve(struct side *s, DAT_CONN_QUAL *qual, DAT_RSP_HANDLE *rsp)
{
    return reserve_on(s->fx->cr, s, qual, rsp);
}

/* Frees the RSP. After the arrival of its request, the handle may already be invalid. */
static void release(DAT_RSP_HANDLE rsp, const char *when)
{
    DAT_RETURN rc = dat_rsp_free(rsp);

    ok(rc == DAT_SUCCESS || rc_is(rc, DAT_INVALID_HANDLE),
       "dat_rsp_free: %s: success, or gone already", when);
}

static void accepted(struct fx *fx)
{
    struct side a, b, second;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    DAT_CR_ARRIVAL_EVENT_DATA *arrival;
    DAT_CR_PARAM cr;
    DAT_EP_PARAM p;
    DAT_EVENT event;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(reserve(&b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    if (!ok(wait_number(fx->cr, DAT_CONNECTION_REQUEST_EVENT, &event),
            "reserved: a request arrives"))
        bail("no request");
    arrival = &event.event_data.cr_arrival_event_data;
    ok(arrival->sp_handle.rsp_handle == rsp || arrival->sp_handle.rsp_handle == DAT_HANDLE_NULL,
       "reserved: sp_handle: the service point, or NULL");
    ok(arrival->conn_qual == qual, "reserved: conn_qual: true");
    is_state(ep_state(b.ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
             "reserved: the endpoint is PASSIVE_CONNECTION_PENDING");
    must_rc(dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, &cr), DAT_SUCCESS, "dat_cr_query");
    is_ptr(cr.local_ep_handle, b.ep, "dat_cr_query: reserved: local_ep_handle is the endpoint");

    side_make(&second, fx, NULL);
    must_rc(side_connect(&second, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(second.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "reserved: a second request: NON_PEER_REJECTED");
    is_code(dat_cr_accept(arrival->cr_handle, second.ep, 0, NULL), DAT_INVALID_HANDLE,
            DAT_INVALID_HANDLE_EP, "dat_cr_accept: reserved, another endpoint: DAT_INVALID_HANDLE");
    is_success(dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: PASSIVE_CONNECTION_PENDING: success");
    ok(p.local_port_qual == qual, "dat_ep_query: PASSIVE_CONNECTION_PENDING: local_port_qual is the qualifier of the RSP");
    ok(same_address(p.remote_ia_address_ptr, cr.remote_ia_address_ptr) && p.remote_port_qual == cr.remote_port_qual,
       "dat_ep_query: PASSIVE_CONNECTION_PENDING: the peer's address and qualifier are those of the CR");

    is_success(dat_cr_accept(arrival->cr_handle, DAT_HANDLE_NULL, 0, NULL),
               "dat_cr_accept: reserved, endpoint NULL: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "reserved: accepted: both ends ESTABLISHED");
    ok(sides_talk(&a, &b), "reserved: accepted: messages both ways");
    release(rsp, "after its request");
    ok(sides_talk(&a, &b), "reserved: freed: the connection goes on");
    side_free(&a);
    side_free(&b);
    side_free(&second);
}

static void rejected(struct fx *fx)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(reserve(&b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    is_success(dat_cr_reject(next_request(fx->cr)), "dat_cr_reject: reserved: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_PEER_REJECTED),
       "dat_cr_reject: reserved: PEER_REJECTED");
    is_state(ep_state(b.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_cr_reject: reserved: the endpoint is UNCONNECTED");
    release(rsp, "after dat_cr_reject");
    must_rc(dat_ep_reset(a.ep), DAT_SUCCESS, "dat_ep_reset");
    sides_connect(&b, &a);
    ok(sides_talk(&a, &b), "dat_cr_reject: reserved: the endpoint can be used again");
    side_free(&a);
    side_free(&b);
}

static void freed_early(struct fx *fx)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    DAT_CR_HANDLE cr;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(reserve(&b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx->cr);
    release(rsp, "request unanswered");
    is_state(ep_state(b.ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
             "dat_rsp_free: request unanswered: still PASSIVE_CONNECTION_PENDING");
    is_success(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL),
               "dat_cr_accept: reserved, service point freed: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "dat_cr_accept: reserved, service point freed: both ends ESTABLISHED");
    side_free(&a);
    side_free(&b);
}

/* A request whose event is freed with its EVD cannot be answered. */
static void unread(struct fx *fx)
{
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_CR_FLAG);
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(reserve_on(evd, &b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must(wait_state(b.ep, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING), "no request");
    release(rsp, "request unread");
    is_success(dat_evd_free(evd), "dat_evd_free: with a connection request queued: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_evd_free: with a connection request queued: the peer: NON_PEER_REJECTED");
    is_state(ep_state(b.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_evd_free: with a connection request queued: the endpoint is UNCONNECTED");
    side_free(&a);
    side_free(&b);
}

static void nobody_came(struct fx *fx)
{
    struct side a, b;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(reserve(&b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    is_success(dat_rsp_free(rsp), "dat_rsp_free: no request: success");
    is_state(ep_state(b.ep), DAT_EP_STATE_UNCONNECTED, "dat_rsp_free: no request: UNCONNECTED");
    must_rc(side_connect(&a, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
       "dat_rsp_free: a request afterwards: NON_PEER_REJECTED");
    side_free(&a);
    side_free(&b);
}

static void complete(struct fx *fx)
{
    char hello[48], answer[48];
    struct side a, b;
    struct region r;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    DAT_CR_HANDLE cr;
    DAT_CR_PARAM q;
    DAT_EVENT event;

    memset(hello, 'h', sizeof hello);
    memset(answer, 'a', sizeof answer);
    region_make(fx, &r, 256, MEM_LOCAL);
    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(reserve(&b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    is_success(post_recv(&b, &r, 0, 64, 1), "dat_ep_post_recv: RESERVED: success");
    must_rc(dat_ep_connect(a.ep, fx_address(fx), qual, env_us(SOON_MS), 48, hello,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx->cr);
    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &q), DAT_SUCCESS, "dat_cr_query");
    ok(q.private_data_size >= 48 && memcmp(q.private_data, hello, 48) == 0,
       "reserved: private data of the active side");
    is_success(post_recv(&b, &r, 64, 64, 2), "dat_ep_post_recv: PASSIVE_CONNECTION_PENDING: success");
    must_rc(dat_cr_accept(cr, DAT_HANDLE_NULL, 48, answer), DAT_SUCCESS, "dat_cr_accept");
    ok(wait_number(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event) &&
           event.event_data.connect_event_data.private_data_size >= 48 &&
           memcmp(event.event_data.connect_event_data.private_data, answer, 48) == 0,
       "reserved: private data of the passive side");
    pattern_fill(r.mem + 128, 128, 9);
    must_rc(post_send(&a, &r, 128, 64, 3), DAT_SUCCESS, "dat_ep_post_send");
    must_rc(post_send(&a, &r, 128, 64, 4), DAT_SUCCESS, "dat_ep_post_send");
    must(wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    ok(wait_dto(b.recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(b.recv, 2, DAT_DTO_SUCCESS, NULL) &&
           pattern_check(r.mem, 64, 9) < 0 && pattern_check(r.mem + 64, 64, 9) < 0,
       "reserved: receives posted before acceptance take the first messages");
    side_free(&a);
    side_free(&b);
    region_free(&r);
}

/* An abrupt close succeeds with a reserved and a pending endpoint. */
static void closed(void)
{
    struct fx fx;
    struct side a, b, c;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp;

    fx_open(&fx);
    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    side_make(&c, &fx, NULL);
    must_rc(reserve(&c, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    must_rc(reserve(&b, &qual, &rsp), DAT_SUCCESS, "dat_rsp_create");
    must_rc(side_connect(&a, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    next_request(fx.cr);
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ia_close: abrupt, RESERVED and PASSIVE_CONNECTION_PENDING: success");
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct side probe;
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    side_make(&probe, &fx, NULL);
    rc = reserve(&probe, &qual, &rsp);
    if (rc_not_implemented(rc)) {
        fx_close(&fx);
        skip_all("dat_rsp_create: not implemented");
    }
    must_rc(rc, DAT_SUCCESS, "dat_rsp_create");
    must_rc(dat_rsp_free(rsp), DAT_SUCCESS, "dat_rsp_free");
    accepted(&fx);
    rejected(&fx);
    freed_early(&fx);
    unread(&fx);
    nobody_came(&fx);
    complete(&fx);
    closed();
    fx_close(&fx);
    return done_testing();
}
