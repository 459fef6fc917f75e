/*
 * trips.c - makes three trips through the library, in which trips.sh counts functions and files.
 *
 *   trips [ADAPTER]
 *
 * The trips are: a message of 8 bytes on a connection of the process with itself, with its post and the fetch of both
 * completions; dat_srq_set_lw, which raises no event; dat_ep_modify of an attribute. trips.sh counts what the functions
 * *_trip call. Before, WARM rounds create what the library creates on first use, and give locks an owner, so that each
 * later call takes the same trip.
 */
#include "common/fixture.h"

#include <string.h>

#define WARM 200
#define TRIP __attribute__((noinline, noclone)) static void

static void receive(struct pair *pair, struct region *region)
{
    DAT_LMR_TRIPLET into = segment(region, 2048, 8);

    must_rc(dat_ep_post_recv(pair->b.ep, 1, &into, cookie(1), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_recv");
}

static inline void send_one(struct pair *pair, struct region *region)
{
    DAT_LMR_TRIPLET from = segment(region, 0, 8);
    DAT_EVENT event;

    must_rc(dat_ep_post_send(pair->a.ep, 1, &from, cookie(2), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_send");
    must_rc(dat_evd_dequeue(pair->b.recv, &event), DAT_SUCCESS, "dat_evd_dequeue: the receive");
    must_rc(dat_evd_dequeue(pair->a.req, &event), DAT_SUCCESS, "dat_evd_dequeue: the send");
}

static inline void set_lw(DAT_SRQ_HANDLE srq)
{
    must_rc(dat_srq_set_lw(srq, 1), DAT_SUCCESS, "dat_srq_set_lw");
}

static inline void modify(DAT_EP_HANDLE ep, const DAT_EP_PARAM *param)
{
    must_rc(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, param), DAT_SUCCESS, "dat_ep_modify");
}

TRIP message_trip(struct pair *pair, struct region *region)
{
    send_one(pair, region);
}

TRIP set_lw_trip(DAT_SRQ_HANDLE srq)
{
    set_lw(srq);
}

TRIP modify_trip(DAT_EP_HANDLE ep, const DAT_EP_PARAM *param)
{
    modify(ep, param);
}

int main(int argc, char **argv)
{
    static struct fx fx;
    static struct pair pair;
    static struct region region;
    struct side other;
    DAT_SRQ_HANDLE srq;
    DAT_SRQ_ATTR queue;
    DAT_EP_PARAM param;

    env_init(argc, argv, NULL);
    fx_open(&fx);
    side_make(&pair.a, &fx, NULL);
    side_make(&pair.b, &fx, NULL);
    side_make(&other, &fx, NULL);
    sides_connect(&pair.a, &pair.b);
    region_make(&fx, &region, 4096, DAT_MEM_PRIV_ALL_FLAG);
    memset(&queue, 0, sizeof queue);
    queue.max_recv_dtos = 64;
    queue.max_recv_iov = 4;
    queue.low_watermark = DAT_SRQ_LW_DEFAULT;
    must_rc(dat_srq_create(fx.ia, fx.pz, &queue, &srq), DAT_SUCCESS, "dat_srq_create");
    for (int i = 0; i < 2; i++) {
        DAT_LMR_TRIPLET into = segment(&region, 1024, 8);

        must_rc(dat_srq_post_recv(srq, 1, &into, cookie(1)), DAT_SUCCESS, "dat_srq_post_recv");
    }
    memset(&param, 0, sizeof param);
    param.ep_attr.max_recv_dtos = 16;

    for (int round = 0; round < WARM; round++) {
        receive(&pair, &region);
        send_one(&pair, &region);
        set_lw(srq);
        modify(other.ep, &param);
    }
    receive(&pair, &region);
    message_trip(&pair, &region);
    set_lw_trip(srq);
    modify_trip(other.ep, &param);
    fx_close(&fx);
    return 0;
}
