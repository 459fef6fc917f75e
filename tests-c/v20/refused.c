/*
 * refused.c - invalid calls of functions that only 2.0 has: dat_ep_post_send_with_invalidate,
 * dat_ep_post_rdma_read_to_rmr, dat_rmr_create_for_ep. A call that fails posts nothing and changes no object.
 */
#include "v20/extended.h"

#include "common/stage.h"
#include "common/zoo.h"

#include <string.h>

#define SEND "dat_ep_post_send_with_invalidate"
#define READ "dat_ep_post_rdma_read_to_rmr"

static struct fx fx;
static struct region here, there;

static DAT_RMR_TRIPLET with_context(DAT_RMR_TRIPLET t, DAT_RMR_CONTEXT context)
{
    t.rmr_context = context;
    return t;
}

static DAT_RETURN send_from(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET local, DAT_UINT64 c)
{
    return dat_ep_post_send_with_invalidate(ep, 1, &local, cookie(c), DAT_COMPLETION_DEFAULT_FLAG, DAT_FALSE, 0);
}

static DAT_RETURN read_into(DAT_EP_HANDLE ep, DAT_RMR_TRIPLET local, DAT_RMR_TRIPLET from, DAT_UINT64 c)
{
    return dat_ep_post_rdma_read_to_rmr(ep, &local, cookie(c), &from, DAT_COMPLETION_DEFAULT_FLAG);
}

/* ---- handles ---- */

static DAT_RETURN sends(DAT_HANDLE ep, void *arg)
{
    return send_from(ep, segment(arg, 0, 64), 1);
}

static DAT_RETURN ends_binding(DAT_HANDLE ep, void *arg)
{
    DAT_LMR_TRIPLET local = segment(arg, 0, 64);

    return dat_ep_post_send_with_invalidate(ep, 1, &local, cookie(1), DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, 77);
}

static DAT_RETURN reads(DAT_HANDLE ep, void *arg)
{
    return read_into(ep, target(arg, 0, 64), target(arg, 64, 64), 1);
}

static DAT_RETURN reads_into_nothing(DAT_HANDLE ep, void *arg)
{
    DAT_RMR_TRIPLET from = target(arg, 64, 64);

    return read_into(ep, with_context(target(arg, 0, 64), from.rmr_context ^ 0x40000000u), from, 1);
}

static DAT_RETURN makes(DAT_HANDLE pz, void *arg)
{
    DAT_RMR_HANDLE rmr;

    (void)arg;
    return dat_rmr_create_for_ep(pz, &rmr);
}

static void handles(void)
{
    struct zoo z;

    zoo_open(&z);
    zoo_sweep(&z, SEND, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, sends, &z.region);
    zoo_sweep(&z, SEND ", with a context", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, ends_binding, &z.region);
    zoo_sweep(&z, READ, DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, NULL, 0, reads, &z.region);
    zoo_sweep(&z, "dat_rmr_create_for_ep", DAT_HANDLE_TYPE_PZ, DAT_INVALID_HANDLE_PZ, NULL, 0, makes, NULL);
    zoo_intact(&z, "wrong handles");
    is_code(dat_rmr_create_for_ep(z.fx.pz, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            "dat_rmr_create_for_ep: no place for the handle: DAT_INVALID_PARAMETER");
    zoo_close(&z);
}

/* ---- states ---- */

static void states(void)
{
    for (int i = 0; i < STAGE_STATES; i++) {
        DAT_EP_STATE state = stage_states[i];
        struct stage g;
        const char *why;

        if (state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECTED ||
            state == DAT_EP_STATE_DISCONNECT_PENDING)
            continue;
        if (!stage_open(&g, state, &why)) {
            skip_named(stage_name(state), why);
            continue;
        }
        is_code(sends(g.ep, &g.region), DAT_INVALID_STATE, stage_subtype(state), SEND ": %s: DAT_INVALID_STATE",
                stage_name(state));
        is_code(reads(g.ep, &g.region), DAT_INVALID_STATE, stage_subtype(state), READ ": %s: DAT_INVALID_STATE",
                stage_name(state));
        is_code(reads_into_nothing(g.ep, &g.region), DAT_INVALID_STATE, stage_subtype(state),
                READ ": %s, unknown context: DAT_INVALID_STATE", stage_name(state));
        stage_close(&g);
    }
}

/* ---- parameters ---- */

static void parameters_of_send(struct pair *p)
{
    DAT_LMR_TRIPLET local = segment(&here, 0, 64);
    DAT_EP_PARAM param;

    must_rc(dat_ep_query(p->a.ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS, "dat_ep_query");
#define POST(n, iov, flags, invalidate) \
    dat_ep_post_send_with_invalidate(p->a.ep, n, iov, cookie(1), (DAT_COMPLETION_FLAGS)(flags), \
                                     (DAT_BOOLEAN)(invalidate), 1)
    for (int invalidate = 0; invalidate < 2; invalidate++) {
        const char *how = invalidate ? "with a context" : "without a context";

        if (invalidate && env_is_iwarp()) {
            skip_named(SEND ": with a context", "soft-iWARP revokes no window");
            break;
        }
        is_code(POST(-1, &local, 0, invalidate), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                SEND ": %s, segment count -1: DAT_INVALID_PARAMETER", how);
        is_code(POST(0x7fffffff, &local, 0, invalidate), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
                SEND ": %s, 2^31 - 1 segments: DAT_INVALID_PARAMETER", how);
        is_code(POST(1, NULL, 0, invalidate), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
                SEND ": %s, list NULL with a count: DAT_INVALID_PARAMETER", how);
        is_code(POST(1, &local, 0x100, invalidate), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
                SEND ": %s, unknown flag: DAT_INVALID_PARAMETER", how);
        local.lmr_context ^= 0x40000000u;
        is_type(POST(1, &local, 0, invalidate), DAT_PRIVILEGES_VIOLATION,
                SEND ": %s, unknown LMR context: DAT_PRIVILEGES_VIOLATION", how);
        local.lmr_context ^= 0x40000000u;
    }
    is_code(POST(1, &local, 0, 2), DAT_INVALID_PARAMETER, DAT_INVALID_ARG6,
            SEND ": invalidate_flag 2: DAT_INVALID_PARAMETER");
#undef POST
}

static void parameters_of_read(struct pair *p)
{
    DAT_RMR_TRIPLET local = target(&here, 0, 64), from = target(&there, 0, 64);
    struct region closed;

#define POST(local, from, flags) \
    dat_ep_post_rdma_read_to_rmr(p->a.ep, local, cookie(1), from, (DAT_COMPLETION_FLAGS)(flags))
    is_code(POST(NULL, &from, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            READ ": local memory NULL: DAT_INVALID_PARAMETER");
    is_code(POST(&local, NULL, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            READ ": remote memory NULL: DAT_INVALID_PARAMETER");
    is_code(POST(&local, &from, 0x100), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            READ ": unknown flag: DAT_INVALID_PARAMETER");
    local.segment_length = 63;
    is_type(POST(&local, &from, 0), DAT_LENGTH_ERROR, READ ": the sink is too small: DAT_LENGTH_ERROR");
    local = target(&here, here.size - 63, 64);
    is_code(POST(&local, &from, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2,
            READ ": beyond its region: DAT_INVALID_PARAMETER");
    local = with_context(target(&here, 0, 64), here.rmr_context ^ 0x40000000u);
    is_type(POST(&local, &from, 0), DAT_PRIVILEGES_VIOLATION, READ ": unknown context: DAT_PRIVILEGES_VIOLATION");
    is_code(POST(&local, &from, 0x100), DAT_INVALID_PARAMETER, DAT_INVALID_ARG5,
            READ ": unknown context and unknown flag: DAT_INVALID_PARAMETER");
    region_make(&fx, &closed, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    local = target(&closed, 0, 64);
    is_type(POST(&local, &from, 0), DAT_PRIVILEGES_VIOLATION, READ ": no write privilege: DAT_PRIVILEGES_VIOLATION");
    region_free(&closed);
#undef POST
}

/* Checks posts with memory of another protection zone than the endpoint's. */
static void another_zone(struct pair *p)
{
    struct region other;
    DAT_PZ_HANDLE zone;

    must_rc(dat_pz_create(fx.ia, &zone), DAT_SUCCESS, "dat_pz_create");
    region_make_in(&fx, zone, &other, 4096, DAT_MEM_PRIV_ALL_FLAG);
    is_type(send_from(p->a.ep, segment(&other, 0, 64), 1), DAT_PROTECTION_VIOLATION,
            SEND ": memory of another zone: DAT_PROTECTION_VIOLATION");
    is_type(read_into(p->a.ep, target(&other, 0, 64), target(&there, 0, 64), 1), DAT_PROTECTION_VIOLATION,
            READ ": memory of another zone: DAT_PROTECTION_VIOLATION");
    region_free(&other);
    must_rc(dat_pz_free(zone), DAT_SUCCESS, "dat_pz_free");
}

/* Posts a message longer than max_message_size. All of its segments are the same memory. */
static void too_long(void)
{
    DAT_LMR_TRIPLET many[64];
    struct region big;
    DAT_EP_ATTR attr;
    DAT_IA_ATTR ia;
    struct pair p;
    DAT_COUNT n;

    must_rc(dat_ia_query(fx.ia, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL), DAT_SUCCESS, "dat_ia_query");
    n = ia.max_iov_segments_per_dto < 64 ? ia.max_iov_segments_per_dto : 64;
    attr_default(&attr);
    attr.max_request_iov = n;
    pair_open(&p, &fx, &attr);
    region_make(&fx, &big, (size_t)(ia.max_message_size / (DAT_VLEN)n + 1), MEM_LOCAL);
    for (DAT_COUNT i = 0; i < n; i++)
        many[i] = segment(&big, 0, big.size);
    is_type(dat_ep_post_send_with_invalidate(p.a.ep, n, many, cookie(1), DAT_COMPLETION_DEFAULT_FLAG, DAT_FALSE, 0),
            DAT_LENGTH_ERROR, SEND ": longer than max_message_size of the adapter: DAT_LENGTH_ERROR");
    region_free(&big);
    pair_close(&p);
}

/*
 * Fills the request queue with messages for which the peer has no receives. Further requests fail until it posts
 * receives.
 */
static void no_place(void)
{
    DAT_EP_ATTR attr;
    struct pair p;

    if (env_is_iwarp()) {
        skip_named("no place is left", "no message waits for a receive on iWARP");
        return;
    }
    attr_default(&attr);
    attr.max_request_dtos = 2;
    pair_open(&p, &fx, &attr);
    for (DAT_UINT64 i = 1; i <= 2; i++)
        must_rc(send_from(p.a.ep, segment(&here, 0, 64), i), DAT_SUCCESS, SEND);
    is_code(send_from(p.a.ep, segment(&here, 0, 64), 3), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
            SEND ": no place is left: DAT_INSUFFICIENT_RESOURCES");
    is_code(read_into(p.a.ep, target(&here, 0, 64), target(&there, 0, 64), 3), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_MEMORY, READ ": no place is left: DAT_INSUFFICIENT_RESOURCES");
    for (DAT_UINT64 i = 1; i <= 2; i++)
        must_rc(post_recv(&p.b, &there, 2048, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    for (DAT_UINT64 i = 1; i <= 2; i++)
        ok(wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL), SEND ": no place was left: message %d ends", (int)i);
    is_success(read_into(p.a.ep, target(&here, 0, 64), target(&there, 0, 64), 4), READ ": a place is free: success");
    ok(wait_dto(p.a.req, 4, DAT_DTO_SUCCESS, NULL), READ ": a place is free: it ends");
    pair_close(&p);
}

static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };

int main(int argc, char **argv)
{
    struct pair p;

    env_init(argc, argv, roles);
    fx_open(&fx);
    region_make(&fx, &here, 8192, DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &there, 8192, DAT_MEM_PRIV_ALL_FLAG);
    handles();
    states();
    pair_open(&p, &fx, NULL);
    parameters_of_send(&p);
    parameters_of_read(&p);
    another_zone(&p);
    ok(quiet(p.a.req) && quiet(p.b.recv), "refused: no completion comes");
    is_state(ep_state(p.a.ep), DAT_EP_STATE_CONNECTED, "refused: still CONNECTED");
    ok(sides_talk(&p.a, &p.b), "refused: messages go on");
    pair_close(&p);
    too_long();
    no_place();
    fx_close(&fx);
    return done_testing();
}
