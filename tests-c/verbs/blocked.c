/*
 * blocked.c - a call that destroys an object of the device blocks, and delays nothing else.
 *
 * This program takes the place of functions of libibverbs and librdmacm. A test holds the next call of one function in a
 * thread of the library until the test releases it. No destroying call may come from the progress thread.
 */
#define _GNU_SOURCE
#include "adapters.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static struct fx fx;

/* ---- Calls that block ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* The function whose next call blocks, the number of blocked calls, and the calls by the progress thread. */
static const char *wanted;
static int held, by_progress_thread;

static void destroys(const char *name)
{
    char thread[16] = "";

    prctl(PR_GET_NAME, thread);
    pthread_mutex_lock(&lock);
    if (strcmp(thread, "dat-verbs") == 0) {
        by_progress_thread++;
        diag("%s in the progress thread", name);
    }
    if (wanted != NULL && strcmp(wanted, name) == 0 && strncmp(thread, "dat-verbs", 9) == 0) {
        wanted = NULL;
        held++;
        pthread_cond_broadcast(&changed);
        while (held > 0)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

#define DESTROYS(name, type)                                                         \
    int name(type *object)                                                           \
    {                                                                                \
        int (*real)(type *);                                                         \
                                                                                     \
        destroys(#name);                                                             \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                   \
        return real(object);                                                         \
    }

DESTROYS(ibv_destroy_qp, struct ibv_qp)
DESTROYS(ibv_destroy_cq, struct ibv_cq)
DESTROYS(ibv_destroy_srq, struct ibv_srq)
DESTROYS(ibv_destroy_ah, struct ibv_ah)
DESTROYS(ibv_dereg_mr, struct ibv_mr)
DESTROYS(ibv_dealloc_pd, struct ibv_pd)
DESTROYS(rdma_destroy_id, struct rdma_cm_id)

/* The next call of this function in a thread of the library blocks. */
static void hold(const char *name)
{
    pthread_mutex_lock(&lock);
    wanted = name;
    pthread_mutex_unlock(&lock);
}

/* Returns the number of held calls. */
static int count_held(void)
{
    int n;

    pthread_mutex_lock(&lock);
    n = held;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Waits until n calls are held. */
static bool wait_held(int n, unsigned ms)
{
    uint64_t end = now_ms() + env_ms(ms);

    while (count_held() < n && now_ms() < end)
        breathe();
    return count_held() == n;
}

static void release(void)
{
    pthread_mutex_lock(&lock);
    wanted = NULL;
    held = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- Other connections ---- */

/* Connects, transfers and disconnects. Each step has a deadline, and ends the program if it is missed. */
static void others_work(const char *name, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        struct pair p;

        pair_open(&p, &fx, NULL);
        must(sides_talk(&p.a, &p.b), "%s blocks: no message arrives", name);
        must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
        must(broken_or_disconnected(p.a.conn), "%s blocks: the disconnecting side gets no event", name);
        must(broken_or_disconnected(p.b.conn), "%s blocks: the peer gets no event", name);
        side_free(&p.a);
        side_free(&p.b);
    }
    ok(count_held() > 0, "%s blocks: %d other connections begin, transfer and end", name, rounds);
}

static DAT_CONN_QUAL unused_qualifier(void)
{
    DAT_CONN_QUAL qual = 0;

    must_rc(dat_psp_free(fx_listen(&fx, &qual)), DAT_SUCCESS, "dat_psp_free");
    return qual;
}

/* ---- Tests ---- */

/* A refused attempt destroys its queue pair and its identifier. */
static void refused_attempt(const char *name)
{
    struct side s;

    side_make(&s, &fx, NULL);
    hold(name);
    must_rc(side_connect(&s, fx_address(&fx), unused_qualifier()), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED), "%s blocks: the refused side gets its event", name);
    ok(wait_held(1, SOON_MS), "%s blocks: the call is made", name);
    others_work(name, 3);
    release();
    side_free(&s);
}

/* The program frees an endpoint while its connection ends. */
static void ended_connection(const char *name)
{
    struct pair p;

    pair_open(&p, &fx, NULL);
    hold(name);
    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(broken_or_disconnected(p.a.conn) && broken_or_disconnected(p.b.conn), "%s blocks: both sides get their events", name);
    ok(wait_held(1, SOON_MS), "%s blocks: the call is made", name);
    others_work(name, 3);
    release();
    side_free(&p.a);
    side_free(&p.b);
}

/* Soft-RoCE registers the range of a window, and deregisters it after the next bind. */
static void rebound_window(void)
{
    struct pair p;
    struct region r;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT context;
    DAT_EVENT event;
    DAT_LMR_TRIPLET part;
    uint64_t end;

    if (fx.max_rmrs == 0) {
        skip(2, "the device has no windows");
        return;
    }
    region_make(&fx, &r, 4096, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    pair_open(&p, &fx, NULL);
    must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    part = segment(&r, 0, 4096);
    must_rc(bind_to_lmr(rmr, r.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, p.a.ep, cookie(1), DAT_COMPLETION_DEFAULT_FLAG,
                         &context),
            DAT_SUCCESS, "dat_rmr_bind");
    must(wait_number(p.a.req, DAT_RMR_BIND_COMPLETION_EVENT, &event), "no bind completion");
    hold("ibv_dereg_mr");
    part = segment(&r, 0, 2048);
    must_rc(bind_to_lmr(rmr, r.lmr, &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, p.a.ep, cookie(2), DAT_COMPLETION_DEFAULT_FLAG,
                         &context),
            DAT_SUCCESS, "dat_rmr_bind");
    /* No thread of the program polls, so a thread of the library frees the old range. */
    if (wait_held(1, QUIET_MS * 10)) {
        others_work("ibv_dereg_mr", 3);
        end = now_ms() + 100;
        while (now_ms() < end)
            must(dat_evd_dequeue(p.a.req, &event) != DAT_SUCCESS, "the bind completes while peers can use the old range");
        release();
        ok(wait_number(p.a.req, DAT_RMR_BIND_COMPLETION_EVENT, &event), "ibv_dereg_mr has returned: the bind completes");
    } else {
        skip(2, "the device registers no range for a window");
        release();
        must(wait_number(p.a.req, DAT_RMR_BIND_COMPLETION_EVENT, &event), "no bind completion");
    }
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    pair_close(&p);
    region_free(&r);
}

/* Many calls block: others still have threads. */
static void no_thread_left_behind(void)
{
    static const char *const names[] = { "ibv_destroy_qp", "rdma_destroy_id" };
    struct side s[2];

    for (int i = 0; i < 2; i++) {
        side_make(&s[i], &fx, NULL);
        hold(names[i]);
        must_rc(side_connect(&s[i], fx_address(&fx), unused_qualifier()), DAT_SUCCESS, "dat_ep_connect");
        must(wait_connection(s[i].conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED), "no NON_PEER_REJECTED");
        ok(wait_held(i + 1, SOON_MS), "%s blocks: the call is made", names[i]);
    }
    others_work("every destroying call", 2);
    release();
    for (int i = 0; i < 2; i++)
        side_free(&s[i]);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    refused_attempt("ibv_destroy_qp");
    refused_attempt("rdma_destroy_id");
    ended_connection("ibv_destroy_qp");
    rebound_window();
    no_thread_left_behind();
    fx_close(&fx);
    ok(by_progress_thread == 0, "the progress thread destroys nothing");
    return done_testing();
}
