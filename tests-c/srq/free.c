/* free.c - dat_srq_free. The PZ of a queue is in use until the queue is freed. */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include "common/zoo.h"

#include <string.h>

static struct zoo zoo;
static struct fx *const fx = &zoo.fx;

static void attached(void)
{
    struct srq q;
    struct srq_pair p;
    struct side second;
    DAT_SRQ_PARAM before;

    srq_open(&q, fx, 10, 10, 64);
    srq_fill(&q, 0, 4);
    side_make_srq(&second, fx, q.handle, NULL);
    before = srq_param(q.handle);
    is_code(dat_srq_free(q.handle), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE,
            "dat_srq_free: an unconnected endpoint is attached: DAT_INVALID_STATE");
    is_unchanged(q.handle, &before, "dat_srq_free: attached: nothing changes");
    srq_pair_open(&p, &q);
    is_code(dat_srq_free(q.handle), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE,
            "dat_srq_free: a connected endpoint is attached: DAT_INVALID_STATE");
    ok(srq_send(&p, 30, 1) && srq_take(&q, p.rx.recv, p.rx.ep, 30, 0, 1) >= 0,
       "dat_srq_free: refused: the queue goes on receiving");
    is_success(srq_post(&q, 5), "dat_srq_free: refused: buffers can be posted");
    side_free(&second);
    is_code(dat_srq_free(q.handle), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE,
            "dat_srq_free: one of two endpoints is freed: DAT_INVALID_STATE");
    must_rc(dat_ep_disconnect(p.rx.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(p.rx.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    is_code(dat_srq_free(q.handle), DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE,
            "dat_srq_free: a disconnected endpoint is attached: DAT_INVALID_STATE");
    srq_pair_close(&p);
    is_counts(q.handle, 4, 4, "all endpoints are freed: the buffers are still on the queue");
    is_success(dat_srq_free(q.handle), "dat_srq_free: all endpoints are freed: success");
    q.handle = DAT_HANDLE_NULL;
    srq_close(&q);
}

static void with_buffers(void)
{
    struct srq q;
    struct srq_pair p;

    srq_open(&q, fx, 10, 10, 64);
    srq_fill(&q, 0, 10);
    is_success(dat_srq_free(q.handle), "dat_srq_free: ten buffers posted: success");
    q.handle = DAT_HANDLE_NULL;
    srq_close(&q);

    srq_open(&q, fx, 10, 10, 64);
    srq_pair_open(&p, &q);
    srq_fill(&q, 0, 10);
    must(srq_send_many(&p, 3, 20, 0), "no arrival");
    must_rc(dat_ep_free(p.rx.ep), DAT_SUCCESS, "dat_ep_free");
    p.rx.ep = DAT_HANDLE_NULL;
    is_success(dat_srq_free(q.handle),
               "dat_srq_free: buffers posted, completions not dequeued: success");
    q.handle = DAT_HANDLE_NULL;
    is_success(dat_lmr_free(q.mem.lmr), "dat_lmr_free: the memory of the vanished buffers: success");
    q.mem.lmr = DAT_HANDLE_NULL;
    ok(srq_drain(p.rx.recv) <= 3,
       "dat_srq_free: buffers that were never taken give no completion");
    is_success(dat_evd_free(p.rx.recv), "dat_evd_free: the receive EVD: success");
    p.rx.recv = DAT_HANDLE_NULL;
    srq_pair_close(&p);
    srq_close(&q);
}

static void twice(void)
{
    struct srq q;
    DAT_SRQ_HANDLE srq;
    DAT_SRQ_PARAM param;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep = UNTOUCHED;
    DAT_HANDLE_TYPE type;

    srq_open(&q, fx, 10, 10, 64);
    srq = q.handle;
    is_success(dat_srq_free(srq), "dat_srq_free: success");
    q.handle = DAT_HANDLE_NULL;
    is_code(dat_srq_free(srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_srq_free: second time: DAT_INVALID_HANDLE");
    is_code(dat_srq_free(srq), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_srq_free: third time: DAT_INVALID_HANDLE");
    is_code(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), DAT_INVALID_HANDLE,
            DAT_INVALID_HANDLE_SRQ, "dat_srq_query: freed: DAT_INVALID_HANDLE");
    is_code(dat_srq_post_recv(srq, 0, NULL, cookie(1)), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_srq_post_recv: freed: DAT_INVALID_HANDLE");
    is_code(dat_srq_resize(srq, 20), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_srq_resize: freed: DAT_INVALID_HANDLE");
    is_code(dat_srq_set_lw(srq, 1), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_srq_set_lw: freed: DAT_INVALID_HANDLE");
    is_type(dat_get_handle_type(srq, &type), DAT_INVALID_HANDLE,
            "dat_get_handle_type: freed: DAT_INVALID_HANDLE");
    attr_default(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    is_code(dat_ep_create_with_srq(fx->ia, fx->pz, zoo.side.recv, zoo.side.req, zoo.side.conn, srq,
                                   &attr, &ep),
            DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ,
            "dat_ep_create_with_srq: freed: DAT_INVALID_HANDLE");
    is_ptr(ep, UNTOUCHED, "dat_ep_create_with_srq: freed: the handle is not written");
    srq_close(&q);
}

static DAT_RETURN with_srq(DAT_HANDLE handle, void *arg)
{
    (void)arg;
    return dat_srq_free(handle);
}

static void handles(void)
{
    DAT_SRQ_HANDLE freed;
    struct srq q;

    srq_open(&q, fx, 10, 10, 64);
    freed = q.handle;
    srq_close(&q);
    zoo_sweep(&zoo, "dat_srq_free", DAT_HANDLE_TYPE_SRQ, DAT_INVALID_HANDLE_SRQ, freed, 0, with_srq,
              NULL);
    zoo_intact(&zoo, "dat_srq_free");
}

static void the_zone(void)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR attr = { 10, 1, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL, second = DAT_HANDLE_NULL;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_ATTR ep_attr;

    must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_srq_create(fx->ia, pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    must_rc(dat_srq_create(fx->ia, pz, &attr, &second), DAT_SUCCESS, "dat_srq_create");
    attr_default(&ep_attr);
    ep_attr.max_recv_dtos = DAT_HW_DEFAULT;
    /* Without a PZ, so that only the queues use it. */
    must_rc(dat_ep_create_with_srq(fx->ia, DAT_HANDLE_NULL, zoo.side.recv, zoo.side.req, zoo.side.conn, srq, &ep_attr, &ep),
            DAT_SUCCESS, "dat_ep_create_with_srq");
    is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
            "dat_pz_free: two queues are in the zone: DAT_INVALID_STATE");
    is_success(dat_srq_free(second), "dat_srq_free: the second queue: success");
    is_code(dat_pz_free(pz), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
            "dat_pz_free: one queue is in the zone: DAT_INVALID_STATE");
    is_type(dat_srq_free(srq), DAT_INVALID_STATE, "dat_srq_free: attached: DAT_INVALID_STATE");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    is_success(dat_srq_free(srq), "dat_srq_free: nothing is attached: success");
    is_success(dat_pz_free(pz), "dat_pz_free: the queues are freed: success");
}

static void closing(void)
{
    struct fx other;
    struct srq q;
    DAT_SRQ_HANDLE srq;
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR attr = { 10, 1, DAT_SRQ_LW_DEFAULT };

    must_rc(dat_ia_open(env_ia(), 8, &async, &ia), DAT_SUCCESS, "dat_ia_open");
    must_rc(dat_pz_create(ia, &pz), DAT_SUCCESS, "dat_pz_create");
    must_rc(dat_srq_create(ia, pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    is_code(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
            DAT_INVALID_STATE_IA_IN_USE, "dat_ia_close: graceful, a queue is left: DAT_INVALID_STATE");
    is_success(dat_srq_free(srq), "dat_srq_free: success");
    is_success(dat_pz_free(pz), "dat_pz_free: success");
    is_success(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG),
               "dat_ia_close: graceful, nothing is left: success");

    {
        struct srq_pair p;

        fx_open(&other);
        srq_open(&q, &other, 10, 10, 64);
        srq_fill(&q, 0, 10);
        srq_pair_open(&p, &q);
        must(srq_send_many(&p, 3, 20, 0), "no arrival");
        srq = q.handle;
        is_success(dat_ia_close(other.ia, DAT_CLOSE_ABRUPT_FLAG),
                   "dat_ia_close: abrupt, queue with buffers, endpoint and completions: success");
        is_type(dat_srq_free(srq), DAT_INVALID_HANDLE,
                "dat_srq_free: its adapter is closed: DAT_INVALID_HANDLE");
        /* The process must still free the memory, but not the LMRs. */
        q.handle = DAT_HANDLE_NULL;
        q.mem.lmr = DAT_HANDLE_NULL;
        srq_close(&q);
        p.out.lmr = DAT_HANDLE_NULL;
        region_free(&p.out);
    }
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    zoo_open(&zoo);
    attached();
    with_buffers();
    twice();
    handles();
    the_zone();
    closing();
    zoo_close(&zoo);
    return done_testing();
}
