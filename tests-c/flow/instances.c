/*
 * instances.c - an endpoint whose connect EVD belongs to another open instance of the adapter.
 * Either instance closes first.
 */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <pthread.h>
#include <string.h>

static struct fx one, two;

/* Creates an endpoint of `two` with these EVDs. */
static DAT_RETURN make(struct side *s, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE req, DAT_EVD_HANDLE conn)
{
    DAT_EP_ATTR attr;

    memset(s, 0, sizeof *s);
    s->fx = &two;
    s->recv = recv;
    s->req = req;
    s->conn = conn;
    attr_default(&attr);
    return dat_ep_create(two.ia, two.pz, recv, req, conn, &attr, &s->ep);
}

static void lent(struct side *s)
{
    memset(s, 0, sizeof *s);
    must_rc(make(s, fx_evd(&two, 32, DAT_EVD_DTO_FLAG), fx_evd(&two, 32, DAT_EVD_DTO_FLAG),
                 fx_evd(&one, 8, DAT_EVD_CONNECTION_FLAG)),
            DAT_SUCCESS, "dat_ep_create");
}

static DAT_EVD_HANDLE connect_evd(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM p;

    memset((void *)&p, 0, sizeof p);
    must_rc(dat_ep_query(ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    return p.connect_evd_handle;
}

static DAT_RETURN set_connect_evd(DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd)
{
    DAT_EP_PARAM p;

    memset((void *)&p, 0, sizeof p);
    p.connect_evd_handle = evd;
    return dat_ep_modify(ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &p);
}

static bool message(struct side *from, struct side *to, struct region *src, struct region *dst)
{
    return post_recv(to, dst, 0, 64, 1) == DAT_SUCCESS && post_send(from, src, 0, 64, 2) == DAT_SUCCESS &&
           wait_dto(to->recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(from->req, 2, DAT_DTO_SUCCESS, NULL);
}

struct waiting {
    DAT_EVD_HANDLE evd;
    DAT_EVENT event;
    bool came;
};

static void *wait_for_event(void *arg)
{
    struct waiting *w = arg;

    w->came = wait_event(w->evd, &w->event);
    return NULL;
}

static void used(void)
{
    struct side mine, theirs;
    struct region src, dst;
    struct waiting w;
    pthread_t thread;
    DAT_EP_HANDLE ep = UNTOUCHED;

    fx_open(&one);
    fx_open(&two);
    lent(&theirs);
    pass("dat_ep_create: connect EVD of another open of the adapter: success");
    is_ptr(connect_evd(theirs.ep), theirs.conn, "dat_ep_query: connect EVD of another open of the adapter: true");
    is_code(dat_ep_create(two.ia, two.pz, fx_evd(&one, 8, DAT_EVD_DTO_FLAG), theirs.req, theirs.conn, NULL, &ep),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV,
            "dat_ep_create: receive EVD of another open of the adapter: DAT_INVALID_HANDLE");
    is_code(dat_ep_create(two.ia, two.pz, theirs.recv, fx_evd(&one, 8, DAT_EVD_DTO_FLAG), theirs.conn, NULL, &ep),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST,
            "dat_ep_create: request EVD of another open of the adapter: DAT_INVALID_HANDLE");
    is_type(dat_evd_free(theirs.conn), DAT_INVALID_STATE,
            "dat_evd_free: an endpoint of another open of the adapter uses it: DAT_INVALID_STATE");

    side_make(&mine, &one, NULL);
    sides_connect(&theirs, &mine);
    pass("dat_ep_connect: connect EVD of another open of the adapter: ESTABLISHED");
    region_make(&two, &src, 64, MEM_LOCAL);
    region_make(&one, &dst, 64, MEM_LOCAL);
    ok(message(&theirs, &mine, &src, &dst), "dat_ep_post_send: connect EVD of another open of the adapter: arrives");
    w.evd = theirs.conn;
    must(pthread_create(&thread, NULL, wait_for_event, &w) == 0, "no thread");
    is_success(dat_ep_disconnect(mine.ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect: success");
    must(pthread_join(thread, NULL) == 0, "no end of the thread");
    ok(w.came && w.event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED && w.event.evd_handle == theirs.conn &&
           w.event.event_data.connect_event_data.ep_handle == theirs.ep,
       "dat_evd_wait: connect EVD of another open of the adapter: DISCONNECTED, with the endpoint");

    is_success(dat_ep_free(theirs.ep), "dat_ep_free: connect EVD of another open of the adapter: success");
    is_success(dat_evd_free(theirs.conn), "dat_evd_free: no endpoint uses it any more: success");
    fx_close(&two);
    fx_close(&one);
}

/* The instance of the endpoint closes first. */
static void user_first(void)
{
    struct side mine, theirs;
    DAT_EVENT e;

    fx_open(&one);
    fx_open(&two);
    lent(&theirs);
    side_make(&mine, &one, NULL);
    sides_connect(&mine, &theirs);
    is_success(dat_ia_close(two.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close: of the endpoint, first: success");
    ok(wait_number(mine.conn, DAT_CONNECTION_EVENT_DISCONNECTED, &e), "dat_ia_close: of the endpoint: the peer hears it");
    drain(theirs.conn);
    is_type(dat_evd_dequeue(theirs.conn, &e), DAT_QUEUE_EMPTY,
            "dat_evd_dequeue: the endpoint went with its adapter: DAT_QUEUE_EMPTY");
    is_success(dat_evd_free(theirs.conn), "dat_evd_free: the endpoint went with its adapter: success");
    fx_close(&one);
}

/* The instance of the EVD closes first. The endpoint remains usable. */
static void owner_first(void)
{
    struct side mine, theirs;
    struct region r;
    DAT_EVD_HANDLE evd;

    fx_open(&one);
    fx_open(&two);
    lent(&theirs);
    is_type(dat_ia_close(one.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
            "dat_ia_close: graceful, an endpoint of another open of the adapter uses an EVD: DAT_INVALID_STATE");
    side_make(&mine, &two, NULL);
    sides_connect(&mine, &theirs);
    region_make(&two, &r, 64, MEM_LOCAL);
    is_success(dat_ia_close(one.ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close: of the dispatcher, first: success");
    is_ptr(connect_evd(theirs.ep), DAT_HANDLE_NULL, "dat_ep_query: the connect EVD went with its adapter: NULL");
    ok(message(&mine, &theirs, &r, &r), "dat_ep_post_send: the connect EVD went with its adapter: arrives");
    must_rc(dat_ep_disconnect(theirs.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    ok(wait_connection(mine.conn, DAT_CONNECTION_EVENT_DISCONNECTED),
       "dat_ep_disconnect: the connect EVD went with its adapter: the peer hears it");
    ok(wait_state(theirs.ep, DAT_EP_STATE_DISCONNECTED), "dat_ep_get_status: DISCONNECTED");

    must_rc(dat_ep_reset(theirs.ep), DAT_SUCCESS, "dat_ep_reset");
    must_rc(dat_ep_reset(mine.ep), DAT_SUCCESS, "dat_ep_reset");
    is_code(side_connect(&theirs, fx_address(&two), 4777), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN,
            "dat_ep_connect: the connect EVD went with its adapter: DAT_INVALID_HANDLE");
    evd = fx_evd(&two, 8, DAT_EVD_CONNECTION_FLAG);
    is_success(set_connect_evd(theirs.ep, evd), "dat_ep_modify: another connect EVD: success");
    theirs.conn = evd;
    sides_connect(&theirs, &mine);
    pass("dat_ep_connect: another connect EVD: ESTABLISHED");
    fx_close(&two);
}

/* Closes the instance of the EVD while another thread disconnects. */
static void *close_one(void *arg)
{
    int *rc = arg;

    *rc = (int)dat_ia_close(one.ia, DAT_CLOSE_ABRUPT_FLAG);
    return NULL;
}

static void closed_meanwhile(void)
{
    int rounds = env_count(60, 5), bad = 0;

    for (int i = 0; i < rounds; i++) {
        struct side mine, theirs;
        pthread_t thread;
        int rc = -1;

        fx_open(&one);
        fx_open(&two);
        lent(&theirs);
        side_make(&mine, &two, NULL);
        sides_connect(&mine, &theirs);
        must(pthread_create(&thread, NULL, close_one, &rc) == 0, "no thread");
        for (int k = 0; k < i; k++)
            breathe();
        bad += dat_ep_disconnect(mine.ep, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
        bad += !wait_state(theirs.ep, DAT_EP_STATE_DISCONNECTED);
        bad += dat_ep_free(theirs.ep) != DAT_SUCCESS;
        must(pthread_join(thread, NULL) == 0, "no end of the thread");
        bad += rc != DAT_SUCCESS;
        fx_close(&two);
    }
    is_int(bad, 0, "dat_ia_close: of the dispatcher, beside the end of the connection, %d times: success", rounds);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    used();
    user_first();
    owner_first();
    closed_meanwhile();
    return done_testing();
}
