#define _POSIX_C_SOURCE 200809L
#include "zoo.h"

#include <string.h>
#include <sys/socket.h>

static const char *const kinds[ZOO_KINDS] = {
    [DAT_HANDLE_TYPE_CR] = "CR",   [DAT_HANDLE_TYPE_EP] = "EP",   [DAT_HANDLE_TYPE_EVD] = "EVD",
    [DAT_HANDLE_TYPE_IA] = "IA",   [DAT_HANDLE_TYPE_LMR] = "LMR", [DAT_HANDLE_TYPE_PSP] = "PSP",
    [DAT_HANDLE_TYPE_PZ] = "PZ",   [DAT_HANDLE_TYPE_RMR] = "RMR", [DAT_HANDLE_TYPE_RSP] = "RSP",
    [DAT_HANDLE_TYPE_CNO] = "CNO", [DAT_HANDLE_TYPE_SRQ] = "SRQ",
#if UDAPL > 12
    [DAT_HANDLE_TYPE_CSP] = "CSP",
#endif
};

const char *kind_text(DAT_HANDLE_TYPE kind)
{
    return (unsigned)kind < ZOO_KINDS ? kinds[kind] : "unknown kind";
}

/* Sets the handle to NULL if the call is not implemented. */
static void optional(DAT_RETURN rc, DAT_HANDLE *handle, const char *call)
{
    if (rc_not_implemented(rc))
        *handle = DAT_HANDLE_NULL;
    else
        must_rc(rc, DAT_SUCCESS, "%s", call);
}

void zoo_open(struct zoo *z)
{
    DAT_HANDLE *of = z->of;
    DAT_SRQ_ATTR srq = { 8, 2, DAT_SRQ_LW_DEFAULT };
    DAT_EVD_HANDLE arrivals;

    memset(z, 0, sizeof *z);
    fx_open(&z->fx);
    z->of[DAT_HANDLE_TYPE_IA] = z->fx.ia;
    z->of[DAT_HANDLE_TYPE_PZ] = z->fx.pz;
    region_make(&z->fx, &z->region, 4096, DAT_MEM_PRIV_ALL_FLAG);
    z->of[DAT_HANDLE_TYPE_LMR] = z->region.lmr;
    optional(dat_rmr_create(z->fx.pz, &of[DAT_HANDLE_TYPE_RMR]), &of[DAT_HANDLE_TYPE_RMR],
             "dat_rmr_create");
    optional(dat_cno_create(z->fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &of[DAT_HANDLE_TYPE_CNO]),
             &of[DAT_HANDLE_TYPE_CNO], "dat_cno_create");
    z->of[DAT_HANDLE_TYPE_EVD] = fx_evd(&z->fx, 8, DAT_EVD_DEFAULT_FLAG & ~DAT_EVD_ASYNC_FLAG);
    optional(dat_srq_create(z->fx.ia, z->fx.pz, &srq, &of[DAT_HANDLE_TYPE_SRQ]),
             &of[DAT_HANDLE_TYPE_SRQ], "dat_srq_create");
    side_make(&z->side, &z->fx, NULL);
    z->of[DAT_HANDLE_TYPE_EP] = z->side.ep;

    side_make(&z->reserved, &z->fx, NULL);
    z->rsp_qual = unique_qual(false);
    {
        DAT_RETURN rc;

        while (rc_is(rc = dat_rsp_create(z->fx.ia, z->rsp_qual, z->reserved.ep, z->fx.cr,
                                         &of[DAT_HANDLE_TYPE_RSP]),
                     DAT_CONN_QUAL_IN_USE))
            z->rsp_qual = unique_qual(false);
        optional(rc, &of[DAT_HANDLE_TYPE_RSP], "dat_rsp_create");
    }

    arrivals = fx_evd(&z->fx, 8, DAT_EVD_CR_FLAG);
    z->of[DAT_HANDLE_TYPE_PSP] =
        fx_listen_on(&z->fx, arrivals, DAT_PSP_CONSUMER_FLAG, &z->psp_qual);
    side_make(&z->caller, &z->fx, NULL);
    must_rc(dat_ep_connect(z->caller.ep, fx_address(&z->fx), z->psp_qual, DAT_TIMEOUT_INFINITE, 0,
                           NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_connect");
    z->of[DAT_HANDLE_TYPE_CR] = next_request(arrivals);
#if UDAPL > 12
    {
        struct sockaddr_storage any_port = z->fx.address;
        DAT_COMM stream = { fx_address(&z->fx)->sa_family, SOCK_STREAM, 0 };

        must_rc(dat_csp_create(z->fx.ia, &stream, (DAT_IA_ADDRESS_PTR)&any_port, arrivals,
                               &of[DAT_HANDLE_TYPE_CSP]),
                DAT_SUCCESS, "dat_csp_create");
    }
#endif
}

void zoo_close(struct zoo *z)
{
    fx_close(&z->fx);
}

bool zoo_intact(struct zoo *z, const char *after)
{
    bool all = true;

    for (int k = 0; k < ZOO_KINDS; k++) {
        DAT_HANDLE_TYPE type = (DAT_HANDLE_TYPE)99;

        if (z->of[k] == DAT_HANDLE_NULL)
            continue;
        if (dat_get_handle_type(z->of[k], &type) != DAT_SUCCESS || (int)type != k) {
            diag("the %s no longer exists", kinds[k]);
            all = false;
        }
    }
    return ok(all, "%s: no object was touched by calls with wrong handles", after);
}

void zoo_sweep(struct zoo *z, const char *call, DAT_HANDLE_TYPE right, DAT_UINT32 subtype,
               DAT_HANDLE freed, int flags, zoo_call fn, void *arg)
{
    /* Memory that is no object: zeros, ones, and the first word of a real object. */
    static DAT_UINT64 zeros[32], ones[32], forged[32];
    DAT_HANDLE real = z->of[DAT_HANDLE_TYPE_PZ];

    memset(zeros, 0, sizeof zeros);
    memset(ones, 0xff, sizeof ones);
    memset(forged, 0, sizeof forged);
    memcpy(forged, real, sizeof(void *)); /* the pointer to the provider's table */

    if (!(flags & ZOO_NULL_OK))
        is_code(fn(DAT_HANDLE_NULL, arg), DAT_INVALID_HANDLE, subtype,
                "%s: DAT_HANDLE_NULL: DAT_INVALID_HANDLE", call);
    is_code(fn((char *)real + 1, arg), DAT_INVALID_HANDLE, subtype,
            "%s: misaligned handle: DAT_INVALID_HANDLE", call);
    is_code(fn((char *)real + 8, arg), DAT_INVALID_HANDLE, subtype,
            "%s: address inside an object: DAT_INVALID_HANDLE", call);
    is_code(fn(zeros, arg), DAT_INVALID_HANDLE, subtype,
            "%s: memory full of zeros: DAT_INVALID_HANDLE", call);
    is_code(fn(forged, arg), DAT_INVALID_HANDLE, subtype,
            "%s: memory that begins like an object: DAT_INVALID_HANDLE", call);
    is_code(fn(ones, arg), DAT_INVALID_HANDLE, subtype,
            "%s: memory full of ones: DAT_INVALID_HANDLE", call);
    for (int k = 0; k < ZOO_KINDS; k++)
        if (k != (int)right && z->of[k] != DAT_HANDLE_NULL)
            is_code(fn(z->of[k], arg), DAT_INVALID_HANDLE, subtype,
                    "%s: handle of a live %s: DAT_INVALID_HANDLE", call, kinds[k]);
    if (freed != DAT_HANDLE_NULL)
        is_code(fn(freed, arg), DAT_INVALID_HANDLE, subtype,
                "%s: handle of a freed %s: DAT_INVALID_HANDLE", call, kinds[right]);
}
