/*
 * refused.c - documented codes that no other program provokes. If the specification allows two
 * codes, this program accepts only the documented one.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/waiter.h"

#include <signal.h>
#include <string.h>

static DAT_SRQ_HANDLE make_srq(struct fx *fx)
{
    DAT_SRQ_HANDLE srq = UNTOUCHED;
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    must_rc(dat_srq_create(fx->ia, fx->pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    return srq;
}

/* Tests models that the library does not support: other qualities of service, multipath, an RSP without an endpoint. */
static void models(struct fx *fx)
{
    DAT_SRQ_HANDLE srq = make_srq(fx);
    DAT_EP_HANDLE ep = UNTOUCHED;
    DAT_RSP_HANDLE rsp = UNTOUCHED;
    struct pair pair;
    struct side side;
    DAT_EP_ATTR attr;

    pair_open(&pair, fx, NULL);
    side_make(&side, fx, NULL);
    attr_default(&attr);
    attr.qos = DAT_QOS_LOW_LATENCY;
    is_type(dat_ep_create(fx->ia, fx->pz, side.recv, side.req, side.conn, &attr, &ep),
            DAT_MODEL_NOT_SUPPORTED,
            "dat_ep_create: quality of service: DAT_MODEL_NOT_SUPPORTED");
    is_type(dat_ep_create_with_srq(fx->ia, fx->pz, side.recv, side.req, side.conn, srq, &attr, &ep),
            DAT_MODEL_NOT_SUPPORTED,
            "dat_ep_create_with_srq: quality of service: DAT_MODEL_NOT_SUPPORTED");
    is_type(dat_ep_connect(side.ep, fx_address(fx), 1, env_us(SOON_MS), 0, NULL,
                           DAT_QOS_LOW_LATENCY, DAT_CONNECT_DEFAULT_FLAG),
            DAT_MODEL_NOT_SUPPORTED,
            "dat_ep_connect: quality of service: DAT_MODEL_NOT_SUPPORTED");
    is_type(dat_ep_connect(side.ep, fx_address(fx), 1, env_us(SOON_MS), 0, NULL,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_MULTIPATH_FLAG),
            DAT_MODEL_NOT_SUPPORTED, "dat_ep_connect: multipath: DAT_MODEL_NOT_SUPPORTED");
    is_type(dat_ep_dup_connect(side.ep, pair.a.ep, env_us(SOON_MS), 0, NULL, DAT_QOS_LOW_LATENCY),
            DAT_MODEL_NOT_SUPPORTED,
            "dat_ep_dup_connect: quality of service: DAT_MODEL_NOT_SUPPORTED");
    is_type(dat_rsp_create(fx->ia, unique_qual(false), DAT_HANDLE_NULL, fx->cr, &rsp),
            DAT_MODEL_NOT_SUPPORTED, "dat_rsp_create: no endpoint: DAT_MODEL_NOT_SUPPORTED");
    side_free(&side);
    pair_close(&pair);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

/* Tests posts to a full request queue. Sends without a receive fill it, or on iWARP long reads. */
static void full(struct fx *fx)
{
    const size_t len = env_is_iwarp() ? 16u << 20 : 16;
    DAT_RMR_HANDLE rmr = UNTOUCHED;
    DAT_RMR_CONTEXT context;
    DAT_LMR_TRIPLET s;
    struct region r;
    struct pair pair;
    DAT_EP_ATTR attr;
    DAT_RETURN rc;

    attr_default(&attr);
    attr.max_request_dtos = 2;
    pair_open(&pair, fx, &attr);
    region_make(fx, &r, 2 * len, DAT_MEM_PRIV_ALL_FLAG);
    for (int i = 0; i < 2; i++) {
        rc = env_is_iwarp() ? post_read(&pair.a, &r, 0, len, target(&r, len, len), 1)
                            : post_send(&pair.a, &r, 0, len, 1);
        must_rc(rc, DAT_SUCCESS, "a post");
    }
    is_code(post_read(&pair.a, &r, 0, 16, target(&r, 16, 16), 2), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_MEMORY,
            "dat_ep_post_rdma_read: the queue is full: DAT_INSUFFICIENT_RESOURCES");
    is_code(post_write(&pair.a, &r, 0, 16, target(&r, 16, 16), 2), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_MEMORY,
            "dat_ep_post_rdma_write: the queue is full: DAT_INSUFFICIENT_RESOURCES");
    rc = dat_rmr_create(fx->pz, &rmr);
    if (rc_not_implemented(rc)) {
        skip_named("dat_rmr_bind: the queue is full: DAT_INSUFFICIENT_RESOURCES",
                   "no remote memory regions");
    } else {
        must_rc(rc, DAT_SUCCESS, "dat_rmr_create");
        s = segment(&r, 0, 16);
        is_code(bind_to_lmr(rmr, r.lmr, &s, DAT_MEM_PRIV_REMOTE_READ_FLAG, pair.a.ep, cookie(2),
                            DAT_COMPLETION_DEFAULT_FLAG, &context),
                DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY,
                "dat_rmr_bind: the queue is full: DAT_INSUFFICIENT_RESOURCES");
        must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    }
    pair_close(&pair);
    region_free(&r);
}

static void handler(int signo)
{
    (void)signo;
}

/*
 * A signal without SA_RESTART ends the wait. The test repeats the signal, because it can arrive before the wait.
 */
static void interrupted(struct fx *fx)
{
    DAT_CNO_HANDLE cno = UNTOUCHED;
    DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
    uint64_t end = now_ms() + env_ms(SOON_MS);
    struct sigaction act, old;
    struct waiter w;

    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    sigaction(SIGUSR1, &act, &old);
    must_rc(dat_cno_create(fx->ia, none, &cno), DAT_SUCCESS, "dat_cno_create");
    waiter_start_cno(&w, cno, env_us(SOON_MS));
    while (!waiter_done(&w, 20) && now_ms() < end)
        pthread_kill(w.thread, SIGUSR1);
    waiter_join(&w);
    is_type(w.rc, DAT_INTERRUPTED_CALL, "dat_cno_wait: a signal: DAT_INTERRUPTED_CALL");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    sigaction(SIGUSR1, &old, NULL);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    models(&fx);
    full(&fx);
    interrupted(&fx);
    fx_close(&fx);
    return done_testing();
}
