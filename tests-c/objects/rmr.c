/* rmr.c - RMRs: dat_rmr_create, _query, _bind, _free. flow/window.c tests their use. */
#include "common/zoo.h"

#include <string.h>

static DAT_RETURN create_in(DAT_HANDLE pz, void *arg)
{
    DAT_RMR_HANDLE rmr;

    (void)arg;
    return dat_rmr_create(pz, &rmr);
}

static DAT_RETURN query(DAT_HANDLE rmr, void *arg)
{
    DAT_RMR_PARAM p;

    (void)arg;
    return dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &p);
}

static DAT_RETURN release(DAT_HANDLE rmr, void *arg)
{
    (void)arg;
    return dat_rmr_free(rmr);
}

static DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr, DAT_EP_HANDLE ep, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET t,
                           unsigned privileges, DAT_UINT64 c, unsigned flags, DAT_RMR_CONTEXT *context)
{
    DAT_RMR_COOKIE k;

    memset(&k, 0, sizeof k);
    k.as_64 = c;
    return bind_to_lmr(rmr, lmr, &t, (DAT_MEM_PRIV_FLAGS)privileges, ep, k,
                       (DAT_COMPLETION_FLAGS)flags, context);
}

struct binding {
    DAT_RMR_HANDLE rmr;
    DAT_EP_HANDLE ep;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_TRIPLET t;
};

static DAT_RETURN bind_rmr(DAT_HANDLE rmr, void *arg)
{
    struct binding *b = arg;
    DAT_RMR_CONTEXT context;

    return rmr_bind(rmr, b->ep, b->lmr, b->t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context);
}

static DAT_RETURN bind_ep(DAT_HANDLE ep, void *arg)
{
    struct binding *b = arg;
    DAT_RMR_CONTEXT context;

    return rmr_bind(b->rmr, ep, b->lmr, b->t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context);
}

static bool bound(struct side *s, DAT_RMR_HANDLE rmr, DAT_UINT64 c)
{
    DAT_EVENT e;

    return wait_number(s->req, DAT_RMR_BIND_COMPLETION_EVENT, &e) &&
           e.event_data.rmr_completion_event_data.rmr_handle == rmr &&
           e.event_data.rmr_completion_event_data.user_cookie.as_64 == c &&
           e.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_SUCCESS;
}

static void handles(struct zoo *z, DAT_RMR_HANDLE rmr)
{
    DAT_RMR_HANDLE freed;
    DAT_PZ_HANDLE pz;
    struct binding b;

    must_rc(dat_rmr_create(z->fx.pz, &freed), DAT_SUCCESS, "dat_rmr_create");
    must_rc(dat_rmr_free(freed), DAT_SUCCESS, "dat_rmr_free");
    must_rc(dat_pz_create(z->fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    zoo_sweep(z, "dat_rmr_create", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, pz, 0, create_in,
              NULL);
    zoo_sweep(z, "dat_rmr_query", DAT_HANDLE_TYPE_RMR, DAT_INVALID_HANDLE_RMR, freed, 0, query,
              NULL);
    zoo_sweep(z, "dat_rmr_free", DAT_HANDLE_TYPE_RMR, DAT_INVALID_HANDLE_RMR, freed, 0, release,
              NULL);
    b.rmr = rmr;
    b.ep = z->side.ep;
    b.lmr = z->region.lmr;
    b.t = segment(&z->region, 0, 100);
    zoo_sweep(z, "dat_rmr_bind", DAT_HANDLE_TYPE_RMR, DAT_INVALID_HANDLE_RMR, freed, 0, bind_rmr,
              &b);
    zoo_sweep(z, "dat_rmr_bind, ep_handle", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0,
              bind_ep, &b);
    zoo_intact(z, "dat_rmr_free");
}

static void parameters(struct zoo *z)
{
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_PARAM p, before;

    is_code(dat_rmr_create(z->fx.pz, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_rmr_create: no place for the handle: DAT_INVALID_PARAMETER");
    is_success(dat_rmr_create(z->fx.pz, &rmr), "dat_rmr_create: zone: success");
    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_rmr_query(rmr, (DAT_RMR_PARAM_MASK)(DAT_RMR_FIELD_ALL + 1), &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_rmr_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_rmr_query: error: the structure is untouched");
    is_code(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_rmr_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_rmr_query(rmr, DAT_RMR_FIELD_IA_HANDLE | DAT_RMR_FIELD_PZ_HANDLE, &p),
               "dat_rmr_query: unbound: success");
    is_ptr(p.ia_handle, z->fx.ia, "dat_rmr_query: unbound: ia_handle is true");
    is_ptr(p.pz_handle, z->fx.pz, "dat_rmr_query: unbound: pz_handle is true");
    is_success(dat_rmr_free(rmr), "dat_rmr_free: unbound: success");
}

static void bind_states(struct zoo *z, DAT_RMR_HANDLE rmr)
{
    DAT_LMR_TRIPLET t = segment(&z->region, 0, 100);
    DAT_RMR_CONTEXT context = 0x5a5a5a5a;

    is_code(rmr_bind(rmr, z->side.ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED,
            "dat_rmr_bind: endpoint UNCONNECTED: DAT_INVALID_STATE");
    is_code(rmr_bind(rmr, z->reserved.ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_INVALID_STATE, DAT_INVALID_STATE_EP_RESERVED,
            "dat_rmr_bind: endpoint RESERVED: DAT_INVALID_STATE");
    is_code(rmr_bind(rmr, z->caller.ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING,
            "dat_rmr_bind: endpoint ACTIVE_CONNECTION_PENDING: DAT_INVALID_STATE");
    is_int(context, 0x5a5a5a5a, "dat_rmr_bind: error: the context is untouched");
}

static void bind_parameters(struct zoo *z, struct pair *p, DAT_RMR_HANDLE rmr)
{
    DAT_EP_HANDLE ep = p->a.ep;
    DAT_RMR_CONTEXT context = 0x5a5a5a5a;
    DAT_RMR_COOKIE k;
    DAT_LMR_TRIPLET t;
    struct region local, elsewhere;
    DAT_PZ_HANDLE pz;
    DAT_RMR_HANDLE stranger;

    t = segment(&z->region, 1, z->region.size);
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_INVALID_PARAMETER, ARG_RMR_BIND_TRIPLET, "dat_rmr_bind: range beyond the LMR: DAT_INVALID_PARAMETER");
    t = segment(&z->region, 0, 16);
    t.virtual_address -= 1;
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_INVALID_PARAMETER, ARG_RMR_BIND_TRIPLET, "dat_rmr_bind: range before the LMR: DAT_INVALID_PARAMETER");
    t = segment(&z->region, 0, 16);
    t.lmr_context ^= 0x40000000u;
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_INVALID_PARAMETER, ARG_RMR_BIND_TRIPLET, "dat_rmr_bind: unknown LMR context: DAT_INVALID_PARAMETER");
    t = segment(&z->region, 0, 16);
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, 1u << 30, 1, 0, &context), DAT_INVALID_PARAMETER,
            ARG_RMR_BIND_PRIVILEGES, "dat_rmr_bind: unknown privilege: DAT_INVALID_PARAMETER");
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, NULL), DAT_INVALID_PARAMETER,
            ARG_RMR_BIND_CONTEXT, "dat_rmr_bind: no place for the context: DAT_INVALID_PARAMETER");
    memset(&k, 0, sizeof k);
    is_code(bind_to_lmr(rmr, z->region.lmr, NULL, DAT_MEM_PRIV_REMOTE_READ_FLAG, ep, k, DAT_COMPLETION_DEFAULT_FLAG,
                        &context),
            DAT_INVALID_PARAMETER, ARG_RMR_BIND_TRIPLET, "dat_rmr_bind: no triplet: DAT_INVALID_PARAMETER");
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, DAT_COMPLETION_UNSIGNALLED_FLAG,
                     &context),
            DAT_INVALID_PARAMETER, ARG_RMR_BIND_FLAGS,
            "dat_rmr_bind: UNSIGNALLED without such an endpoint: DAT_INVALID_PARAMETER");
    is_code(rmr_bind(rmr, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, DAT_COMPLETION_SOLICITED_WAIT_FLAG,
                     &context),
            DAT_INVALID_PARAMETER, ARG_RMR_BIND_FLAGS,
            "dat_rmr_bind: SOLICITED_WAIT: DAT_INVALID_PARAMETER");

    region_make(&z->fx, &local, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    t = segment(&local, 0, 16);
    is_code(rmr_bind(rmr, ep, local.lmr, t, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, 1, 0, &context),
            DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_RDMA_WRITE,
            "dat_rmr_bind: remote write over local read: DAT_PRIVILEGES_VIOLATION");
    region_free(&local);
    region_make(&z->fx, &local, 4096, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    t = segment(&local, 0, 16);
    is_code(rmr_bind(rmr, ep, local.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_RDMA_READ,
            "dat_rmr_bind: remote read over local write: DAT_PRIVILEGES_VIOLATION");
    region_free(&local);

    must_rc(dat_pz_create(z->fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    region_make_in(&z->fx, pz, &elsewhere, 4096, DAT_MEM_PRIV_ALL_FLAG);
    t = segment(&elsewhere, 0, 16);
    is_type(rmr_bind(rmr, ep, elsewhere.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_PROTECTION_VIOLATION,
            "dat_rmr_bind: LMR of another zone: DAT_PROTECTION_VIOLATION");
    must_rc(dat_rmr_create(pz, &stranger), DAT_SUCCESS, "dat_rmr_create");
    t = segment(&z->region, 0, 16);
    is_type(rmr_bind(stranger, ep, z->region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context),
            DAT_PROTECTION_VIOLATION,
            "dat_rmr_bind: RMR of another zone: DAT_PROTECTION_VIOLATION");
    is_int(context, 0x5a5a5a5a, "dat_rmr_bind: error: the context is untouched");
    must_rc(dat_rmr_free(stranger), DAT_SUCCESS, "dat_rmr_free");
    region_free(&elsewhere);
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    is_state(ep_state(ep), DAT_EP_STATE_CONNECTED,
             "dat_rmr_bind: refused at the call: the endpoint stays CONNECTED");
}

static void bind_and_query(struct zoo *z, struct pair *p, DAT_RMR_HANDLE rmr)
{
    DAT_LMR_TRIPLET t = segment(&z->region, 64, 512);
    DAT_RMR_CONTEXT first = 0, second = 0, context;
    struct region other;
    DAT_RMR_PARAM q;

    is_success(rmr_bind(rmr, p->a.ep, z->region.lmr, t,
                        DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG, 11, 0, &first),
               "dat_rmr_bind: range of an LMR: success");
    ok(bound(&p->a, rmr, 11), "dat_rmr_bind: its completion: RMR, cookie, success");
    is_success(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &q), "dat_rmr_query: bound: success");
    is_int(q.lmr_triplet.lmr_context, t.lmr_context, "dat_rmr_query: bound: lmr_context is true");
    is_int((long long)q.lmr_triplet.virtual_address, (long long)t.virtual_address,
           "dat_rmr_query: bound: address is true");
    is_int((long long)q.lmr_triplet.segment_length, 512, "dat_rmr_query: bound: length is true");
    is_int(q.rmr_context, first, "dat_rmr_query: bound: rmr_context is true");
    is_int(q.mem_priv & (DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
           DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
           "dat_rmr_query: bound: mem_priv is true");

    is_code(dat_lmr_free(z->region.lmr), DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE,
            "dat_lmr_free: an RMR is bound into it: DAT_INVALID_STATE");

    region_make(&z->fx, &other, 4096, DAT_MEM_PRIV_ALL_FLAG);
    is_success(rmr_bind(rmr, p->a.ep, other.lmr, segment(&other, 0, 4096), DAT_MEM_PRIV_REMOTE_READ_FLAG, 12, 0,
                    &second),
               "dat_rmr_bind: bound already, to another LMR: success");
    ok(bound(&p->a, rmr, 12), "dat_rmr_bind: bound already: completes");
    ok(first != second, "dat_rmr_bind: again: a new context");
    is_code(dat_lmr_free(other.lmr), DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE,
            "dat_lmr_free: the LMR that the RMR moved to: DAT_INVALID_STATE");

    memset(&t, 0xff, sizeof t);
    t.segment_length = 0;
    is_success(rmr_bind(rmr, p->a.ep, DAT_HANDLE_NULL, t, 0, 13, 0, &context),
               "dat_rmr_bind: length 0 and rubbish: unbinds");
    ok(bound(&p->a, rmr, 13), "dat_rmr_bind: unbinding: completes");
    is_success(dat_lmr_free(other.lmr), "dat_lmr_free: the RMR is unbound: success");
    other.lmr = DAT_HANDLE_NULL;
    region_free(&other);

    region_make(&z->fx, &other, 4096, DAT_MEM_PRIV_ALL_FLAG);
    is_success(rmr_bind(rmr, p->a.ep, other.lmr, segment(&other, 0, 16), DAT_MEM_PRIV_REMOTE_READ_FLAG, 14,
                    DAT_COMPLETION_SUPPRESS_FLAG, &context),
               "dat_rmr_bind: SUPPRESS: success");
    is_success(rmr_bind(rmr, p->a.ep, other.lmr, segment(&other, 16, 16), DAT_MEM_PRIV_REMOTE_READ_FLAG, 15, 0,
                    &context),
               "dat_rmr_bind: after a suppressed one: success");
    ok(bound(&p->a, rmr, 15), "dat_rmr_bind: SUPPRESS: only the later completion comes");
    is_success(dat_rmr_free(rmr), "dat_rmr_free: bound: success");
    is_success(dat_lmr_free(other.lmr), "dat_lmr_free: its RMR is freed: success");
    other.lmr = DAT_HANDLE_NULL;
    region_free(&other);
}

int main(int argc, char **argv)
{
    struct zoo z;
    struct pair p;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_LMR_TRIPLET t;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    rc = dat_rmr_create(z.fx.pz, &rmr);
    if (rc_not_implemented(rc)) {
        fx_close(&z.fx);
        skip_all("dat_rmr_create: not implemented");
    }
    must_rc(rc, DAT_SUCCESS, "dat_rmr_create");
    handles(&z, rmr);
    parameters(&z);
    bind_states(&z, rmr);
    pair_open(&p, &z.fx, NULL);
    t = segment(&z.region, 0, 16);
    {
        DAT_RMR_CONTEXT context;

        rc = rmr_bind(rmr, p.a.ep, z.region.lmr, t, DAT_MEM_PRIV_REMOTE_READ_FLAG, 1, 0, &context);
    }
    if (rc_not_implemented(rc)) {
        skip_named("dat_rmr_bind: parameters", "not implemented");
        skip_named("dat_rmr_bind: binding and query", "not implemented");
    } else {
        ok(rc == DAT_SUCCESS && bound(&p.a, rmr, 1), "dat_rmr_bind: plain: success");
        bind_parameters(&z, &p, rmr);
        bind_and_query(&z, &p, rmr);
    }
    pair_close(&p);
    zoo_close(&z);
    return done_testing();
}
