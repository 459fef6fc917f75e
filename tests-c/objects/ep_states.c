/* ep_states.c - each operation on an endpoint in each state. */
#include "common/stage.h"

#include <string.h>

/* The expected result of an operation in a state. */
enum expect {
    OK,
    NO,      /* DAT_INVALID_STATE with the subtype of the state */
    FLUSHED, /* success, and the completion has the status FLUSHED */
    OR_FL,   /* NO or FLUSHED */
};

struct op {
    const char *name;
    DAT_RETURN (*fn)(struct stage *g);
    bool alters;               /* changes the endpoint if it succeeds */
    enum expect in[STAGE_STATES]; /* in the order of stage_states */
};

static DAT_RETURN op_query(struct stage *g)
{
    DAT_EP_PARAM p;

    return dat_ep_query(g->ep, DAT_EP_FIELD_ALL, &p);
}

static DAT_RETURN op_status(struct stage *g)
{
    DAT_EP_STATE s;
    DAT_BOOLEAN r, q;

    return dat_ep_get_status(g->ep, &s, &r, &q);
}

static DAT_RETURN op_recv_query(struct stage *g)
{
    DAT_COUNT n, span;
    DAT_RETURN rc = dat_ep_recv_query(g->ep, &n, &span);

    return rc_is(rc, DAT_MODEL_NOT_SUPPORTED) ? DAT_SUCCESS : rc;
}

static DAT_RETURN op_watermark(struct stage *g)
{
    DAT_RETURN rc =
        dat_ep_set_watermark(g->ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE);

    return rc_is(rc, DAT_MODEL_NOT_SUPPORTED) ? DAT_SUCCESS : rc;
}

static DAT_RETURN op_context(struct stage *g)
{
    DAT_CONTEXT c;

    c.as_64 = 5;
    return dat_set_consumer_context(g->ep, c);
}

static DAT_RETURN op_connect(struct stage *g)
{
    return dat_ep_connect(g->ep, fx_address(&g->fx), unique_qual(false), env_us(SOON_MS), 0, NULL,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_RETURN op_dup_connect(struct stage *g)
{
    struct pair p;
    DAT_RETURN rc;

    pair_open(&p, &g->fx, NULL);
    rc = dat_ep_dup_connect(g->ep, p.a.ep, env_us(SOON_MS), 0, NULL, DAT_QOS_BEST_EFFORT);
    pair_close(&p);
    return rc;
}

static DAT_RETURN op_dup_of(struct stage *g)
{
    struct side s;
    DAT_RETURN rc;

    side_make(&s, &g->fx, NULL);
    rc = dat_ep_dup_connect(s.ep, g->ep, env_us(SOON_MS), 0, NULL, DAT_QOS_BEST_EFFORT);
    side_free(&s);
    return rc;
}

static DAT_RETURN op_rsp(struct stage *g)
{
    DAT_RSP_HANDLE rsp;

    DAT_RETURN rc;

    do {
        rc = dat_rsp_create(g->fx.ia, unique_qual(false), g->ep, g->requests, &rsp);
    } while (rc_is(rc, DAT_CONN_QUAL_IN_USE));
    return rc;
}

static DAT_RETURN op_accept(struct stage *g)
{
    struct side caller;
    DAT_EVD_HANDLE evd = fx_evd(&g->fx, 4, DAT_EVD_CR_FLAG);
    DAT_CONN_QUAL qual;
    DAT_RETURN rc;
    DAT_CR_HANDLE cr;

    fx_listen_on(&g->fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);
    side_make(&caller, &g->fx, NULL);
    must_rc(side_connect(&caller, fx_address(&g->fx), qual), DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(evd);
    rc = dat_cr_accept(cr, g->ep, 0, NULL);
    if (rc != DAT_SUCCESS)
        is_success(dat_cr_reject(cr), "dat_cr_reject: after dat_cr_accept failed: success");
    return rc;
}

static DAT_RETURN op_abrupt(struct stage *g)
{
    return dat_ep_disconnect(g->ep, DAT_CLOSE_ABRUPT_FLAG);
}

static DAT_RETURN op_graceful(struct stage *g)
{
    return dat_ep_disconnect(g->ep, DAT_CLOSE_GRACEFUL_FLAG);
}

static DAT_RETURN op_reset(struct stage *g)
{
    return dat_ep_reset(g->ep);
}

static DAT_RETURN op_free(struct stage *g)
{
    return dat_ep_free(g->ep);
}

static struct side *acting(struct stage *g)
{
    static struct side s;

    s = g->side;
    s.ep = g->ep;
    return &s;
}

static DAT_RETURN op_recv(struct stage *g)
{
    return post_recv(acting(g), &g->region, 0, 64, 0xe7);
}

static DAT_RETURN op_send(struct stage *g)
{
    return post_send(acting(g), &g->region, 0, 64, 0xe7);
}

static DAT_RETURN op_write(struct stage *g)
{
    return post_write(acting(g), &g->region, 0, 64, target(&g->region, 1024, 64), 0xe7);
}

static DAT_RETURN op_read(struct stage *g)
{
    return post_read(acting(g), &g->region, 0, 64, target(&g->region, 1024, 64), 0xe7);
}

static DAT_RETURN op_bind(struct stage *g)
{
    DAT_LMR_TRIPLET t = segment(&g->region, 0, 64);
    DAT_RMR_CONTEXT context;
    DAT_RMR_COOKIE cookie;
    DAT_RMR_HANDLE rmr;
    DAT_RETURN rc = dat_rmr_create(g->fx.pz, &rmr);

    if (rc != DAT_SUCCESS)
        return rc;
    memset(&cookie, 0, sizeof cookie);
    cookie.as_64 = 0xe7;
    return bind_to_lmr(rmr, g->region.lmr, &t, DAT_MEM_PRIV_REMOTE_READ_FLAG, g->ep, cookie,
                       DAT_COMPLETION_DEFAULT_FLAG, &context);
}

/* Waits until the request completes as flushed. */
static bool is_flushed(struct stage *g, const struct op *op)
{
    DAT_EVENT e;

    if (op->fn != op_bind)
        return wait_dto(op->fn == op_recv ? g->side.recv : g->side.req, 0xe7, DAT_DTO_ERR_FLUSHED, NULL);
    return wait_number(g->side.req, DAT_RMR_BIND_COMPLETION_EVENT, &e) &&
           e.event_data.rmr_completion_event_data.user_cookie.as_64 == 0xe7 &&
           e.event_data.rmr_completion_event_data.status == DAT_RMR_BIND_FAILURE;
}

static const struct op ops[] = {
    /*                                                UNC  RES PCP ACP TCP CMP CON DSP    DIS */
    { "dat_ep_query", op_query, false,               { OK, OK, OK, OK, OK, OK, OK, OK, OK } },
    { "dat_ep_get_status", op_status, false,         { OK, OK, OK, OK, OK, OK, OK, OK, OK } },
    { "dat_ep_recv_query", op_recv_query, false,     { OK, OK, OK, OK, OK, OK, OK, OK, OK } },
    { "dat_ep_set_watermark", op_watermark, false,   { OK, OK, OK, OK, OK, OK, OK, OK, OK } },
    { "dat_set_consumer_context", op_context, false, { OK, OK, OK, OK, OK, OK, OK, OK, OK } },
    { "dat_ep_connect", op_connect, true,            { OK, NO, NO, NO, NO, NO, NO, NO, NO } },
    { "dat_ep_dup_connect", op_dup_connect, true,    { OK, NO, NO, NO, NO, NO, NO, NO, NO } },
    { "dat_ep_dup_connect of it", op_dup_of, false,  { NO, NO, NO, NO, NO, NO, OK, NO, NO } },
    { "dat_rsp_create", op_rsp, true,                { OK, NO, NO, NO, NO, NO, NO, NO, NO } },
    { "dat_cr_accept", op_accept, true,              { OK, NO, NO, NO, NO, NO, NO, NO, NO } },
    { "dat_ep_disconnect abrupt", op_abrupt, true,   { NO, NO, NO, OK, NO, OK, OK, OK, OK } },
    { "dat_ep_disconnect graceful", op_graceful, true,
                                                     { NO, NO, NO, OK, NO, OK, OK, OK, OK } },
    { "dat_ep_reset", op_reset, true,                { OK, NO, NO, NO, NO, NO, NO, NO, OK } },
    { "dat_ep_free", op_free, true,                  { OK, NO, NO, OK, NO, OK, OK, OK, OK } },
    { "dat_ep_post_recv", op_recv, false,            { OK, OK, OK, OK, OK, OK, OK, OK, FLUSHED } },
    { "dat_ep_post_send", op_send, true,             { NO, NO, NO, NO, NO, NO, OK, OR_FL, FLUSHED } },
    { "dat_ep_post_rdma_write", op_write, true,      { NO, NO, NO, NO, NO, NO, OK, OR_FL, FLUSHED } },
    { "dat_ep_post_rdma_read", op_read, true,        { NO, NO, NO, NO, NO, NO, OK, OR_FL, FLUSHED } },
    { "dat_rmr_bind", op_bind, true,                 { NO, NO, NO, NO, NO, NO, OK, OR_FL, FLUSHED } },
};

static void one(struct stage *g, const struct op *op, DAT_EP_STATE state, enum expect expect)
{
    const char *name = stage_name(state);
    DAT_RETURN rc = op->fn(g);

    if (op->fn == op_bind && rc_not_implemented(rc)) {
        skip_named(op->name, "not implemented");
        return;
    }
    /* A tentative endpoint has no PZ, so the PZ of every buffer and RMR differs from it. */
    if ((op->fn == op_recv || op->fn == op_bind) && state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING) {
        is_either(rc, DAT_INVALID_STATE, DAT_PROTECTION_VIOLATION, "%s: %s, no zone: refused",
                  op->name, name);
        return;
    }
    /* A tentative endpoint has no connection EVD. Whether the state or the EVD is checked first is unspecified. */
    if ((op->fn == op_connect || op->fn == op_dup_connect) &&
        state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING) {
        is_either(rc, DAT_INVALID_STATE, DAT_INVALID_HANDLE, "%s: %s, no EVD: refused", op->name,
                  name);
        return;
    }
    switch (expect) {
    case OK:
        is_success(rc, "%s: %s: success", op->name, name);
        break;
    case NO:
        is_code(rc, DAT_INVALID_STATE, stage_subtype(state), "%s: %s: DAT_INVALID_STATE", op->name,
                name);
        is_state(ep_state(g->ep), state, "%s: %s: the state is unchanged", op->name, name);
        break;
    case OR_FL:
        if (rc != DAT_SUCCESS) {
            is_code(rc, DAT_INVALID_STATE, stage_subtype(state), "%s: %s: DAT_INVALID_STATE",
                    op->name, name);
            break;
        }
        /* fall through */
    case FLUSHED:
        if (is_success(rc, "%s: %s: success", op->name, name))
            ok(is_flushed(g, op), "%s: %s: completes as flushed", op->name, name);
        break;
    }
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { STAGE_ROLE, { NULL, NULL } };

    env_init(argc, argv, roles);
    for (int s = 0; s < STAGE_STATES; s++) {
        DAT_EP_STATE state = stage_states[s];
        struct stage g;
        const char *why;
        int done = 0;

        if (!stage_open(&g, state, &why)) {
            skip_named(stage_name(state), why);
            continue;
        }
        /* Operations that do not change the endpoint share one stage. */
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
            if (!ops[i].alters || ops[i].in[s] == NO) {
                one(&g, &ops[i], state, ops[i].in[s]);
                done++;
            }
        is_state(ep_state(g.ep), state, "after %d calls that leave it alone: still %s", done,
                 stage_name(state));
        stage_close(&g);
        /* Each operation that changes the endpoint has its own stage. */
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
            if (ops[i].alters && ops[i].in[s] != NO) {
                if (!stage_open(&g, state, &why)) {
                    skip_named(ops[i].name, why);
                    continue;
                }
                one(&g, &ops[i], state, ops[i].in[s]);
                stage_close(&g);
            }
    }
    return done_testing();
}
