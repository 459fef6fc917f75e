/* rmr_ep.c - windows for one endpoint: dat_rmr_create_for_ep. */
#include "v20/windows.h"

#include <string.h>

static struct fx fx;
static struct region r, m;

static DAT_VADDR address(size_t offset)
{
    return (DAT_VADDR)(uintptr_t)(m.mem + offset);
}

static DAT_LMR_TRIPLET all(void)
{
    return segment(&m, 0, 4096);
}

static DAT_RMR_HANDLE make(void)
{
    DAT_RMR_HANDLE rmr;

    must_rc(dat_rmr_create_for_ep(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create_for_ep");
    return rmr;
}

static void scopes(void)
{
    DAT_RMR_HANDLE one = make(), any;
    DAT_RMR_PARAM param;

    must_rc(dat_rmr_create(fx.pz, &any), DAT_SUCCESS, "dat_rmr_create");
    must_rc(dat_rmr_query(one, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS, "dat_rmr_query");
    ok(param.rmr_scope == DAT_RMR_SCOPE_EP, "dat_rmr_query: dat_rmr_create_for_ep: DAT_RMR_SCOPE_EP");
    must_rc(dat_rmr_query(any, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS, "dat_rmr_query");
    ok(param.rmr_scope == DAT_RMR_SCOPE_PZ, "dat_rmr_query: dat_rmr_create: DAT_RMR_SCOPE_PZ");
    must_rc(dat_rmr_free(one), DAT_SUCCESS, "dat_rmr_free");
    must_rc(dat_rmr_free(any), DAT_SUCCESS, "dat_rmr_free");
}

/* A window can be accessed only over the connection on which it is bound. */
static void one_connection(void)
{
    DAT_RMR_HANDLE rmr = make();
    DAT_RMR_CONTEXT context, other;
    DAT_LMR_TRIPLET none;
    struct pair p, q;

    pair_open(&p, &fx, NULL);
    pair_open(&q, &fx, NULL);
    must_bind(&p.b, rmr, m.lmr, all(), READ_WRITE, DAT_VA_TYPE_VA, &context);
    access_is(&fx, &p, &r, remote_bytes(context, address(0), 4096), true, true, "the endpoint's own connection");
    is_code(bind_as(&q.b, rmr, m.lmr, all(), READ_WRITE, DAT_VA_TYPE_VA, &other), DAT_INVALID_PARAMETER,
            DAT_INVALID_ARG6, "dat_rmr_bind: another endpoint while it is bound");
    access_is(&fx, &q, &r, remote_bytes(context, address(0), 8), false, false, "a read over another connection");
    access_is(&fx, &q, &r, remote_bytes(context, address(0), 8), true, false, "a write over another connection");
    access_is(&fx, &p, &r, remote_bytes(context, address(8), 8), true, true, "its own connection afterwards");
    memset(&none, 0, sizeof none);
    must_bind(&p.b, rmr, DAT_HANDLE_NULL, none, 0, DAT_VA_TYPE_VA, &other);
    must_bind(&q.b, rmr, m.lmr, all(), READ_WRITE, DAT_VA_TYPE_VA, &context);
    access_is(&fx, &q, &r, remote_bytes(context, address(0), 8), true, true, "bound over another one later");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    access_is(&fx, &q, &r, remote_bytes(context, address(0), 8), true, false, "freed");
    pair_close(&q);
    pair_close(&p);
}

/* The end of the connection unbinds the window, without an event. */
static void at_the_end(void)
{
    static const char *const how[] = { "disconnect", "dat_ep_reset", "dat_ep_free" };

    for (unsigned i = 0; i < sizeof how / sizeof *how; i++) {
        DAT_RMR_HANDLE rmr = make();
        DAT_RMR_CONTEXT context, old;
        struct region own;
        struct pair p;

        region_make(&fx, &own, 4096, MEM_LOCAL);
        pair_open(&p, &fx, NULL);
        must_bind(&p.b, rmr, own.lmr, segment(&own, 0, 4096), READ_WRITE, DAT_VA_TYPE_VA, &old);
        is_int((long long)window_length(rmr), 4096, "dat_rmr_query: bound: its bytes");
        is_code(dat_lmr_free(own.lmr), DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE,
                "dat_lmr_free: under a window for one endpoint");
        must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED) &&
                 wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
             "the connection does not end");
        is_int((long long)window_length(rmr), 0, "dat_rmr_query: after the end of the connection: unbound");
        ok(quiet(p.b.req), "the end of the connection: no event for the window");
        if (i == 1)
            must_rc(dat_ep_reset(p.b.ep), DAT_SUCCESS, "dat_ep_reset");
        if (i == 2) {
            must_rc(dat_ep_free(p.b.ep), DAT_SUCCESS, "dat_ep_free");
            p.b.ep = DAT_HANDLE_NULL;
        }
        pair_close(&p);

        pair_open(&p, &fx, NULL);
        access_is(&fx, &p, &r, remote_bytes(old, (DAT_VADDR)(uintptr_t)own.mem, 8), true, false,
                  "the context of a connection that has ended");
        must_bind(&p.b, rmr, own.lmr, segment(&own, 0, 4096), READ_WRITE, DAT_VA_TYPE_VA, &context);
        access_is(&fx, &p, &r, remote_bytes(context, (DAT_VADDR)(uintptr_t)own.mem, 8), true, true,
                  "bound again over a new connection");
        pair_close(&p);
        is_success(dat_lmr_free(own.lmr), "dat_lmr_free: %s: the window holds it no longer", how[i]);
        own.lmr = DAT_HANDLE_NULL;
        must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
        region_free(&own);
    }
}

/* Binds follow a message that waits for a receive. Requests complete in order, and both windows are bound. */
static void behind_a_message(void)
{
    DAT_RMR_HANDLE one = make(), two = make();
    DAT_RMR_CONTEXT first, second;
    struct pair p;

    pair_open(&p, &fx, NULL);
    must_rc(post_send(&p.b, &r, 0, 8, 1), DAT_SUCCESS, "dat_ep_post_send");
    is_success(bind_as(&p.b, one, m.lmr, all(), READ_WRITE, DAT_VA_TYPE_VA, &first),
               "dat_rmr_bind: behind a message without a receive: success");
    is_success(bind_as(&p.b, two, m.lmr, all(), READ_WRITE, DAT_VA_TYPE_VA, &second),
               "dat_rmr_bind: behind another bind: success");
    must_rc(post_send(&p.b, &r, 0, 8, 2), DAT_SUCCESS, "dat_ep_post_send");
    ok(quiet(p.b.req) && quiet(p.b.conn), "dat_rmr_bind: behind a message without a receive: not complete");
    must_rc(post_recv(&p.a, &r, 1024, 64, 3), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_recv(&p.a, &r, 2048, 64, 4), DAT_SUCCESS, "dat_ep_post_recv");
    ok(wait_dto(p.b.req, 1, DAT_DTO_SUCCESS, NULL) && bind_ends(&p.b, one) && bind_ends(&p.b, two) &&
           wait_dto(p.b.req, 2, DAT_DTO_SUCCESS, NULL),
       "dat_rmr_bind: behind a message: all complete in order");
    ok(wait_dto(p.a.recv, 3, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.recv, 4, DAT_DTO_SUCCESS, NULL),
       "dat_rmr_bind: between two messages: both arrive");
    access_is(&fx, &p, &r, remote_bytes(first, address(0), 8), true, true, "the first window behind a message");
    access_is(&fx, &p, &r, remote_bytes(second, address(8), 8), true, true, "the second window behind a message");
    must_rc(dat_rmr_free(one), DAT_SUCCESS, "dat_rmr_free");
    must_rc(dat_rmr_free(two), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
}

int main(int argc, char **argv)
{
    DAT_PROVIDER_ATTR attr;
    DAT_RMR_HANDLE rmr = UNTOUCHED;
    DAT_RETURN rc;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    must_rc(dat_ia_query(fx.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr), DAT_SUCCESS, "dat_ia_query");
    rc = dat_rmr_create_for_ep(fx.pz, &rmr);
    if (attr.rmr_scope_supported == DAT_RMR_SCOPE_PZ) {
        is_type(rc, DAT_MODEL_NOT_SUPPORTED, "dat_rmr_create_for_ep: where that is not offered");
        fx_close(&fx);
        return done_testing();
    }
    is_success(rc, "dat_rmr_create_for_ep: success");
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    is_code(dat_rmr_create_for_ep(fx.ia, &rmr), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ,
            "dat_rmr_create_for_ep: not a zone");
    is_code(dat_rmr_create_for_ep(fx.pz, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_rmr_create_for_ep: no place for the handle");
    region_make(&fx, &r, 4096, MEM_LOCAL);
    region_make(&fx, &m, 4096, MEM_LOCAL);
    scopes();
    one_connection();
    at_the_end();
    if (env_is_iwarp())
        skip(1, "on iWARP, a message without a receive ends the connection");
    else
        behind_a_message();
    region_free(&m);
    region_free(&r);
    fx_close(&fx);
    return done_testing();
}
