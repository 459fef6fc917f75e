/* psp.c - public service points: dat_psp_create, _create_any, _query, _free. */
#include "common/zoo.h"

#include <string.h>

static DAT_RETURN do_create(DAT_HANDLE h, void *arg)
{
    DAT_PSP_HANDLE psp = UNTOUCHED;

    return dat_psp_create(h, unique_qual(false), arg, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN do_create_evd(DAT_HANDLE h, void *arg)
{
    DAT_PSP_HANDLE psp = UNTOUCHED;

    return dat_psp_create(arg, unique_qual(false), h, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN do_any(DAT_HANDLE h, void *arg)
{
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_CONN_QUAL q;

    return dat_psp_create_any(h, &q, arg, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN do_any_evd(DAT_HANDLE h, void *arg)
{
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_CONN_QUAL q;

    return dat_psp_create_any(arg, &q, h, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    DAT_PSP_PARAM p;

    (void)arg;
    return dat_psp_query(h, DAT_PSP_FIELD_ALL, &p);
}

static DAT_RETURN do_free(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_psp_free(h);
}

static void handles(struct zoo *z)
{
    DAT_CONN_QUAL q;
    DAT_PSP_HANDLE freed = fx_listen(&z->fx, &q);
    DAT_EVD_HANDLE evd = fx_evd(&z->fx, 4, DAT_EVD_CR_FLAG);

    must_rc(dat_psp_free(freed), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    zoo_sweep(z, "dat_psp_create", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_create,
              z->fx.cr);
    zoo_sweep(z, "dat_psp_create, evd_handle", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_CR, evd,
              0, do_create_evd, z->fx.ia);
    zoo_sweep(z, "dat_psp_create_any", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_any,
              z->fx.cr);
    zoo_sweep(z, "dat_psp_create_any, evd_handle", DAT_HANDLE_TYPE_EVD, DAT_INVALID_HANDLE_EVD_CR,
              evd, 0, do_any_evd, z->fx.ia);
    zoo_sweep(z, "dat_psp_query", DAT_HANDLE_TYPE_PSP, DAT_INVALID_HANDLE_PSP, freed, 0, do_query,
              NULL);
    zoo_sweep(z, "dat_psp_free", DAT_HANDLE_TYPE_PSP, DAT_INVALID_HANDLE_PSP, freed, 0, do_free,
              NULL);
    zoo_intact(z, "dat_psp_free");
}

static void parameters(struct fx *fx)
{
    DAT_EVD_HANDLE dto = fx_evd(fx, 4, DAT_EVD_DTO_FLAG), foreign;
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_CONN_QUAL q = 0x5a5a;
    struct fx other;

    is_code(dat_psp_create(fx->ia, 0, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG2, "dat_psp_create: qualifier 0: DAT_INVALID_PARAMETER");
    is_code(dat_psp_create(fx->ia, unique_qual(false), fx->cr, (DAT_PSP_FLAGS)2, &psp),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_psp_create: unknown flag: DAT_INVALID_PARAMETER");
    is_code(dat_psp_create(fx->ia, unique_qual(false), fx->cr, DAT_PSP_CONSUMER_FLAG, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_psp_create: no place for the handle: DAT_INVALID_PARAMETER");
    is_code(dat_psp_create(fx->ia, unique_qual(false), dto, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR,
            "dat_psp_create: EVD without the CR flag: DAT_INVALID_HANDLE");
    is_code(dat_psp_create_any(fx->ia, NULL, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_psp_create_any: no place for the qualifier: DAT_INVALID_PARAMETER");
    is_code(dat_psp_create_any(fx->ia, &q, fx->cr, (DAT_PSP_FLAGS)2, &psp), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG4, "dat_psp_create_any: unknown flag: DAT_INVALID_PARAMETER");
    is_code(dat_psp_create_any(fx->ia, &q, fx->cr, DAT_PSP_CONSUMER_FLAG, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_psp_create_any: no place for the handle: DAT_INVALID_PARAMETER");
    is_code(dat_psp_create_any(fx->ia, &q, dto, DAT_PSP_CONSUMER_FLAG, &psp), DAT_INVALID_HANDLE,
            DAT_INVALID_HANDLE_EVD_CR,
            "dat_psp_create_any: EVD without the CR flag: DAT_INVALID_HANDLE");
    fx_open(&other);
    foreign = other.cr;
    is_code(dat_psp_create(fx->ia, unique_qual(false), foreign, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR,
            "dat_psp_create: EVD of another open: DAT_INVALID_HANDLE");
    fx_close(&other);
    ok(psp == UNTOUCHED && q == 0x5a5a, "dat_psp_create: error: the outputs are untouched");
    is_success(dat_evd_free(dto), "dat_evd_free: after dat_psp_create failed: success");
}

static void query_and_free(struct fx *fx)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL, second = UNTOUCHED;
    DAT_PSP_PARAM p, before;
    DAT_CONN_QUAL q = unique_qual(false), any = 0, again = 0;
    DAT_RETURN rc;

    while (rc_is(rc = dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
                 DAT_CONN_QUAL_IN_USE))
        q = unique_qual(false);
    is_success(rc, "dat_psp_create: consumer mode: success");
    memset(&p, 0x5a, sizeof p);
    before = p;
    is_code(dat_psp_query(psp, (DAT_PSP_PARAM_MASK)(DAT_PSP_FIELD_ALL + 1), &p),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_psp_query: unknown mask bit: DAT_INVALID_PARAMETER");
    ok(memcmp(&p, &before, sizeof p) == 0, "dat_psp_query: error: the structure is untouched");
    is_code(dat_psp_query(psp, DAT_PSP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_psp_query: no structure: DAT_INVALID_PARAMETER");
    is_success(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &p), "dat_psp_query: all fields: success");
    is_ptr(p.ia_handle, fx->ia, "dat_psp_query: ia_handle: true");
    is_ptr(p.evd_handle, fx->cr, "dat_psp_query: evd_handle: true");
    ok(p.conn_qual == q, "dat_psp_query: conn_qual: true");
    is_int(p.psp_flags, DAT_PSP_CONSUMER_FLAG, "dat_psp_query: psp_flags: true");

    is_type(dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_CONSUMER_FLAG, &second),
            DAT_CONN_QUAL_IN_USE, "dat_psp_create: qualifier taken: DAT_CONN_QUAL_IN_USE");
    is_type(dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_PROVIDER_FLAG, &second),
            DAT_CONN_QUAL_IN_USE,
            "dat_psp_create: qualifier taken, provider mode: DAT_CONN_QUAL_IN_USE");
    ok(second == UNTOUCHED, "dat_psp_create: qualifier taken: the handle is untouched");
    is_success(dat_psp_free(psp), "dat_psp_free: success");
    is_success(dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
               "dat_psp_create: qualifier free again: success");
    is_success(dat_psp_free(psp), "dat_psp_free: success");

    is_success(dat_psp_create_any(fx->ia, &any, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
               "dat_psp_create_any: success");
    ok(any >= 1024 && any <= 65535, "dat_psp_create_any: not privileged, fits in 16 bits");
    is_success(dat_psp_create_any(fx->ia, &again, fx->cr, DAT_PSP_CONSUMER_FLAG, &second),
               "dat_psp_create_any: another: success");
    ok(any != again, "dat_psp_create_any: another: another qualifier");
    dat_psp_query(psp, DAT_PSP_FIELD_ALL, &p);
    ok(p.conn_qual == any, "dat_psp_query: conn_qual: what dat_psp_create_any chose");
    is_success(dat_psp_free(psp), "dat_psp_free: success");
    is_success(dat_psp_free(second), "dat_psp_free: success");
}

static void provider_mode(struct fx *fx)
{
    DAT_PROVIDER_ATTR a;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL q;
    DAT_PSP_PARAM p;
    DAT_RETURN rc;

    must_rc(dat_ia_query(fx->ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &a), DAT_SUCCESS,
            "dat_ia_query");
    rc = dat_psp_create_any(fx->ia, &q, fx->cr, DAT_PSP_PROVIDER_FLAG, &psp);
    if (a.ep_creator == DAT_PSP_CREATES_EP_NEVER) {
        is_type(rc, DAT_MODEL_NOT_SUPPORTED,
                "dat_psp_create_any: provider mode, ep_creator NEVER: DAT_MODEL_NOT_SUPPORTED");
        return;
    }
    if (!is_success(rc, "dat_psp_create_any: provider mode: success"))
        return;
    is_success(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &p), "dat_psp_query: provider mode: success");
    is_int(p.psp_flags, DAT_PSP_PROVIDER_FLAG, "dat_psp_query: provider mode: psp_flags is true");
    is_success(dat_psp_free(psp), "dat_psp_free: provider mode: success");
}

int main(int argc, char **argv)
{
    struct zoo z;

    env_init(argc, argv, NULL);
    zoo_open(&z);
    handles(&z);
    parameters(&z.fx);
    query_and_free(&z.fx);
    provider_mode(&z.fx);
    zoo_close(&z);
    return done_testing();
}
