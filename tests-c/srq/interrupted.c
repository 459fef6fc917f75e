/*
 * interrupted.c - tests whether an RDMA device loses the receive of an interrupted message. Uses libibverbs without
 * libdat. docs/dev/kernels.md lists the kernels where it does.
 */
#define _POSIX_C_SOURCE 200809L
#include "interrupted.h"

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>

#include "common/env.h"

enum { HALF = 512, DEADLINE_MS = 5000 };

struct probe {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_srq *srq;
    struct ibv_qp *rx, *tx;
    int gid_index;
    union ibv_gid gid;
    char memory[4 * HALF];
};

/* Finds the GID of an address. */
static bool find_gid(struct probe *p, const struct sockaddr *address)
{
    uint8_t wanted[16] = { [10] = 0xff, [11] = 0xff };

    if (address->sa_family == AF_INET)
        memcpy(wanted + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    else
        memcpy(wanted, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    for (p->gid_index = 0; p->gid_index < 16; p->gid_index++)
        if (ibv_query_gid(p->context, 1, p->gid_index, &p->gid) == 0 && memcmp(p->gid.raw, wanted, sizeof wanted) == 0)
            return true;
    return false;
}

static struct ibv_qp *make_qp(struct probe *p, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr init = { .send_cq = p->cq, .recv_cq = p->cq, .srq = srq, .qp_type = IBV_QPT_RC };

    init.cap.max_send_wr = 4;
    init.cap.max_recv_wr = srq ? 0 : 1;
    init.cap.max_send_sge = 2;
    init.cap.max_recv_sge = 1;
    return ibv_create_qp(p->pd, &init);
}

/* Connects a queue pair with another of the same device, for packets of 256 bytes. */
static bool connect_qp(const struct probe *p, struct ibv_qp *qp, const struct ibv_qp *to)
{
    struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        return false;
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_256;
    a.dest_qp_num = to->qp_num;
    a.max_dest_rd_atomic = 1;
    a.ah_attr.is_global = 1;
    a.ah_attr.port_num = 1;
    a.ah_attr.grh.dgid = p->gid;
    a.ah_attr.grh.sgid_index = (uint8_t)p->gid_index;
    a.ah_attr.grh.hop_limit = 64;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
        return false;
    a.qp_state = IBV_QPS_RTS;
    a.timeout = 14;
    a.retry_cnt = a.rnr_retry = 7;
    a.max_rd_atomic = 1;
    return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0;
}

static bool open_probe(struct probe *p, const struct sockaddr *address)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };

    return find_gid(p, address) && (p->pd = ibv_alloc_pd(p->context)) != NULL &&
           (p->mr = ibv_reg_mr(p->pd, p->memory, sizeof p->memory, IBV_ACCESS_LOCAL_WRITE)) != NULL &&
           (p->cq = ibv_create_cq(p->context, 16, NULL, NULL, 0)) != NULL &&
           (p->srq = ibv_create_srq(p->pd, &init)) != NULL && (p->rx = make_qp(p, p->srq)) != NULL &&
           (p->tx = make_qp(p, NULL)) != NULL && connect_qp(p, p->rx, p->tx) && connect_qp(p, p->tx, p->rx);
}

static void close_probe(struct probe *p)
{
    if (p->tx)
        (void)ibv_destroy_qp(p->tx);
    if (p->rx)
        (void)ibv_destroy_qp(p->rx);
    if (p->srq)
        (void)ibv_destroy_srq(p->srq);
    if (p->cq)
        (void)ibv_destroy_cq(p->cq);
    if (p->mr)
        (void)ibv_dereg_mr(p->mr);
    if (p->pd)
        (void)ibv_dealloc_pd(p->pd);
    (void)ibv_close_device(p->context);
}

/*
 * Posts one receive, and sends a message of four packets. The memory of the last two has a wrong key, so the sender
 * fails after the first two. The limit event shows that the receiver has taken the receive.
 */
static bool interrupt_message(struct probe *p)
{
    uint64_t at = (uint64_t)(uintptr_t)p->memory, end;
    struct ibv_sge to = { at, 2 * HALF, p->mr->lkey };
    struct ibv_sge from[2] = { { at + 2 * HALF, HALF, p->mr->lkey }, { at + 3 * HALF, HALF, p->mr->lkey ^ 0xff00 } };
    struct ibv_recv_wr recv = { .wr_id = 1, .sg_list = &to, .num_sge = 1 }, *bad_recv;
    struct ibv_send_wr send = { .sg_list = from, .num_sge = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
    struct ibv_send_wr *bad_send;
    struct ibv_srq_attr limit = { .srq_limit = 1 };
    struct pollfd fd = { .fd = p->context->async_fd, .events = POLLIN };
    struct ibv_async_event event;

    if (ibv_post_srq_recv(p->srq, &recv, &bad_recv) != 0 || ibv_modify_srq(p->srq, &limit, IBV_SRQ_LIMIT) != 0 ||
        ibv_post_send(p->tx, &send, &bad_send) != 0)
        return false;
    for (end = now_ms() + DEADLINE_MS; now_ms() < end;) {
        bool taken;

        if (poll(&fd, 1, 100) != 1 || ibv_get_async_event(p->context, &event) != 0)
            continue;
        taken = event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
        ibv_ack_async_event(&event);
        if (taken)
            return true;
    }
    return false;
}

/* Returns whether the receive does not complete although its queue pair is in the error state, then reset. */
static bool receive_is_lost(struct probe *p)
{
    static const enum ibv_qp_state states[] = { IBV_QPS_ERR, IBV_QPS_RESET };

    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr a = { .qp_state = states[i] };
        uint64_t end = now_ms() + 1000;
        struct ibv_wc wc;

        if (ibv_modify_qp(p->rx, &a, IBV_QP_STATE) != 0)
            return false;
        while (now_ms() < end)
            if (ibv_poll_cq(p->cq, 1, &wc) == 1 && wc.qp_num == p->rx->qp_num)
                return false;
    }
    return true;
}

bool interrupted_receive_is_lost(const struct sockaddr *address)
{
    bool lost = false;
    int n = 0;
    struct ibv_device **devices = ibv_get_device_list(&n);

    for (int i = 0; i < n && !lost; i++) {
        struct probe p = { .context = ibv_open_device(devices[i]) };

        if (p.context == NULL)
            continue;
        lost = open_probe(&p, address) && interrupt_message(&p) && receive_is_lost(&p);
        close_probe(&p);
    }
    if (devices)
        ibv_free_device_list(devices);
    return lost;
}

#else

bool interrupted_receive_is_lost(const struct sockaddr *address)
{
    (void)address;
    return false;
}

#endif
