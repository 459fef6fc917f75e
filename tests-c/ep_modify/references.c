/*
 * references.c - dat_ep_modify moves references: the endpoint releases the old PZ or EVD and refers
 * to the new PZ or EVD. A failed call moves no reference.
 */
#define _POSIX_C_SOURCE 200809L
#include "modify_common.h"

#include <string.h>

static struct fx fx;

/* A field of an endpoint that refers to a PZ or an EVD. */
struct reference {
    const char *name;
    DAT_EP_PARAM_MASK bit;
    DAT_UINT32 in_use; /* subtype of an attempt to free the object */
    bool zone;
    unsigned flags; /* of a suitable EVD */
};

static const struct reference references[] = {
    { "pz_handle", DAT_EP_FIELD_PZ_HANDLE, DAT_INVALID_STATE_PZ_IN_USE, true, 0 },
    { "recv_evd_handle", DAT_EP_FIELD_RECV_EVD_HANDLE, DAT_INVALID_STATE_EVD_IN_USE, false,
      DAT_EVD_DTO_FLAG },
    { "request_evd_handle", DAT_EP_FIELD_REQUEST_EVD_HANDLE, DAT_INVALID_STATE_EVD_IN_USE, false,
      DAT_EVD_DTO_FLAG },
    { "connect_evd_handle", DAT_EP_FIELD_CONNECT_EVD_HANDLE, DAT_INVALID_STATE_EVD_IN_USE, false,
      DAT_EVD_CONNECTION_FLAG },
};

static DAT_HANDLE make(const struct reference *r)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;

    if (!r->zone)
        return fx_evd(&fx, 16, r->flags);
    must_rc(dat_pz_create(fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    return pz;
}

static DAT_RETURN give_up(const struct reference *r, DAT_HANDLE h)
{
    return r->zone ? dat_pz_free(h) : dat_evd_free(h);
}

static DAT_RETURN modify(const struct reference *r, DAT_EP_HANDLE ep, DAT_HANDLE h)
{
    DAT_EP_PARAM p;

    param_rubbish(&p);
    if (r->bit == DAT_EP_FIELD_PZ_HANDLE)
        p.pz_handle = h;
    else if (r->bit == DAT_EP_FIELD_RECV_EVD_HANDLE)
        p.recv_evd_handle = h;
    else if (r->bit == DAT_EP_FIELD_REQUEST_EVD_HANDLE)
        p.request_evd_handle = h;
    else
        p.connect_evd_handle = h;
    return dat_ep_modify(ep, r->bit, &p);
}

static DAT_EP_HANDLE make_ep(DAT_HANDLE *of)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_ATTR attr;

    attr_default(&attr);
    must_rc(dat_ep_create(fx.ia, of[0], of[1], of[2], of[3], &attr, &ep), DAT_SUCCESS,
            "dat_ep_create");
    return ep;
}

/* Replaces the first object of a field by a second object, and the second by a third. */
static void move(int which)
{
    const struct reference *r = &references[which];
    DAT_HANDLE of[4], second = make(r), third = make(r);
    DAT_EP_HANDLE ep;

    for (int i = 0; i < 4; i++)
        of[i] = make(&references[i]);
    ep = make_ep(of);
    is_code(give_up(r, of[which]), DAT_INVALID_STATE, r->in_use,
            "%s: the first one, in use: DAT_INVALID_STATE", r->name);
    is_success(modify(r, ep, second), "dat_ep_modify: %s: success", r->name);
    is_success(give_up(r, of[which]), "%s: the first one can be freed", r->name);
    is_code(give_up(r, second), DAT_INVALID_STATE, r->in_use,
            "%s: the second one cannot: DAT_INVALID_STATE", r->name);

    /* Setting the same object again adds no reference. */
    is_success(modify(r, ep, second), "dat_ep_modify: %s: the same again: success", r->name);
    is_success(modify(r, ep, second), "dat_ep_modify: %s: and again: success", r->name);
    is_success(modify(r, ep, third), "dat_ep_modify: %s: a third one: success", r->name);
    is_success(give_up(r, second), "%s: the second one can be freed", r->name);
    is_code(give_up(r, third), DAT_INVALID_STATE, r->in_use,
            "%s: the third one cannot: DAT_INVALID_STATE", r->name);
    is_success(dat_ep_free(ep), "dat_ep_free: success");
    is_success(give_up(r, third), "%s: the endpoint is freed: the third one can be", r->name);
    for (int i = 0; i < 4; i++)
        if (i != which)
            is_success(give_up(&references[i], of[i]), "%s: never modified: can be freed",
                       references[i].name);
}

static void refused(int which)
{
    const struct reference *r = &references[which];
    DAT_HANDLE of[4], second = make(r);
    DAT_EP_HANDLE ep;
    DAT_EP_PARAM p;

    for (int i = 0; i < 4; i++)
        of[i] = make(&references[i]);
    ep = make_ep(of);
    param_rubbish(&p);
    p.pz_handle = p.recv_evd_handle = p.request_evd_handle = p.connect_evd_handle = second;
    p.ep_attr.max_rdma_write_iov = -1;
    is_type(dat_ep_modify(ep, r->bit | DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, &p),
            DAT_INVALID_PARAMETER, "dat_ep_modify: %s and a bad number: DAT_INVALID_PARAMETER",
            r->name);
    is_type(dat_ep_modify(ep, r->bit | DAT_EP_FIELD_IA_HANDLE, &p), DAT_INVALID_PARAMETER,
            "dat_ep_modify: %s and ia_handle: DAT_INVALID_PARAMETER", r->name);
    is_type(give_up(r, of[which]), DAT_INVALID_STATE,
            "%s: refused: the one in use is in use: DAT_INVALID_STATE", r->name);
    is_success(give_up(r, second), "%s: refused: the other object is not in use", r->name);
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    for (int i = 0; i < 4; i++)
        is_success(give_up(&references[i], of[i]), "%s: the endpoint is freed: can be freed",
                   references[i].name);
}

static void refused_by_state(void)
{
    struct pair p;
    DAT_PZ_HANDLE pz = make(&references[0]);
    DAT_EVD_HANDLE evd = make(&references[1]);

    pair_open(&p, &fx, NULL);
    is_type(modify(&references[0], p.a.ep, pz), DAT_INVALID_STATE,
            "dat_ep_modify: connected: pz_handle: DAT_INVALID_STATE");
    is_type(modify(&references[1], p.a.ep, evd), DAT_INVALID_STATE,
            "dat_ep_modify: connected: recv_evd_handle: DAT_INVALID_STATE");
    is_success(dat_pz_free(pz), "pz_handle: refused by the state: the other one can be freed");
    is_success(dat_evd_free(evd),
               "recv_evd_handle: refused by the state: the other one can be freed");
    is_type(dat_evd_free(p.a.recv), DAT_INVALID_STATE,
            "recv_evd_handle: refused by the state: the one in use is in use");
    pair_close(&p);
}

static void none(void)
{
    DAT_HANDLE of[4];
    DAT_EP_HANDLE ep;

    for (int i = 0; i < 4; i++)
        of[i] = make(&references[i]);
    ep = make_ep(of);
    is_success(modify(&references[0], ep, DAT_HANDLE_NULL), "dat_ep_modify: pz_handle NULL: success");
    is_success(modify(&references[3], ep, DAT_HANDLE_NULL),
               "dat_ep_modify: connect_evd_handle NULL: success");
    is_success(dat_pz_free(of[0]), "pz_handle NULL: the zone can be freed");
    is_success(dat_evd_free(of[3]), "connect_evd_handle NULL: the EVD can be freed");
    is_success(dat_ep_free(ep), "dat_ep_free: success");
    is_success(dat_evd_free(of[1]), "recv_evd_handle: can be freed");
    is_success(dat_evd_free(of[2]), "request_evd_handle: can be freed");
}

/* An EVD in two fields of an endpoint has two references. */
static void in_two_places(void)
{
    DAT_HANDLE of[4], other = make(&references[2]);
    DAT_EP_HANDLE ep;

    of[0] = make(&references[0]);
    of[1] = of[2] = make(&references[1]);
    of[3] = make(&references[3]);
    ep = make_ep(of);
    is_success(modify(&references[2], ep, other), "dat_ep_modify: request_evd_handle: success");
    is_type(dat_evd_free(of[1]), DAT_INVALID_STATE,
            "an EVD for both directions: still the receive EVD: DAT_INVALID_STATE");
    is_success(modify(&references[1], ep, other), "dat_ep_modify: recv_evd_handle: success");
    is_success(dat_evd_free(of[1]), "an EVD for both directions: in neither place: can be freed");
    is_type(dat_evd_free(other), DAT_INVALID_STATE,
            "the other one is in both places now: DAT_INVALID_STATE");
    is_success(dat_ep_free(ep), "dat_ep_free: success");
    is_success(dat_evd_free(other), "the endpoint is freed: the EVD can be");
    is_success(dat_evd_free(of[3]), "connect_evd_handle: can be freed");
    is_success(dat_pz_free(of[0]), "pz_handle: can be freed");
}

static void through_a_connection(void)
{
    struct side a, b;
    DAT_EVD_HANDLE second = fx_evd(&fx, 16, DAT_EVD_DTO_FLAG);
    DAT_EVD_HANDLE first;

    side_make(&a, &fx, NULL);
    side_make(&b, &fx, NULL);
    first = b.recv;
    must_rc(modify(&references[1], b.ep, second), DAT_SUCCESS, "dat_ep_modify");
    sides_connect(&a, &b);
    is_type(dat_evd_free(second), DAT_INVALID_STATE,
            "connected: the modified receive EVD is in use: DAT_INVALID_STATE");
    must_rc(dat_ep_disconnect(b.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    is_type(dat_evd_free(second), DAT_INVALID_STATE,
            "disconnected: the modified receive EVD is in use: DAT_INVALID_STATE");
    must_rc(dat_ep_reset(b.ep), DAT_SUCCESS, "dat_ep_reset");
    is_success(modify(&references[1], b.ep, first), "dat_ep_modify: after dat_ep_reset: success");
    is_success(dat_evd_free(second), "after dat_ep_reset: the old receive EVD can be freed");
    side_free(&a);
    side_free(&b);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    for (int i = 0; i < 4; i++)
        move(i);
    for (int i = 0; i < 4; i++)
        refused(i);
    refused_by_state();
    none();
    in_two_places();
    through_a_connection();
    /* Only the objects of fx_open() remain. */
    is_success(dat_pz_free(fx.pz), "the fixture's zone can be freed");
    is_success(dat_evd_free(fx.cr), "the fixture's EVD can be freed");
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: graceful: no reference is left anywhere");
    return done_testing();
}
