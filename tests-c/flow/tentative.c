/* tentative.c - service points in provider mode: the request contains an endpoint. */
#include "common/fixture.h"

#include <string.h>

/* Connects `caller`. Returns the connection request and, in *ep, the endpoint of the request. */
static DAT_CR_HANDLE arrive(struct fx *fx, struct side *caller, DAT_CONN_QUAL qual,
                            DAT_EP_HANDLE *ep)
{
    DAT_CR_HANDLE cr;
    DAT_CR_PARAM p;

    side_make(caller, fx, NULL);
    must_rc(side_connect(caller, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx->cr);
    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
    *ep = p.local_ep_handle;
    return cr;
}

/* Sets the PZ and new EVDs of an endpoint that has neither. */
static DAT_RETURN equip(struct side *s, struct fx *fx, DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM p;

    side_make(s, fx, NULL);
    must_rc(dat_ep_free(s->ep), DAT_SUCCESS, "dat_ep_free");
    s->ep = ep;
    memset(&p, 0, sizeof p);
    p.pz_handle = fx->pz;
    p.recv_evd_handle = s->recv;
    p.request_evd_handle = s->req;
    p.connect_evd_handle = s->conn;
    return dat_ep_modify(ep,
                         DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                             DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                         &p);
}

static void accepted(struct fx *fx, DAT_CONN_QUAL qual)
{
    struct side a, b;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_CR_HANDLE cr = arrive(fx, &a, qual, &ep);
    DAT_EP_PARAM p;
    struct region r;

    if (!ok(ep != DAT_HANDLE_NULL, "provider mode: the request comes with an endpoint"))
        return;
    is_state(ep_state(ep), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
             "provider mode: the endpoint is TENTATIVE_CONNECTION_PENDING");
    is_success(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), "dat_ep_query: tentative: success");
    ok(p.pz_handle == DAT_HANDLE_NULL && p.recv_evd_handle == DAT_HANDLE_NULL &&
           p.request_evd_handle == DAT_HANDLE_NULL && p.connect_evd_handle == DAT_HANDLE_NULL,
       "dat_ep_query: tentative: no zone and no EVD");
    is_ptr(p.ia_handle, fx->ia, "dat_ep_query: tentative: ia_handle is true");
    is_code(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_cr_accept: tentative, no zone: DAT_INVALID_HANDLE");
    is_code(dat_ep_free(ep), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_TENTCONNPENDING,
            "dat_ep_free: tentative: DAT_INVALID_STATE");
    {
        DAT_RETURN rc = equip(&b, fx, ep);

        if (!is_success(rc, "dat_ep_modify: tentative, zone and EVDs: success"))
            return;
    }
    is_code(side_connect(&b, fx_address(fx), qual), DAT_INVALID_STATE,
            DAT_INVALID_STATE_EP_TENTCONNPENDING,
            "dat_ep_connect: tentative, zone and EVDs set: DAT_INVALID_STATE");
    is_code(dat_cr_accept(cr, a.ep, 0, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_cr_accept: tentative, another endpoint: DAT_INVALID_HANDLE");
    region_make(fx, &r, 128, MEM_LOCAL);
    is_success(post_recv(&b, &r, 0, 64, 5), "dat_ep_post_recv: tentative, with a zone: success");
    is_success(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL),
               "dat_cr_accept: tentative, endpoint NULL: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(b.conn, DAT_CONNECTION_EVENT_ESTABLISHED),
       "provider mode: accepted: both ends ESTABLISHED");
    must_rc(post_send(&a, &r, 64, 64, 6), DAT_SUCCESS, "dat_ep_post_send");
    ok(wait_dto(b.recv, 5, DAT_DTO_SUCCESS, NULL) && wait_dto(a.req, 6, DAT_DTO_SUCCESS, NULL),
       "provider mode: the receive posted before acceptance takes the first message");
    ok(sides_talk(&a, &b), "provider mode: accepted: messages both ways");
    must_rc(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_connection(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "provider mode: DISCONNECTED");
    is_success(dat_ep_reset(b.ep), "dat_ep_reset: endpoint of the provider: success");
    must_rc(wait_connection(a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) ? dat_ep_reset(a.ep)
                                                                       : DAT_INTERNAL_ERROR,
            DAT_SUCCESS, "dat_ep_reset");
    sides_connect(&b, &a);
    ok(sides_talk(&b, &a), "provider mode: the endpoint can be used again, as any other");
    side_free(&a);
    side_free(&b);
    region_free(&r);
}

static void rejected(struct fx *fx, DAT_CONN_QUAL qual)
{
    struct side a;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_CR_HANDLE cr = arrive(fx, &a, qual, &ep);
    DAT_EP_STATE s;

    is_success(dat_cr_reject(cr), "dat_cr_reject: provider mode: success");
    ok(wait_connection(a.conn, DAT_CONNECTION_EVENT_PEER_REJECTED),
       "dat_cr_reject: provider mode: PEER_REJECTED");
    is_type(dat_ep_get_status(ep, &s, NULL, NULL), DAT_INVALID_HANDLE,
            "dat_cr_reject: provider mode: the endpoint is gone");
    side_free(&a);
}

static void rejected_equipped(struct fx *fx, DAT_CONN_QUAL qual)
{
    struct side a, b;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_CR_HANDLE cr = arrive(fx, &a, qual, &ep);
    DAT_RETURN rc = equip(&b, fx, ep);

    if (rc_not_implemented(rc)) {
        skip_named("dat_cr_reject: tentative, with EVDs", "dat_ep_modify: not implemented");
        return;
    }
    must_rc(rc, DAT_SUCCESS, "dat_ep_modify");
    is_code(dat_evd_free(b.recv), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
            "dat_evd_free: a tentative endpoint has it: DAT_INVALID_STATE");
    must_rc(dat_cr_reject(cr), DAT_SUCCESS, "dat_cr_reject");
    b.ep = DAT_HANDLE_NULL;
    side_free(&b);
    pass("dat_evd_free: the tentative endpoint was rejected: success");
    side_free(&a);
}

static void closed(void)
{
    struct fx fx;
    struct side a;
    DAT_CONN_QUAL qual;
    DAT_EP_HANDLE ep;

    fx_open(&fx);
    fx_listen_on(&fx, fx.cr, DAT_PSP_PROVIDER_FLAG, &qual);
    arrive(&fx, &a, qual, &ep);
    is_type(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
            "dat_ia_close: graceful, a request is unanswered: DAT_INVALID_STATE");
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG),
               "dat_ia_close: abrupt, TENTATIVE_CONNECTION_PENDING: success");
    is_type(dat_ep_query(ep, DAT_EP_FIELD_ALL, &(DAT_EP_PARAM){ 0 }), DAT_INVALID_HANDLE,
            "dat_ep_query: tentative, adapter closed: DAT_INVALID_HANDLE");
}

int main(int argc, char **argv)
{
    struct fx fx;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    rc = dat_psp_create_any(fx.ia, &qual, fx.cr, DAT_PSP_PROVIDER_FLAG, &psp);
    if (rc_not_implemented(rc) || rc_is(rc, DAT_MODEL_NOT_SUPPORTED)) {
        fx_close(&fx);
        skip_all("the provider creates no endpoints");
    }
    must_rc(rc, DAT_SUCCESS, "dat_psp_create_any");
    accepted(&fx, qual);
    rejected(&fx, qual);
    rejected_equipped(&fx, qual);
    is_success(dat_psp_free(psp), "dat_psp_free: provider mode: success");
    closed();
    fx_close(&fx);
    return done_testing();
}
