/* counters.c - dat_ib_query_counters, dat_ib_print_counters, dat_ib_start_counter, dat_ib_stop_counter. */
#define _POSIX_C_SOURCE 200809L
#include "v20/extended.h"

#include "common/zoo.h"

#include <string.h>
#include <unistd.h>

#define QUERY "dat_ib_query_counters"
#define PRINT "dat_ib_print_counters"
#define MOST DCNT_IA_ALL_COUNTERS
#define UNSET 0xa5a5a5a5a5a5a5a5u

static struct fx fx;
static struct region here, there;

/* Returns the value of a counter. */
static long long of(DAT_HANDLE handle, int counter)
{
    DAT_UINT64 all[MOST];

    must_rc(dat_ib_query_counters(handle, counter, all, 0), DAT_SUCCESS, QUERY);
    return (long long)all[counter];
}

/* Earlier values of the counters of a handle. */
struct growth {
    DAT_HANDLE handle;
    int all;
    DAT_UINT64 before[MOST];
};

static struct growth growth_of(DAT_HANDLE handle, int all)
{
    struct growth g = { handle, all, { 0 } };

    must_rc(dat_ib_query_counters(handle, all, g.before, 0), DAT_SUCCESS, QUERY);
    return g;
}

/*
 * Checks as a subtest that the counters have grown exactly as listed since the last call. The list consists of pairs
 * of a counter and its growth, and ends with -1. All other counters must be unchanged.
 */
static bool grew(struct growth *g, const int *list, const char *what)
{
    DAT_UINT64 now[MOST];
    bool good = true;

    must_rc(dat_ib_query_counters(g->handle, g->all, now, 0), DAT_SUCCESS, QUERY);
    for (int at = 0; at < g->all; at++) {
        long long wanted = 0, more = (long long)(now[at] - g->before[at]);

        for (const int *l = list; *l >= 0; l += 2)
            if (*l == at)
                wanted = l[1];
        if (more != wanted) {
            diag("counter %d: %lld more, expected %lld", at, more, wanted);
            good = false;
        }
    }
    memcpy(g->before, now, sizeof now);
    return ok(good, "%s: counted, and nothing else is", what);
}

#define GREW(g, what, ...) grew(g, (const int[]){ __VA_ARGS__, -1 }, what)

/* ---- adapters ---- */

static void fresh(void)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_UINT64 all[MOST];
    DAT_IA_HANDLE ia;
    int zeros = 0;

    must_rc(dat_ia_open(env_ia(), 8, &async, &ia), DAT_SUCCESS, "dat_ia_open");
    memset(all, 0xa5, sizeof all);
    is_success(dat_ib_query_counters(ia, DCNT_IA_ALL_COUNTERS, all, 0), QUERY ": all of an adapter: success");
    for (int at = 0; at < MOST; at++)
        zeros += all[at] == 0;
    is_int(zeros, MOST, QUERY ": an adapter that was just opened: all are 0");
    must_rc(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close");
}

static void objects(void)
{
    DAT_SRQ_ATTR srq_attr = { 8, 2, DAT_SRQ_LW_DEFAULT };
    struct growth g = growth_of(fx.ia, DCNT_IA_ALL_COUNTERS);
    DAT_PZ_HANDLE pz[2];
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_SRQ_HANDLE srq;
    DAT_PSP_HANDLE psp, any;
    DAT_RSP_HANDLE rsp;
    DAT_CONN_QUAL qual, other;
    struct region r[3];
    struct side s;
    DAT_RETURN rc;
    int windows;

    must_rc(dat_pz_create(fx.ia, &pz[0]), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_pz_create(fx.ia, &pz[1]), DAT_SUCCESS, "dat_pz_create");
    for (int i = 0; i < 3; i++)
        region_make(&fx, &r[i], 64, MEM_LOCAL);
    /* Not every device has windows. */
    rc = dat_rmr_create(pz[0], &rmr);
    windows = rc == DAT_SUCCESS;
    if (!rc_not_implemented(rc))
        must_rc(rc, DAT_SUCCESS, "dat_rmr_create");
    must_rc(dat_srq_create(fx.ia, pz[1], &srq_attr, &srq), DAT_SUCCESS, "dat_srq_create");
    side_make(&s, &fx, NULL);
    GREW(&g, "zones, regions, a queue, an endpoint", DCNT_IA_PZ_CREATE, 2, DCNT_IA_LMR_CREATE, 3, DCNT_IA_RMR_CREATE, windows,
         DCNT_IA_SRQ_CREATE, 1, DCNT_IA_EVD_CREATE, 3, DCNT_IA_EP_CREATE, 1);

    do
        qual = unique_qual(false);
    while (dat_psp_create(fx.ia, qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &psp) != DAT_SUCCESS);
    must_rc(dat_psp_create_any(fx.ia, &other, fx.cr, DAT_PSP_CONSUMER_FLAG, &any), DAT_SUCCESS, "dat_psp_create_any");
    do
        other = unique_qual(false);
    while (dat_rsp_create(fx.ia, other, s.ep, fx.cr, &rsp) != DAT_SUCCESS);
    GREW(&g, "service points", DCNT_IA_PSP_CREATE, 1, DCNT_IA_PSP_CREATE_ANY, 1, DCNT_IA_RSP_CREATE, 1, DCNT_IA_CM_LISTEN, 3);

    {
        DAT_PSP_HANDLE none = UNTOUCHED;
        DAT_EVD_HANDLE evd = UNTOUCHED;

        must_rc(dat_psp_create(fx.ia, qual, fx.cr, DAT_PSP_CONSUMER_FLAG, &none), DAT_CONN_QUAL_IN_USE, "dat_psp_create");
        must_rc(dat_evd_create(fx.ia, 0, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_INVALID_PARAMETER,
                "dat_evd_create");
        must_rc(dat_pz_free(pz[1]), DAT_INVALID_STATE, "dat_pz_free");
    }
    GREW(&g, "calls that are refused", DCNT_IA_PSP_CREATE, 0);

    must_rc(dat_rsp_free(rsp), DAT_SUCCESS, "dat_rsp_free");
    must_rc(dat_psp_free(any), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
    if (windows)
        must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    region_free(&r[0]);
    must_rc(dat_pz_free(pz[0]), DAT_SUCCESS, "dat_pz_free");
    GREW(&g, "what is freed", DCNT_IA_RSP_FREE, 1, DCNT_IA_PSP_FREE, 2, DCNT_IA_EP_FREE, 1, DCNT_IA_EVD_FREE, 3,
         DCNT_IA_SRQ_FREE, 1, DCNT_IA_RMR_FREE, windows, DCNT_IA_LMR_FREE, 1, DCNT_IA_PZ_FREE, 1);
    region_free(&r[1]);
    region_free(&r[2]);
    must_rc(dat_pz_free(pz[1]), DAT_SUCCESS, "dat_pz_free");
}

/* Returns the growth of a counter since growth_of(). */
static long long more(const struct growth *g, int counter)
{
    return of(g->handle, counter) - (long long)g->before[counter];
}

static void connections(void)
{
    static const int up[] = { DCNT_IA_SP_CR,          DCNT_IA_SP_CR_ACCEPTED, DCNT_IA_CM_LISTEN, DCNT_IA_CM_REQ_TX,
                              DCNT_IA_CM_REQ_RX,      DCNT_IA_CM_REP_TX,      DCNT_IA_CM_REP_RX, DCNT_IA_CM_RTU_TX,
                              DCNT_IA_CM_RTU_RX,      DCNT_IA_CM_ACTIVE_EST,  DCNT_IA_CM_PASSIVE_EST };
    struct growth g = growth_of(fx.ia, DCNT_IA_ALL_COUNTERS);
    struct pair p;
    struct side s;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
    int good = 0;

    pair_open(&p, &fx, NULL);
    for (size_t i = 0; i < sizeof up / sizeof *up; i++)
        good += more(&g, up[i]) == 1;
    is_int(good, sizeof up / sizeof *up, "a connection: request, answer and establishment count once on each side");
    is_int(of(p.a.ep, DCNT_EP_CONNECT), 1, "dat_ep_connect: counted by the endpoint");
    is_int(of(p.b.ep, DCNT_EP_CONNECT), 0, "dat_cr_accept: not counted as dat_ep_connect");
    is_int(of(p.a.conn, DCNT_EVD_CONN_CALLBACK), 1, "an event of a connection: counted by its dispatcher");
    must_rc(dat_ep_connect(p.a.ep, fx_address(&fx), 1, env_us(SOON_MS), 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            DAT_INVALID_STATE, "dat_ep_connect");
    is_int(of(p.a.ep, DCNT_EP_CONNECT), 1, "dat_ep_connect: refused: not counted");

    must_rc(dat_ep_disconnect(p.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(p.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "the end is not told");
    must(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "the end is not told to the peer");
    ok(more(&g, DCNT_IA_CM_DREQ_TX) == 1 && more(&g, DCNT_IA_CM_DREQ_RX) == 1 && more(&g, DCNT_IA_CM_DREP_TX) == 1,
       "dat_ep_disconnect: counted once on each side");
    is_int(of(p.a.ep, DCNT_EP_DISCONNECT), 1, "dat_ep_disconnect: counted by the endpoint");
    is_int(of(p.b.ep, DCNT_EP_DISCONNECT), 0, "dat_ep_disconnect: not counted by the peer");
    is_int(of(p.b.conn, DCNT_EVD_CONN_CALLBACK), 2, "the end of a connection: counted by the dispatcher");
    pair_close(&p);
    ok(more(&g, DCNT_IA_CM_DREQ_TX) == 1, "dat_ep_free: is no dat_ep_disconnect");

    psp = fx_listen(&fx, &qual);
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_reject(next_request(fx.cr)), DAT_SUCCESS, "dat_cr_reject");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_PEER_REJECTED), "the rejection is not told");
    ok(more(&g, DCNT_IA_SP_CR_REJECTED) == 1 && more(&g, DCNT_IA_CM_USER_REJ_TX) == 1 &&
           more(&g, DCNT_IA_CM_USER_REJ_RX) == 1 && more(&g, DCNT_IA_SP_CR) == 2 && more(&g, DCNT_IA_SP_CR_ACCEPTED) == 1,
       "dat_cr_reject: counted once on each side");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s);

    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), unique_qual(false)), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED), "nobody listens: not told");
    is_int(more(&g, DCNT_IA_CM_ERR_REFUSED), 1, "nobody listens: counted");
    is_int(more(&g, DCNT_IA_CM_USER_REJ_RX), 1, "nobody listens: no rejection of a program");
    side_free(&s);
}

/* A write to memory without remote privileges breaks the connection. On iWARP, it disconnects the writer. */
static void broken(void)
{
    struct growth g = growth_of(fx.ia, DCNT_IA_ALL_COUNTERS);
    struct region closed;
    struct pair p;
    DAT_EVENT e;
    int ends = 0;

    region_make(&fx, &closed, 64, MEM_LOCAL);
    pair_open(&p, &fx, NULL);
    must_rc(post_write(&p.a, &here, 0, 8, target(&closed, 0, 8), 1), DAT_SUCCESS, "dat_ep_post_rdma_write");
    must(wait_event(p.a.conn, &e), "the connection does not break");
    must(e.event_number == DAT_CONNECTION_EVENT_BROKEN || env_is_iwarp(), "the connection ends in another way");
    ends += e.event_number == DAT_CONNECTION_EVENT_BROKEN;
    must(wait_event(p.b.conn, &e), "the end is not told to the peer");
    ends += e.event_number == DAT_CONNECTION_EVENT_BROKEN;
    is_int(more(&g, DCNT_IA_CM_ERR_RESET), ends, "a connection that breaks: counted");
    pair_close(&p);
    region_free(&closed);
}

/* ---- endpoints ---- */

static void transfers(void)
{
    struct growth a, b;
    struct pair p;

    pair_open(&p, &fx, NULL);
    a = growth_of(p.a.ep, DCNT_EP_ALL_COUNTERS);
    b = growth_of(p.b.ep, DCNT_EP_ALL_COUNTERS);
    for (unsigned i = 0; i < 5; i++) {
        must_rc(post_recv(&p.b, &there, 0, 1000, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &here, 0, 100 + i, i), DAT_SUCCESS, "dat_ep_post_send");
    }
    must_rc(post_write(&p.a, &here, 0, 300, target(&there, 0, 300), 5), DAT_SUCCESS, "dat_ep_post_rdma_write");
    must_rc(post_read(&p.a, &here, 0, 40, target(&there, 0, 40), 6), DAT_SUCCESS, "dat_ep_post_rdma_read");
    must_rc(post_read(&p.a, &here, 0, 41, target(&there, 0, 41), 7), DAT_SUCCESS, "dat_ep_post_rdma_read");
    must(drain_dtos(p.a.req, 8) == 8 && drain_dtos(p.b.recv, 5) == 5, "the completions do not come");
    GREW(&a, "5 sends of 510 bytes, a write of 300, 2 reads of 81", DCNT_EP_POST_SEND, 5, DCNT_EP_POST_SEND_DATA, 510,
         DCNT_EP_POST_WRITE, 1, DCNT_EP_POST_WRITE_DATA, 300, DCNT_EP_POST_READ, 2, DCNT_EP_POST_READ_DATA, 81);
    GREW(&b, "5 receives, filled with 510 bytes", DCNT_EP_POST_RECV, 5, DCNT_EP_RECV, 5, DCNT_EP_RECV_DATA, 510);
    must_rc(post_send(&p.a, &here, 0, here.size + 1, 1), DAT_INVALID_PARAMETER, "dat_ep_post_send");
    GREW(&a, "a post that is refused", DCNT_EP_POST_SEND, 0);

    must_rc(post_recv(&p.b, &there, 0, 8, 8), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(dat_ep_disconnect(p.b.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(p.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "the end is not told");
    must_rc(post_recv(&p.b, &there, 0, 8, 9), DAT_SUCCESS, "dat_ep_post_recv");
    must(drain_dtos(p.b.recv, 2) == 2, "the receives are not flushed");
    GREW(&b, "receives that are flushed: posted, not received", DCNT_EP_DISCONNECT, 1, DCNT_EP_POST_RECV, 2);
    pair_close(&p);
}

/* Writes with immediate data and atomic operations have their own counters, if the adapter supports the operations. */
static void extended(void)
{
    struct growth a, b;
    struct pair p;
    DAT_RETURN rc;

    pair_open(&p, &fx, NULL);
    a = growth_of(p.a.ep, DCNT_EP_ALL_COUNTERS);
    b = growth_of(p.b.ep, DCNT_EP_ALL_COUNTERS);
    must_rc(post_recv(&p.b, &there, 4096, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    rc = post_immediate(&p.a, &here, 0, 77, target(&there, 0, 77), 1, 1);
    if (rc == DAT_SUCCESS) {
        must(wait_extended(p.a.req, p.a.ep, 1, DAT_IB_DTO_RDMA_WRITE_IMMED, DAT_DTO_SUCCESS, NULL) &&
                 wait_extended(p.b.recv, p.b.ep, 1, DAT_IB_DTO_RECV_IMMED, DAT_DTO_SUCCESS, NULL),
             "the completions do not come");
        GREW(&a, "a write with immediate data", DCNT_EP_POST_WRITE_IMM, 1, DCNT_EP_POST_WRITE_IMM_DATA, 77);
        GREW(&b, "the receive of immediate data", DCNT_EP_POST_RECV, 1, DCNT_EP_RECV_RDMA_IMM, 1,
             DCNT_EP_RECV_RDMA_IMM_DATA, 77);
    } else {
        must_rc(rc, DAT_NOT_IMPLEMENTED, "dat_ib_post_rdma_write_immed");
    }
    rc = post_fetch_add(&p.a, &here, 0, target(&there, 0, 8), 1, 2);
    if (rc == DAT_SUCCESS) {
        must_rc(post_cmp_swap(&p.a, &here, 0, target(&there, 0, 8), 1, 2, 3), DAT_SUCCESS, "dat_ib_post_cmp_and_swap");
        must_rc(post_cmp_swap(&p.a, &here, 0, target(&there, 0, 8), 1, 2, 4), DAT_SUCCESS, "dat_ib_post_cmp_and_swap");
        must(wait_extended(p.a.req, p.a.ep, 2, DAT_IB_DTO_FETCH_ADD, DAT_DTO_SUCCESS, NULL) &&
                 wait_extended(p.a.req, p.a.ep, 3, DAT_IB_DTO_CMP_SWAP, DAT_DTO_SUCCESS, NULL) &&
                 wait_extended(p.a.req, p.a.ep, 4, DAT_IB_DTO_CMP_SWAP, DAT_DTO_SUCCESS, NULL),
             "the completions do not come");
        GREW(&a, "an addition and two exchanges", DCNT_EP_POST_FETCH_ADD, 1, DCNT_EP_POST_CMP_SWAP, 2);
    } else {
        must_rc(rc, DAT_NOT_IMPLEMENTED, "dat_ib_post_fetch_and_add");
    }
    pair_close(&p);
}

/* ---- dispatchers ---- */

static void post_software(DAT_EVD_HANDLE evd, int n)
{
    DAT_EVENT e;

    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    while (n-- > 0)
        must_rc(dat_evd_post_se(evd, &e), DAT_SUCCESS, "dat_evd_post_se");
}

static void dispatchers(void)
{
    DAT_EVD_HANDLE evd = fx_evd(&fx, 8, DAT_EVD_SOFTWARE_FLAG);
    struct growth g = growth_of(evd, DCNT_EVD_ALL_COUNTERS);
    struct pair p;
    DAT_EVENT e;
    DAT_COUNT n;

    post_software(evd, 5);
    must_rc(dat_evd_dequeue(evd, &e), DAT_SUCCESS, "dat_evd_dequeue");
    must_rc(dat_evd_dequeue(evd, &e), DAT_SUCCESS, "dat_evd_dequeue");
    GREW(&g, "dat_evd_dequeue: 2 events", DCNT_EVD_DEQUEUE_FOUND, 2);
    must_rc(dat_evd_wait(evd, 0, 3, &e, &n), DAT_SUCCESS, "dat_evd_wait");
    must_rc(dat_evd_wait(evd, env_us(SOON_MS), 1, &e, &n), DAT_SUCCESS, "dat_evd_wait");
    GREW(&g, "dat_evd_wait: 2 events that are there", DCNT_EVD_WAIT, 2);
    must_rc(dat_evd_wait(evd, 0, 0, &e, &n), DAT_INVALID_PARAMETER, "dat_evd_wait");
    GREW(&g, "dat_evd_wait: refused", DCNT_EVD_WAIT, 0);
    must_rc(dat_evd_wait(evd, 0, 2, &e, &n), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
    GREW(&g, "dat_evd_wait: no time, too few events", DCNT_EVD_WAIT, 1);
    must_rc(dat_evd_wait(evd, 200000, 2, &e, &n), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
    GREW(&g, "dat_evd_wait: too few events for some time", DCNT_EVD_WAIT, 1, DCNT_EVD_WAIT_BLOCKED, 1);
    must_rc(dat_evd_dequeue(evd, &e), DAT_SUCCESS, "dat_evd_dequeue");
    must_rc(dat_evd_dequeue(evd, &e), DAT_QUEUE_EMPTY, "dat_evd_dequeue");
    GREW(&g, "dat_evd_dequeue: an event, then none", DCNT_EVD_DEQUEUE_FOUND, 1);
    must_rc(dat_evd_resize(evd, 64), DAT_SUCCESS, "dat_evd_resize");
    GREW(&g, "dat_evd_resize", DCNT_EVD_WAIT, 0);
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");

    pair_open(&p, &fx, NULL);
    g = growth_of(p.a.req, DCNT_EVD_ALL_COUNTERS);
    for (unsigned i = 0; i < 6; i++) {
        must_rc(post_write(&p.a, &here, 0, 8, target(&there, 0, 8), i), DAT_SUCCESS, "dat_ep_post_rdma_write");
        if (i % 2 == 0)
            must_rc(dat_evd_wait(p.a.req, env_us(SOON_MS), 1, &e, &n), DAT_SUCCESS, "dat_evd_wait");
        else
            must(poll_event(p.a.req, &e), "the completion does not come");
    }
    is_int(more(&g, DCNT_EVD_WAIT), 3, "dat_evd_wait: 3 ends of transfers: counted");
    is_int(more(&g, DCNT_EVD_DEQUEUE_FOUND), 3, "dat_evd_dequeue: 3 ends of transfers: counted");
    pair_close(&p);
}

/* ---- reset, one counter, all ---- */

static void selection(void)
{
    DAT_EVD_HANDLE evd = fx_evd(&fx, 8, DAT_EVD_SOFTWARE_FLAG);
    DAT_UINT64 out[DCNT_EVD_ALL_COUNTERS];
    DAT_EVENT e;
    DAT_COUNT n;
    int untouched = 0;

    post_software(evd, 5);
    for (int i = 0; i < 3; i++)
        must_rc(dat_evd_dequeue(evd, &e), DAT_SUCCESS, "dat_evd_dequeue");
    must_rc(dat_evd_wait(evd, 0, 1, &e, &n), DAT_SUCCESS, "dat_evd_wait");
    memset(out, 0xa5, sizeof out);
    is_success(dat_ib_query_counters(evd, DCNT_EVD_DEQUEUE_FOUND, out, 1), QUERY ": one counter, with a reset: success");
    for (int at = 0; at < DCNT_EVD_ALL_COUNTERS; at++)
        untouched += out[at] == UNSET;
    ok(out[DCNT_EVD_DEQUEUE_FOUND] == 3 && untouched == DCNT_EVD_ALL_COUNTERS - 1,
       QUERY ": one counter: is in its place, and nothing else is written");
    is_int(of(evd, DCNT_EVD_DEQUEUE_FOUND), 0, QUERY ": reset: begins at 0");
    is_int(of(evd, DCNT_EVD_WAIT), 1, QUERY ": reset: other counters stay");
    must_rc(dat_evd_dequeue(evd, &e), DAT_SUCCESS, "dat_evd_dequeue");
    is_int(of(evd, DCNT_EVD_DEQUEUE_FOUND), 1, QUERY ": reset: counts on");
    must_rc(dat_ib_query_counters(evd, DCNT_EVD_ALL_COUNTERS, out, -1), DAT_SUCCESS, QUERY);
    ok(out[DCNT_EVD_DEQUEUE_FOUND] == 1 && out[DCNT_EVD_WAIT] == 1, QUERY ": all, with a reset: told once more");
    must_rc(dat_ib_query_counters(evd, DCNT_EVD_ALL_COUNTERS, out, 0), DAT_SUCCESS, QUERY);
    ok(out[DCNT_EVD_DEQUEUE_FOUND] == 0 && out[DCNT_EVD_WAIT] == 0, QUERY ": all, with a reset: all begin at 0");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");

    {
        struct growth g;

        must_rc(dat_ib_query_counters(fx.ia, DCNT_IA_PZ_CREATE, (DAT_UINT64[MOST]){ 0 }, 1), DAT_SUCCESS, QUERY);
        g = growth_of(fx.ia, DCNT_IA_ALL_COUNTERS);
        is_int((long long)g.before[DCNT_IA_PZ_CREATE], 0, QUERY ": a counter of an adapter is reset");
        ok(g.before[DCNT_IA_EVD_CREATE] > 0, QUERY ": a counter of an adapter is reset: others are not");
    }
}

/* ---- print ---- */

/* Calls dat_ib_print_counters(), and returns its output in a static buffer. */
static char *printed(DAT_HANDLE handle, int counter, int reset, DAT_RETURN *rc)
{
    static char text[64 * 1024];
    FILE *file = tmpfile();
    int stdout_was = -1;
    size_t len;

    must(file != NULL && fflush(stdout) == 0 && (stdout_was = dup(STDOUT_FILENO)) >= 0 &&
             dup2(fileno(file), STDOUT_FILENO) >= 0,
         "no other place for the output");
    *rc = dat_ib_print_counters(handle, counter, reset);
    must(fflush(stdout) == 0 && dup2(stdout_was, STDOUT_FILENO) >= 0 && close(stdout_was) == 0, "no way back");
    rewind(file);
    len = fread(text, 1, sizeof text - 1, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

/* Returns the line that dat_ib_print_counters() prints for a counter, in a static buffer. */
static const char *line(const char *name, long long value)
{
    static char text[512];
    char host[256];

    must(gethostname(host, sizeof host) == 0, "no host name");
    snprintf(text, sizeof text, " %s:0x%x: %s = %lld \n", host, (unsigned)getpid(), name, value);
    return text;
}

static int lines(const char *text)
{
    int n = 0;

    while (*text != '\0')
        n += *text++ == '\n';
    return n;
}

static void print(void)
{
    struct pair p;
    DAT_RETURN rc;
    char *text;

    pair_open(&p, &fx, NULL);
    must_rc(post_recv(&p.b, &there, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(post_send(&p.a, &here, 0, 42, 1), DAT_SUCCESS, "dat_ep_post_send");
    must(drain_dtos(p.a.req, 1) == 1 && drain_dtos(p.b.recv, 1) == 1, "the completions do not come");

    text = printed(p.a.ep, DCNT_EP_POST_SEND_DATA, 0, &rc);
    is_success(rc, PRINT ": one counter: success");
    ok(strcmp(text, line("DCNT_EP_POST_SEND_DATA", 42)) == 0, PRINT ": one counter: one line, in the known form");
    text = printed(p.a.ep, DCNT_EP_ALL_COUNTERS, 1, &rc);
    is_success(rc, PRINT ": all counters of an endpoint: success");
    ok(lines(text) == DCNT_EP_ALL_COUNTERS && strstr(text, line("DCNT_EP_POST_SEND", 1)) != NULL &&
           strstr(text, line("DCNT_EP_CONNECT", 1)) == text && strstr(text, line("DCNT_EP_RECV_UD", 0)) != NULL,
       PRINT ": all counters of an endpoint: a line for each, in their order");
    is_int(of(p.a.ep, DCNT_EP_POST_SEND_DATA), 0, PRINT ": with a reset: they begin at 0");
    text = printed(p.a.conn, DCNT_EVD_ALL_COUNTERS, 0, &rc);
    ok(rc == DAT_SUCCESS && lines(text) == DCNT_EVD_ALL_COUNTERS && strstr(text, line("DCNT_EVD_CONN_CALLBACK", 1)) != NULL,
       PRINT ": all counters of a dispatcher");
    text = printed(fx.ia, DCNT_IA_ALL_COUNTERS, 0, &rc);
    ok(rc == DAT_SUCCESS && lines(text) == DCNT_IA_ALL_COUNTERS &&
           strstr(text, line("DCNT_IA_EP_CREATE", of(fx.ia, DCNT_IA_EP_CREATE))) != NULL,
       PRINT ": all counters of an adapter");

    text = printed(p.a.ep, DCNT_EP_ALL_COUNTERS + 1, 1, &rc);
    is_code(rc, DAT_INVALID_PARAMETER, DAT_INVALID_ARG3, PRINT ": no such counter: DAT_INVALID_PARAMETER");
    ok(text[0] == '\0', PRINT ": no such counter: prints nothing");
    text = printed(fx.pz, 0, 0, &rc);
    is_code(rc, DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1, PRINT ": a protection zone: DAT_INVALID_HANDLE");
    ok(text[0] == '\0', PRINT ": a protection zone: prints nothing");
    pair_close(&p);
}

/* ---- sampled counters ---- */

static void sampled(void)
{
    static const int types[] = { DCNT_IA_CM, DCNT_IA_LNK, DCNT_IA_DIAG };
    static const char *const name[] = { "CM", "LNK", "DIAG" };
    struct growth g = growth_of(fx.ia, DCNT_IA_ALL_COUNTERS);
    DAT_UINT64 all[MOST];
    bool same = true;

    for (int i = 0; i < 3; i++) {
        is_success(dat_ib_start_counter(fx.ia, types[i]), "dat_ib_start_counter: %s: success", name[i]);
        is_success(dat_ib_stop_counter(fx.ia, types[i]), "dat_ib_stop_counter: %s: success", name[i]);
    }
    must_rc(dat_ib_query_counters(fx.ia, DCNT_IA_ALL_COUNTERS, all, 0), DAT_SUCCESS, QUERY);
    for (int at = 0; at < DCNT_IA_LNK_ERR_RCV; at++)
        same = same && all[at] == g.before[at];
    ok(same, "dat_ib_stop_counter: other counters are as they were");
    if (env_is_shm()) {
        dat_ib_start_counter(fx.ia, DCNT_IA_LNK);
        is_int(of(fx.ia, DCNT_IA_LNK_WARN_XMT_WAIT), 0, "shm: no device: its counters are 0");
    }
    is_code(dat_ib_start_counter(fx.ia, 3), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ib_start_counter: no such group: DAT_INVALID_PARAMETER");
    is_code(dat_ib_stop_counter(fx.ia, -1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            "dat_ib_stop_counter: no such group: DAT_INVALID_PARAMETER");
}

/* ---- bad arguments ---- */

static DAT_RETURN do_query(DAT_HANDLE h, void *arg)
{
    return dat_ib_query_counters(h, 0, arg, 1);
}

static DAT_RETURN do_print(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_ib_print_counters(h, 0, 1);
}

static DAT_RETURN do_start(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_ib_start_counter(h, DCNT_IA_LNK);
}

static DAT_RETURN do_stop(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_ib_stop_counter(h, DCNT_IA_LNK);
}

static void handles(void)
{
    DAT_HANDLE three[3], freed[3];
    DAT_UINT64 out[MOST];
    struct side s;
    struct zoo z;
    int refused = 0;

    memset(out, 0xa5, sizeof out);
    zoo_open(&z);
    three[0] = z.of[DAT_HANDLE_TYPE_IA];
    three[1] = z.of[DAT_HANDLE_TYPE_EP];
    three[2] = z.of[DAT_HANDLE_TYPE_EVD];
    for (int i = 0; i < 3; i++)
        is_success(do_query(three[i], (DAT_UINT64[MOST]){ 0 }), QUERY ": an adapter, an endpoint, a dispatcher: success");
    zoo_sweep(&z, "dat_extension_op, dat_ib_start_counter", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_start, NULL);
    zoo_sweep(&z, "dat_extension_op, dat_ib_stop_counter", DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE_IA, NULL, 0, do_stop, NULL);
    z.of[DAT_HANDLE_TYPE_EP] = z.of[DAT_HANDLE_TYPE_EVD] = DAT_HANDLE_NULL;
    side_make(&s, &z.fx, NULL);
    freed[0] = s.ep;
    freed[1] = s.recv;
    freed[2] = s.conn;
    side_free(&s);
    zoo_sweep(&z, "dat_extension_op, " QUERY, DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE1, freed[0], 0, do_query, out);
    zoo_sweep(&z, "dat_extension_op, " PRINT, DAT_HANDLE_TYPE_IA, DAT_INVALID_HANDLE1, freed[0], 0, do_print, NULL);
    for (int i = 0; i < 3; i++)
        refused += rc_is(do_query(freed[i], out), DAT_INVALID_HANDLE) && rc_is(do_print(freed[i], NULL), DAT_INVALID_HANDLE);
    is_int(refused, 3, QUERY ": freed endpoints and dispatchers: DAT_INVALID_HANDLE");
    z.of[DAT_HANDLE_TYPE_EP] = three[1];
    z.of[DAT_HANDLE_TYPE_EVD] = three[2];
    zoo_intact(&z, QUERY);
    zoo_close(&z);
    is_type(do_query(three[0], out), DAT_INVALID_HANDLE, QUERY ": a closed adapter: DAT_INVALID_HANDLE");
    is_type(do_query(three[1], out), DAT_INVALID_HANDLE, QUERY ": an endpoint of a closed adapter: DAT_INVALID_HANDLE");
    ok(all_bytes(out, sizeof out, 0xa5), QUERY ": wrong handles: nothing is written");
}

static void parameters(void)
{
    static const int wrong[] = { -1, 86, 1000, 0x7fffffff, -0x7fffffff - 1 };
    DAT_UINT64 out[MOST];
    struct growth g = growth_of(fx.ia, DCNT_IA_ALL_COUNTERS);
    int refused = 0;

    memset(out, 0xa5, sizeof out);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused += rc_is(dat_ib_query_counters(fx.ia, wrong[i], out, 1), DAT_INVALID_PARAMETER);
    is_int(refused, (int)(sizeof wrong / sizeof *wrong), QUERY ": no such counter: DAT_INVALID_PARAMETER");
    is_code(dat_ib_query_counters(fx.async, DCNT_EVD_ALL_COUNTERS + 1, out, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
            QUERY ": no such counter of a dispatcher: DAT_INVALID_PARAMETER");
    ok(all_bytes(out, sizeof out, 0xa5), QUERY ": no such counter: nothing is written");
    is_code(dat_ib_query_counters(fx.ia, DCNT_IA_ALL_COUNTERS, NULL, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            QUERY ": no place: DAT_INVALID_PARAMETER");
    is_code(dat_ib_query_counters(fx.ia, DCNT_IA_EP_FREE, NULL, 1), DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
            QUERY ": no place for one counter: DAT_INVALID_PARAMETER");
    GREW(&g, QUERY ": error: nothing is reset", DCNT_IA_PZ_CREATE, 0);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    region_make(&fx, &here, 4096, ALL_AND_ATOMIC);
    region_make(&fx, &there, 8192, ALL_AND_ATOMIC);
    fresh();
    objects();
    connections();
    broken();
    transfers();
    extended();
    dispatchers();
    selection();
    print();
    sampled();
    handles();
    parameters();
    fx_close(&fx);
    return done_testing();
}
