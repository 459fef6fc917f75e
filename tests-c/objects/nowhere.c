/*
 * nowhere.c - each call that creates an object, with NULL for the new handle.
 *
 * Each call returns DAT_INVALID_PARAMETER with the position of the argument, and creates nothing: the graceful
 * close at the end would fail if an object existed.
 */
#include "common/fixture.h"

#include <string.h>

/* Outputs that must not change. */
static DAT_LMR_CONTEXT lmr_context = 77;
static DAT_RMR_CONTEXT rmr_context = 77;
static DAT_VLEN length = 77;
static DAT_VADDR address = 77;

static unsigned char memory[4096];

static void regions(struct fx *fx)
{
    static const DAT_MEM_TYPE kinds[] = { DAT_MEM_TYPE_VIRTUAL, DAT_MEM_TYPE_LMR,
                                          DAT_MEM_TYPE_SHARED_VIRTUAL };
    static unsigned char cookie_of_shared[40];
    DAT_REGION_DESCRIPTION of[3];
    DAT_LMR_HANDLE source, lmr = UNTOUCHED;

    memset(of, 0, sizeof of);
    of[0].for_va = memory;
    must_rc(dat_lmr_create(fx->ia, DAT_MEM_TYPE_VIRTUAL, of[0], sizeof memory, fx->pz,
                           DAT_MEM_PRIV_ALL_FLAG, &source, NULL, NULL, NULL, NULL),
            DAT_SUCCESS, "dat_lmr_create");
    of[1].for_lmr_handle = source;
    of[2].for_shared_memory.virtual_address = memory;
    of[2].for_shared_memory.shared_memory_id = (void *)cookie_of_shared;
    for (int k = 0; k < 3; k++) {
        is_code(dat_lmr_create(fx->ia, kinds[k], of[k], sizeof memory, fx->pz,
                               DAT_MEM_PRIV_ALL_FLAG, NULL, &lmr_context, &rmr_context, &length,
                               &address),
                DAT_INVALID_PARAMETER, ARG_LMR_CREATE_HANDLE,
                "dat_lmr_create: kind %d, no place for the handle: DAT_INVALID_PARAMETER",
                (int)kinds[k]);
        is_int(DAT_GET_SUBTYPE(dat_lmr_create(fx->ia, kinds[k], of[k], sizeof memory, fx->pz,
                                              DAT_MEM_PRIV_ALL_FLAG, NULL, NULL, NULL, NULL, NULL)),
               ARG_LMR_CREATE_HANDLE, "dat_lmr_create: kind %d, no place for anything: that of the handle",
               (int)kinds[k]);
        is_success(dat_lmr_create(fx->ia, kinds[k], of[k], sizeof memory, fx->pz,
                                  DAT_MEM_PRIV_ALL_FLAG, &lmr, NULL, NULL, NULL, NULL),
                   "dat_lmr_create: kind %d, a place for the handle alone: success", (int)kinds[k]);
        is_success(dat_lmr_free(lmr), "dat_lmr_free: kind %d: success", (int)kinds[k]);
    }
    ok(lmr_context == 77 && rmr_context == 77 && length == 77 && address == 77,
       "dat_lmr_create: no place for the handle: the other results are untouched");
    must_rc(dat_lmr_free(source), DAT_SUCCESS, "dat_lmr_free");
    is_code(dat_rmr_create(fx->pz, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_rmr_create: no place for the handle: DAT_INVALID_PARAMETER");
    is_code(dat_pz_create(fx->ia, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_pz_create: no place for the handle: DAT_INVALID_PARAMETER");
}

static void dispatchers(struct fx *fx)
{
    static const int flags[] = { DAT_EVD_SOFTWARE_FLAG, DAT_EVD_CR_FLAG, DAT_EVD_DTO_FLAG,
                                 DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG,
                                 DAT_EVD_ASYNC_FLAG };

    for (int i = 0; i < 6; i++)
        is_code(dat_evd_create(fx->ia, 8, DAT_HANDLE_NULL, flags[i], NULL), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG5,
                "dat_evd_create: flag 0x%x, no place for the handle: DAT_INVALID_PARAMETER", flags[i]);
    is_code(dat_cno_create(fx->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, NULL), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG3, "dat_cno_create: no place for the handle: DAT_INVALID_PARAMETER");
}

static void endpoints(struct fx *fx)
{
    DAT_SRQ_ATTR attr = { 8, 2, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq = UNTOUCHED;
    DAT_EP_ATTR ep_attr;
    struct side s;

    attr_default(&ep_attr);
    side_make(&s, fx, NULL);
    is_code(dat_srq_create(fx->ia, fx->pz, &attr, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            "dat_srq_create: no place for the handle: DAT_INVALID_PARAMETER");
    must_rc(dat_srq_create(fx->ia, fx->pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    for (int given = 0; given < 2; given++) {
        is_code(dat_ep_create(fx->ia, fx->pz, s.recv, s.req, s.conn, given ? &ep_attr : NULL, NULL),
                DAT_INVALID_PARAMETER, DAT_INVALID_ARG7,
                "dat_ep_create: attributes %s, no place for the handle: DAT_INVALID_PARAMETER",
                given ? "given" : "NULL");
    }
    is_code(dat_ep_create_with_srq(fx->ia, fx->pz, s.recv, s.req, s.conn, srq, &ep_attr, NULL),
            DAT_INVALID_PARAMETER, DAT_INVALID_ARG8,
            "dat_ep_create_with_srq: no place for the handle: DAT_INVALID_PARAMETER");
    /* The SRQ would be in use if an endpoint existed. */
    is_success(dat_srq_free(srq), "dat_srq_free: no endpoint was made on it: success");
    side_free(&s);
}

static void service_points(struct fx *fx)
{
    DAT_CONN_QUAL q = unique_qual(false), any = 77;
    DAT_PSP_HANDLE psp = UNTOUCHED;
    struct side s;

    side_make(&s, fx, NULL);
    psp = fx_listen(fx, &q); /* finds a free qualifier */
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    for (int provider = 0; provider < 2; provider++) {
        DAT_PSP_FLAGS flag = provider ? DAT_PSP_PROVIDER_FLAG : DAT_PSP_CONSUMER_FLAG;
        const char *mode = provider ? "provider" : "consumer";

        is_code(dat_psp_create(fx->ia, q, fx->cr, flag, NULL), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG5,
                "dat_psp_create: %s, no place for the handle: DAT_INVALID_PARAMETER", mode);
        is_code(dat_psp_create_any(fx->ia, &any, fx->cr, flag, NULL), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG5,
                "dat_psp_create_any: %s, no place for the handle: DAT_INVALID_PARAMETER", mode);
        is_code(dat_psp_create_any(fx->ia, NULL, fx->cr, flag, &psp), DAT_INVALID_PARAMETER,
                DAT_INVALID_ARG2,
                "dat_psp_create_any: %s, no place for the qualifier: DAT_INVALID_PARAMETER", mode);
    }
    ok(any == 77, "dat_psp_create_any: no place for the handle: the qualifier is untouched");
    is_code(dat_rsp_create(fx->ia, q, s.ep, fx->cr, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            "dat_rsp_create: no place for the handle: DAT_INVALID_PARAMETER");
    is_success(dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
               "dat_psp_create: nobody listens there: success");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s);
}

static void adapters(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = UNTOUCHED;

    is_code(dat_ia_open(env_ia(), 8, NULL, &ia), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ia_open: no place for the EVD: DAT_INVALID_PARAMETER");
    is_code(dat_ia_open(env_ia(), 8, &async, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA,
            "dat_ia_open: no place for the handle: DAT_INVALID_HANDLE");
    ok(ia == UNTOUCHED && async == DAT_HANDLE_NULL,
       "dat_ia_open: no place for a handle: the other is untouched");
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    regions(&fx);
    dispatchers(&fx);
    endpoints(&fx);
    service_points(&fx);
    must_rc(dat_evd_free(fx.cr), DAT_SUCCESS, "dat_evd_free");
    is_success(dat_pz_free(fx.pz), "dat_pz_free: nothing was made in it: success");
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: graceful, nothing was made: success");
    adapters();
    return done_testing();
}
