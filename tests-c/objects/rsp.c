/* rsp.c - reserved service points: dat_rsp_create, _query, _free. */
#include "common/zoo.h"

#include <string.h>

struct parts {
    DAT_IA_HANDLE ia;
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE evd;
};

static DAT_RETURN create(const struct parts *p)
{
    DAT_RSP_HANDLE rsp = UNTOUCHED;

    return dat_rsp_create(p->ia, unique_qual(false), p->ep, p->evd, &rsp);
}

#define WITH(field)                                         \
    static DAT_RETURN with_##field(DAT_HANDLE h, void *arg) \
    {                                                       \
        struct parts p = *(struct parts *)arg;              \
        p.field = h;                                        \
        return create(&p);                                  \
    }
WITH(ia)
WITH(ep)
WITH(evd)

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    DAT_RSP_PARAM p;

    (void)arg;
    return dat_rsp_query(h, DAT_RSP_FIELD_ALL, &p);
}

static DAT_RETURN do_free(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_rsp_free(h);
}

/* Creates an RSP with the next free qualifier. */
static DAT_RETURN reserve(struct fx *fx, DAT_EP_HANDLE ep, DAT_CONN_QUAL *q, DAT_RSP_HANDLE *rsp)
{
    DAT_RETURN rc;

    do
        *q = unique_qual(false);
    while (rc_is(rc = dat_rsp_create(fx->ia, *q, ep, fx->cr, rsp), DAT_CONN_QUAL_IN_USE));
    return rc;
}

static void handles(struct zoo *z)
{
    DAT_EVD_HANDLE evd = fx_evd(&z->fx, 4, DAT_EVD_CR_FLAG);
    DAT_RSP_HANDLE freed = UNTOUCHED;
    DAT_CONN_QUAL q;
    struct side s;
    DAT_EP_HANDLE ep;
    struct parts p;

    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    side_make(&s, &z->fx, NULL);
    must_rc(reserve(&z->fx, s.ep, &q, &freed), DAT_SUCCESS, "dat_rsp_create");
    must_rc(dat_rsp_free(freed), DAT_SUCCESS, "dat_rsp_free");
    ep = s.ep;
    side_free(&s);
    p.ia = z->fx.ia;
    p.ep = z->side.ep;
    p.evd = z->fx.cr;
    zoo_sweep(z, "dat_rsp_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, with_ia, &p);
    zoo_sweep(z, "dat_rsp_create, ep_handle", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, ep,
              ZOO_NULL_OK, with_ep, &p);
    zoo_sweep(z, "dat_rsp_create, evd_handle", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_CR, evd,
              0, with_evd, &p);
    zoo_sweep(z, "dat_rsp_query", DAT_HANDLE_TYPE_RSP, DAT_INVALID_HANDLE_RSP, freed, 0, do_query,
              NULL);
    zoo_sweep(z, "dat_rsp_free", DAT_HANDLE_TYPE_RSP, DAT_INVALID_HANDLE_RSP, freed, 0, do_free,
              NULL);
    zoo_intact(z, "dat_rsp_free");
}

static void parameters(struct zoo *z)
{
    struct fx *fx = &z->fx, other;
    DAT_EVD_HANDLE dto = fx_evd(fx, 4, DAT_EVD_DTO_FLAG);
    DAT_RSP_HANDLE rsp = UNTOUCHED;
    struct side foreign;

    is_code(dat_rsp_create(fx->ia, 0, z->side.ep, fx->cr, &rsp), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, "dat_rsp_create: qualifier 0: DAT_INVALID_PARAMETER");
    is_code(dat_rsp_create(fx->ia, unique_qual(false), z->side.ep, fx->cr, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_rsp_create: no place for the handle: DAT_INVALID_PARAMETER");
    is_code(dat_rsp_create(fx->ia, unique_qual(false), z->side.ep, dto, &rsp), DAT_INVALID_HANDLE,
            DAT_INVALID_HANDLE_EVD_CR,
            "dat_rsp_create: EVD without the CR flag: DAT_INVALID_HANDLE");
    is_either(dat_rsp_create(fx->ia, unique_qual(false), DAT_HANDLE_NULL, fx->cr, &rsp),
              DAT_MODEL_NOT_SUPPORTED, DAT_INVALID_HANDLE, "dat_rsp_create: EP NULL: refused");
    is_type(dat_rsp_create(fx->ia, z->rsp_qual, z->side.ep, fx->cr, &rsp), DAT_CONN_QUAL_IN_USE,
            "dat_rsp_create: qualifier of another RSP: DAT_CONN_QUAL_IN_USE");
    is_type(dat_rsp_create(fx->ia, z->psp_qual, z->side.ep, fx->cr, &rsp), DAT_CONN_QUAL_IN_USE,
            "dat_rsp_create: qualifier of a PSP: DAT_CONN_QUAL_IN_USE");
    is_type(dat_psp_create(fx->ia, z->rsp_qual, fx->cr, DAT_PSP_CONSUMER_FLAG, &rsp),
            DAT_CONN_QUAL_IN_USE, "dat_psp_create: qualifier of an RSP: DAT_CONN_QUAL_IN_USE");
    is_code(dat_rsp_create(fx->ia, unique_qual(false), z->reserved.ep, fx->cr, &rsp),
            DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED,
            "dat_rsp_create: EP reserved already: DAT_INVALID_STATE");
    fx_open(&other);
    side_make(&foreign, &other, NULL);
    is_code(dat_rsp_create(fx->ia, unique_qual(false), foreign.ep, fx->cr, &rsp),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
            "dat_rsp_create: EP of another open: DAT_INVALID_HANDLE");
    fx_close(&other);
    ok(rsp == UNTOUCHED, "dat_rsp_create: error: the handle is untouched");
    is_state(ep_state(z->side.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_rsp_create: error: the endpoint is UNCONNECTED");
    must_rc(dat_evd_free(dto), DAT_SUCCESS, "dat_evd_free");
}

static void life(struct fx *fx)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    DAT_RSP_PARAM p, before;
    DAT_CONN_QUAL q;
    DAT_EVD_HANDLE evd = fx->cr;
    struct side s;

    side_make(&s, fx, NULL);
    is_success(reserve(fx, s.ep, &q, &rsp), "dat_rsp_create: success");
    is_state(ep_state(s.ep), DAT_EP_STATE_RESERVED, "dat_rsp_create: the endpoint is RESERVED");
    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_rsp_query(rsp, (DAT_RSP_PARAM_MASK)(DAT_RSP_FIELD_ALL + 1), &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_rsp_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_rsp_query: error: the structure is untouched");
    is_code(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_rsp_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &p), "dat_rsp_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_rsp_query: ia_handle: true");
    ok(p.conn_qual == q, "dat_rsp_query: conn_qual: true");
    is_ptr(p.evd_handle, evd, "dat_rsp_query: evd_handle: true");
    is_ptr(p.ep_handle, s.ep, "dat_rsp_query: ep_handle: true");
    is_code(dat_evd_free(evd), DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
            "dat_evd_free: takes the request of an RSP: DAT_INVALID_STATE");
    is_code(dat_ep_free(s.ep), DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED,
            "dat_ep_free: reserved: DAT_INVALID_STATE");
    is_success(dat_rsp_free(rsp), "dat_rsp_free: no request yet: success");
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED, "dat_rsp_free: the endpoint is UNCONNECTED");
    is_success(reserve(fx, s.ep, &q, &rsp), "dat_rsp_create: the same endpoint again: success");
    is_success(dat_rsp_free(rsp), "dat_rsp_free: success");
    side_free(&s);
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    if (z.of[DAT_HANDLE_TYPE_RSP] == DAT_HANDLE_NULL) {
        fx_close(&z.fx);
        skip_all("dat_rsp_create: not implemented");
    }
    handles(&z);
    parameters(&z);
    life(&z.fx);
    zoo_close(&z);
    return done_testing();
}
