/* limits.c - creates the maximum number of objects of each kind, and one more. */
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>

/* Returns the highest limit that is tested. More objects would take too long. */
static DAT_COUNT enough(void)
{
    /* The memory of a virtual machine with soft-iWARP does not suffice for more. */
    return env_is_iwarp() ? 20000 : env_valgrind() ? 5000 : 300000;
}

struct maker {
    struct fx *fx;
    struct side side;  /* the EVDs of created endpoints */
    DAT_SRQ_HANDLE srq;
    DAT_EP_ATTR attr;
    unsigned char memory[64];
};

typedef DAT_RETURN (*make)(struct maker *m, DAT_HANDLE *made);
typedef DAT_RETURN (*unmake)(DAT_HANDLE made);

static DAT_RETURN make_ep(struct maker *m, DAT_HANDLE *made)
{
    return dat_ep_create(m->fx->ia, m->fx->pz, m->side.recv, m->side.req, m->side.conn, &m->attr,
                         made);
}

static DAT_RETURN make_shared_ep(struct maker *m, DAT_HANDLE *made)
{
    return dat_ep_create_with_srq(m->fx->ia, m->fx->pz, m->side.recv, m->side.req, m->side.conn,
                                  m->srq, &m->attr, made);
}

static DAT_RETURN make_srq(struct maker *m, DAT_HANDLE *made)
{
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    return dat_srq_create(m->fx->ia, m->fx->pz, &attr, made);
}

static DAT_RETURN make_pz(struct maker *m, DAT_HANDLE *made)
{
    return dat_pz_create(m->fx->ia, made);
}

static DAT_RETURN make_lmr(struct maker *m, DAT_HANDLE *made)
{
    DAT_REGION_DESCRIPTION region;

    memset(&region, 0, sizeof region);
    region.for_va = m->memory;
    return dat_lmr_create(m->fx->ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof m->memory, m->fx->pz,
                          DAT_MEM_PRIV_ALL_FLAG, made, NULL, NULL, NULL, NULL);
}

static DAT_RETURN make_rmr(struct maker *m, DAT_HANDLE *made)
{
    return dat_rmr_create(m->fx->pz, made);
}

static DAT_RETURN make_evd(struct maker *m, DAT_HANDLE *made)
{
    return dat_evd_create(m->fx->ia, 1, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, made);
}

/* Tests a limit. `have` objects of the kind exist already. On a device, other processes may use objects, too. */
static void one_more(struct maker *m, DAT_COUNT limit, DAT_COUNT have, DAT_UINT32 subtype,
                     const char *call, make make, unmake unmake)
{
    DAT_RETURN rc = DAT_SUCCESS;
    DAT_HANDLE *made, more = UNTOUCHED;
    char name[128];
    DAT_COUNT n = 0, all;

    snprintf(name, sizeof name, "%s: one more than the limit: DAT_INSUFFICIENT_RESOURCES", call);
    if (limit > enough()) {
        skip_named(name, "the adapter can have too many of them");
        return;
    }
    made = malloc((size_t)(limit + 1) * sizeof *made);
    must(made != NULL, "no memory");
    while (n <= limit && (rc = make(m, &made[n])) == DAT_SUCCESS)
        n++;
    all = n;
    is_type(rc, DAT_INSUFFICIENT_RESOURCES, "%s", name);
    is_int(DAT_GET_SUBTYPE(rc), subtype, "%s: one more than the limit: the subtype", call);
    if (env_is_shm())
        is_int(n, limit - have, "%s: the limit: what dat_ia_query says", call);
    else
        ok(n <= limit - have, "%s: the limit: no more than dat_ia_query says", call);
    is_type(make(m, &more), DAT_INSUFFICIENT_RESOURCES,
            "%s: again one more than the limit: DAT_INSUFFICIENT_RESOURCES", call);
    ok(more == UNTOUCHED, "%s: one more than the limit: the handle is untouched", call);
    /* After a free, exactly one object can be created. */
    must_rc(unmake(made[--n]), DAT_SUCCESS, call);
    rc = make(m, &made[n]);
    n += is_success(rc, "%s: when one is gone: success", call);
    is_type(make(m, &more), DAT_INSUFFICIENT_RESOURCES,
            "%s: and no second one: DAT_INSUFFICIENT_RESOURCES", call);
    while (n-- > 0)
        must_rc(unmake(made[n]), DAT_SUCCESS, call);
    for (n = 0; n < all && make(m, &made[n]) == DAT_SUCCESS;)
        n++;
    is_int(n, all, "%s: when all are gone: as many as before", call);
    while (n-- > 0)
        must_rc(unmake(made[n]), DAT_SUCCESS, call);
    free(made);
}

static void too_long(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = UNTOUCHED;

    is_code(dat_ia_open(env_ia(), 0x7fffffff, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_TEVD, "dat_ia_open: the longest EVD: DAT_INSUFFICIENT_RESOURCES");
}

int main(int argc, char **argv)
{
    struct fx fx;
    struct maker m;
    DAT_IA_ATTR a;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    memset(&m, 0, sizeof m);
    m.fx = &fx;
    side_make(&m.side, &fx, NULL);
    must_rc(make_srq(&m, &m.srq), DAT_SUCCESS, "dat_srq_create");
    attr_default(&m.attr);
    m.attr.max_recv_dtos = m.attr.max_request_dtos = 1;
    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &a, 0, NULL), DAT_SUCCESS, "dat_ia_query");

    one_more(&m, a.max_eps, 1, DAT_RESOURCE_TEP, "dat_ep_create", make_ep, dat_ep_free);
    if (a.max_ep_per_srq < a.max_eps)
        one_more(&m, a.max_ep_per_srq, 0, DAT_RESOURCE_SRQ, "dat_ep_create_with_srq",
                 make_shared_ep, dat_ep_free);
    else
        one_more(&m, a.max_eps, 1, DAT_RESOURCE_TEP, "dat_ep_create_with_srq", make_shared_ep,
                 dat_ep_free);
    one_more(&m, a.max_srqs, 1, DAT_RESOURCE_SRQ, "dat_srq_create", make_srq, dat_srq_free);
    one_more(&m, a.max_pzs, 1, DAT_RESOURCE_PROTECTION_DOMAIN, "dat_pz_create", make_pz,
             dat_pz_free);
    one_more(&m, a.max_lmrs, 0, DAT_RESOURCE_MEMORY_REGION, "dat_lmr_create", make_lmr,
             dat_lmr_free);
    if (a.max_rmrs > 0)
        one_more(&m, a.max_rmrs, 0, DAT_RESOURCE_MEMORY_REGION, "dat_rmr_create", make_rmr,
                 dat_rmr_free);
    /* five exist: asynchronous, requests, and three of the endpoint */
    one_more(&m, a.max_evds, 5, DAT_RESOURCE_TEVD, "dat_evd_create", make_evd, dat_evd_free);
    too_long();
    fx_close(&fx);
    return done_testing();
}
