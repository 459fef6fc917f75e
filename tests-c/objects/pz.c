/* pz.c - protection zones: dat_pz_create, dat_pz_query, dat_pz_free. */
#include "common/zoo.h"

#include <string.h>

static DAT_RETURN create_in(DAT_HANDLE ia, void *arg)
{
    DAT_PZ_HANDLE pz = UNTOUCHED;
    DAT_RETURN rc = dat_pz_create(ia, &pz);

    (void)arg;
    if (rc != DAT_SUCCESS && pz != UNTOUCHED)
        diag("dat_pz_create failed and wrote its output");
    return rc;
}

static DAT_RETURN query(DAT_HANDLE pz, void *arg)
{
    DAT_PZ_PARAM p;

    (void)arg;
    return dat_pz_query(pz, DAT_PZ_FIELD_ALL, &p);
}

static DAT_RETURN release(DAT_HANDLE pz, void *arg)
{
    (void)arg;
    return dat_pz_free(pz);
}

static void handles(struct zoo *z)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    struct fx closed;

    fx_open(&closed);
    DAT_IA_HANDLE gone = closed.ia;
    fx_close(&closed);
    must_rc(dat_pz_create(z->fx.ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    zoo_sweep(z, "dat_pz_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, gone, 0, create_in,
              NULL);
    zoo_sweep(z, "dat_pz_query", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, pz, 0, query, NULL);
    zoo_sweep(z, "dat_pz_free", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, pz, 0, release, NULL);
    zoo_intact(z, "dat_pz_free");
}

static void parameters(struct fx *fx)
{
    DAT_PZ_PARAM p;
    DAT_PZ_PARAM before;

    is_code(dat_pz_create(fx->ia, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_pz_create: no place for the handle: DAT_INVALID_PARAMETER");

    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_pz_query(fx->pz, (DAT_PZ_PARAM_MASK)(DAT_PZ_FIELD_ALL + 1), &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_pz_query: unknown mask bit: DAT_INVALID_PARAMETER");
    is_code(dat_pz_query(fx->pz, (DAT_PZ_PARAM_MASK)0x80000000u, &p), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, "dat_pz_query: highest mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_pz_query: error: the structure is untouched");
    is_code(dat_pz_query(fx->pz, DAT_PZ_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_pz_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_pz_query(fx->pz, DAT_PZ_FIELD_ALL, &p), "dat_pz_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_pz_query: ia_handle: the adapter it was created with");
}

static void references(struct fx *fx)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    struct region r;
    struct side s;
    DAT_EP_ATTR attr;
    DAT_RMR_HANDLE rmr;
    DAT_SRQ_HANDLE srq;
    DAT_SRQ_ATTR srq_attr = { 4, 1, DAT_SRQ_LW_DEFAULT };
    DAT_RETURN rc;

    is_success(dat_pz_create(fx->ia, &pz), "dat_pz_create: open adapter: success");

    region_make_in(fx, pz, &r, 100, MEM_LOCAL);
    is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
            "dat_pz_free: an LMR is in the zone: DAT_INVALID_STATE");
    region_free(&r);

    if (is_success(rc = dat_rmr_create(pz, &rmr), "dat_rmr_create: in a new zone: success")) {
        is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
                "dat_pz_free: an RMR is in the zone: DAT_INVALID_STATE");
        is_success(dat_rmr_free(rmr), "dat_rmr_free: unbound: success");
    }

    attr_default(&attr);
    side_make(&s, fx, NULL);
    is_success(dat_ep_free(s.ep), "dat_ep_free: unconnected: success");
    is_success(dat_ep_create(fx->ia, pz, s.recv, s.req, s.conn, &attr, &s.ep),
               "dat_ep_create: in a new zone: success");
    is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
            "dat_pz_free: an EP is in the zone: DAT_INVALID_STATE");
    side_free(&s);

    if (is_success(rc = dat_srq_create(fx->ia, pz, &srq_attr, &srq),
                   "dat_srq_create: in a new zone: success")) {
        is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
                "dat_pz_free: an SRQ is in the zone: DAT_INVALID_STATE");
        is_success(dat_srq_free(srq), "dat_srq_free: unattached: success");
    }

    is_success(dat_pz_free(pz), "dat_pz_free: all users are gone: success");
    (void)rc;
}

static void many(struct fx *fx)
{
    enum { N = 100 };
    DAT_PZ_HANDLE pz[N];
    int made = 0, distinct = 1, freed = 0;

    for (int i = 0; i < N; i++) {
        if (dat_pz_create(fx->ia, &pz[i]) != DAT_SUCCESS)
            break;
        for (int j = 0; j < i; j++)
            distinct &= pz[i] != pz[j];
        made++;
    }
    is_int(made, N, "dat_pz_create: a hundred zones: success");
    ok(distinct, "dat_pz_create: a hundred zones: a hundred handles");
    for (int i = 0; i < made; i++)
        freed += dat_pz_free(pz[i]) == DAT_SUCCESS;
    is_int(freed, made, "dat_pz_free: a hundred zones: success");
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    handles(&z);
    parameters(&z.fx);
    references(&z.fx);
    many(&z.fx);
    zoo_close(&z);
    return done_testing();
}
