/*
 * device.c - an RDMA device in the memory of one process, for instructions.sh.
 *
 * This library replaces libibverbs.so.1 and librdmacm.so.1, so that instructions of the provider verbs can be counted on any
 * machine, with reproducible results. It has one device with one port, whose address is 127.0.0.1. Queue pairs of the
 * process connect to each other. A post executes the request and queues its completions before it returns.
 *
 * There are no completion channel events, memory windows or key checks, and the only errors are flushes. So a message
 * needs a posted receive of sufficient length.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The header defines some functions as macros. */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

#define PLACES 4096 /* entries of every queue */
#define SEGMENTS 4  /* maximum segments of a receive */
#define PAIRS 64

static void check(bool cond, const char *what)
{
    if (cond)
        return;
    fprintf(stderr, "device.c: %s\n", what);
    abort();
}

/* ---- queues ---- */

struct receive {
    uint64_t wr_id;
    int count;
    struct ibv_sge segments[SEGMENTS];
};

/* Receives, oldest first. Only the thread of the rounds uses them until the connection ends. */
struct receives {
    unsigned first, end;
    struct receive places[PLACES];
};

struct cq {
    struct ibv_cq base;
    bool lock;
    unsigned first, end;
    struct ibv_wc places[PLACES];
};

struct srq {
    struct ibv_srq base;
    struct receives receives;
};

struct qp {
    struct ibv_qp base;
    struct qp *peer;
    struct receives *receives; /* of this queue pair or of the SRQ */
    bool last_reached;         /* LAST_WQE_REACHED must be reported */
};

static struct qp *pairs[PAIRS]; /* all queue pairs, by number */

/* Completion queues need a lock, because the provider's progress thread polls them, too. */
static void lock(struct cq *cq)
{
    while (__atomic_test_and_set(&cq->lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(struct cq *cq)
{
    __atomic_clear(&cq->lock, __ATOMIC_RELEASE);
}

static void complete(struct ibv_cq *base, struct qp *qp, uint64_t wr_id, enum ibv_wc_status status, size_t length)
{
    struct cq *cq = (struct cq *)base;
    struct ibv_wc *wc;

    lock(cq);
    check(cq->end - cq->first < PLACES, "a completion queue is full");
    wc = &cq->places[cq->end++ % PLACES];
    wc->wr_id = wr_id;
    wc->status = status;
    wc->byte_len = (uint32_t)length;
    wc->qp_num = qp->base.qp_num;
    unlock(cq);
}

static int poll_cq(struct ibv_cq *base, int room, struct ibv_wc *wc)
{
    struct cq *cq = (struct cq *)base;
    int got = 0;

    if (cq->first == __atomic_load_n(&cq->end, __ATOMIC_ACQUIRE))
        return 0;
    lock(cq);
    while (got < room && cq->first != cq->end)
        wc[got++] = cq->places[cq->first++ % PLACES];
    unlock(cq);
    return got;
}

static void receive_add(struct receives *receives, const struct ibv_recv_wr *wr)
{
    struct receive *place = &receives->places[receives->end % PLACES];

    check(wr->next == NULL && wr->num_sge <= SEGMENTS, "a receive of an unknown form");
    check(receives->end - receives->first < PLACES, "a receive queue is full");
    place->wr_id = wr->wr_id;
    place->count = wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++)
        place->segments[i] = wr->sg_list[i];
    receives->end++;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)bad;
    receive_add(((struct qp *)qp)->receives, wr);
    return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)bad;
    receive_add(&((struct srq *)srq)->receives, wr);
    return 0;
}

static int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct qp *qp = (struct qp *)base, *peer = qp->peer;
    const struct ibv_sge *local = wr->sg_list;
    size_t length = wr->num_sge == 1 ? local->length : 0;

    (void)bad;
    check(peer != NULL && wr->next == NULL && wr->num_sge <= 1, "a request of an unknown form");
    if (wr->opcode == IBV_WR_SEND) {
        struct receives *receives = peer->receives;
        const struct receive *to = &receives->places[receives->first % PLACES];

        check(receives->first != receives->end, "there is no receive for a message");
        check(length == 0 || (to->count == 1 && to->segments[0].length >= length), "a receive is too short");
        if (length > 0)
            memcpy((void *)(uintptr_t)to->segments[0].addr, (void *)(uintptr_t)local->addr, length);
        receives->first++;
        complete(peer->base.recv_cq, peer, to->wr_id, IBV_WC_SUCCESS, length);
    } else if (length > 0) {
        void *here = (void *)(uintptr_t)local->addr, *there = (void *)(uintptr_t)wr->wr.rdma.remote_addr;

        check(wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_READ, "an unknown operation");
        if (wr->opcode == IBV_WR_RDMA_WRITE)
            memcpy(there, here, length);
        else
            memcpy(here, there, length);
    }
    if (wr->send_flags & IBV_SEND_SIGNALED)
        complete(qp->base.send_cq, qp, wr->wr_id, IBV_WC_SUCCESS, length);
    return 0;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
    (void)cq, (void)solicited;
    return 0;
}

/* ---- the device ---- */

static struct ibv_device device = { .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "memory0" };
static struct ibv_device *list[] = { &device, NULL };

struct ibv_device **ibv_get_device_list(int *count)
{
    *count = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **devices)
{
    (void)devices;
}

const char *ibv_get_device_name(struct ibv_device *of)
{
    return of->name;
}

static int bell(void)
{
    return eventfd(0, EFD_CLOEXEC);
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
    struct ibv_context *context = calloc(1, sizeof *context);

    context->device = of;
    context->ops.poll_cq = poll_cq;
    context->ops.req_notify_cq = req_notify_cq;
    context->ops.post_send = post_send;
    context->ops.post_recv = post_recv;
    context->ops.post_srq_recv = post_srq_recv;
    context->cmd_fd = bell();
    context->async_fd = bell();
    return context;
}

int ibv_close_device(struct ibv_context *context)
{
    close(context->cmd_fd);
    close(context->async_fd);
    free(context);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    memset(attr, 0, sizeof *attr);
    attr->max_mr_size = UINT64_MAX;
    attr->max_qp = PAIRS - 1;
    attr->max_qp_wr = attr->max_cqe = attr->max_srq_wr = PLACES;
    attr->max_sge = attr->max_sge_rd = attr->max_srq_sge = SEGMENTS;
    attr->max_cq = attr->max_pd = attr->max_srq = 1024;
    attr->max_mr = 8192;
    attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = attr->max_res_rd_atom = 16;
    attr->phys_port_cnt = 1;
    return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *attr)
{
    struct ibv_port_attr port = { .state = IBV_PORT_ACTIVE, .max_msg_sz = 1u << 30 };

    (void)context, (void)number;
    memcpy(attr, &port, offsetof(struct ibv_port_attr, port_cap_flags2));
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t number, int index, union ibv_gid *gid)
{
    (void)context, (void)number, (void)index;
    memset(gid, 0, sizeof *gid);
    return 0;
}

/* Fails, because the device supports no datagrams. */
struct ibv_ah *ibv_create_ah(struct ibv_pd *zone, struct ibv_ah_attr *attr)
{
    (void)zone, (void)attr;
    errno = EOPNOTSUPP;
    return NULL;
}

int ibv_destroy_ah(struct ibv_ah *handle)
{
    (void)handle;
    return EINVAL;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    eventfd_t rings;

    for (size_t i = 0; i < PAIRS; i++) {
        if (pairs[i] == NULL || pairs[i]->base.context != context ||
            !__atomic_exchange_n(&pairs[i]->last_reached, false, __ATOMIC_ACQ_REL))
            continue;
        event->element.qp = &pairs[i]->base;
        event->event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
        return 0;
    }
    (void)!eventfd_read(context->async_fd, &rings);
    errno = EAGAIN;
    return -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
}

int ibv_fork_init(void)
{
    return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return status == IBV_WC_SUCCESS ? "success" : "failure";
}

/* ---- its objects ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof *pd);

    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    static uint32_t keys;
    struct ibv_mr *mr = calloc(1, sizeof *mr);

    (void)access;
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = addr;
    mr->length = length;
    mr->lkey = mr->rkey = __atomic_add_fetch(&keys, 1, __ATOMIC_RELAXED);
    return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    free(mr);
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = calloc(1, sizeof *channel);

    channel->context = context;
    channel->fd = bell();
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    free(channel);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    (void)channel, (void)cq, (void)context;
    errno = EAGAIN;
    return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    (void)cq, (void)count;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cookie, struct ibv_comp_channel *channel,
                             int vector)
{
    struct cq *cq = calloc(1, sizeof *cq);

    (void)vector;
    cq->base.context = context;
    cq->base.channel = channel;
    cq->base.cq_context = cookie;
    cq->base.cqe = cqe;
    return &cq->base;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
    cq->cqe = cqe;
    return cqe <= PLACES ? 0 : EINVAL;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(cq);
    return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    struct srq *srq = calloc(1, sizeof *srq);

    (void)init;
    srq->base.context = pd->context;
    srq->base.pd = pd;
    return &srq->base;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    (void)srq, (void)attr, (void)mask;
    return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    free(srq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct qp *qp = calloc(1, sizeof *qp);
    uint32_t number = 1;

    while (number < PAIRS && pairs[number] != NULL)
        number++;
    check(number < PAIRS, "too many queue pairs");
    qp->base.context = pd->context;
    qp->base.pd = pd;
    qp->base.send_cq = init->send_cq;
    qp->base.recv_cq = init->recv_cq;
    qp->base.srq = init->srq;
    qp->base.qp_num = number;
    qp->receives = init->srq != NULL ? &((struct srq *)init->srq)->receives : calloc(1, sizeof *qp->receives);
    pairs[number] = qp;
    return &qp->base;
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
    struct qp *qp = (struct qp *)base;
    struct receives *receives = qp->receives;

    if (mask & IBV_QP_STATE)
        base->state = attr->qp_state;
    if (mask & IBV_QP_DEST_QPN) {
        check(attr->dest_qp_num < PAIRS, "an unknown queue pair");
        qp->peer = pairs[attr->dest_qp_num];
    }
    if (attr->qp_state == IBV_QPS_ERR && base->srq == NULL)
        while (receives->first != receives->end)
            complete(base->recv_cq, qp, receives->places[receives->first++ % PLACES].wr_id, IBV_WC_WR_FLUSH_ERR, 0);
    else if (attr->qp_state == IBV_QPS_ERR) {
        __atomic_store_n(&qp->last_reached, true, __ATOMIC_RELEASE);
        eventfd_write(base->context->async_fd, 1);
    }
    return 0;
}

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    (void)init;
    check(mask == IBV_QP_STATE, "a query of other attributes than the state");
    attr->qp_state = base->state;
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *base)
{
    struct qp *qp = (struct qp *)base;

    pairs[base->qp_num] = NULL;
    for (size_t i = 0; i < PAIRS; i++)
        if (pairs[i] != NULL && pairs[i]->peer == qp)
            pairs[i]->peer = NULL;
    if (base->srq == NULL)
        free(qp->receives);
    free(qp);
    return 0;
}

/* ---- connections ---- */

struct id {
    struct rdma_cm_id base;
    in_port_t port;      /* in network byte order, like all ports here */
    in_port_t peer_port;
    uint32_t peer_qp;
    struct id *peer;
    struct id *next; /* in the list of listeners */
};

struct event {
    struct rdma_cm_event base;
    unsigned char data[256];
    struct event *next;
};

struct channel {
    struct rdma_event_channel base;
    struct event *first, *last;
};

static pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct id *listeners;
static struct ibv_context *cm_context;

static in_port_t new_port(void)
{
    static uint16_t last = 20000;

    return htons(++last);
}

/* Sends an event to the owner of an identifier. The caller holds cm_lock. */
static void tell(struct id *id, struct id *listener, enum rdma_cm_event_type type, const struct rdma_conn_param *param)
{
    struct channel *channel = (struct channel *)id->base.channel;
    struct event *event = calloc(1, sizeof *event);

    event->base.id = &id->base;
    event->base.listen_id = listener != NULL ? &listener->base : NULL;
    event->base.event = type;
    if (param != NULL) {
        event->base.param.conn = *param;
        /* One end's responder resources are the other end's initiator depth. */
        event->base.param.conn.responder_resources = param->initiator_depth;
        event->base.param.conn.initiator_depth = param->responder_resources;
        memcpy(event->data, param->private_data, param->private_data_len);
        event->base.param.conn.private_data = event->data;
    }
    if (channel->last != NULL)
        channel->last->next = event;
    else
        channel->first = event;
    channel->last = event;
    eventfd_write(channel->base.fd, 1);
}

/* Takes cm_lock and sends an event to the owner of `id`, unless NULL. */
static int told(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
    pthread_mutex_lock(&cm_lock);
    if (id != NULL)
        tell((struct id *)id, NULL, type, NULL);
    pthread_mutex_unlock(&cm_lock);
    return 0;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct channel *channel = calloc(1, sizeof *channel);

    channel->base.fd = bell();
    return &channel->base;
}

void rdma_destroy_event_channel(struct rdma_event_channel *base)
{
    struct channel *channel = (struct channel *)base;

    while (channel->first != NULL) {
        struct event *event = channel->first;

        channel->first = event->next;
        free(event);
    }
    close(base->fd);
    free(channel);
}

int rdma_get_cm_event(struct rdma_event_channel *base, struct rdma_cm_event **got)
{
    struct channel *channel = (struct channel *)base;
    struct event *event;
    eventfd_t rings;

    pthread_mutex_lock(&cm_lock);
    event = channel->first;
    if (event == NULL)
        (void)!eventfd_read(base->fd, &rings);
    else if ((channel->first = event->next) == NULL)
        channel->last = NULL;
    pthread_mutex_unlock(&cm_lock);
    *got = &event->base;
    errno = EAGAIN;
    return event != NULL ? 0 : -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    free(event);
    return 0;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **made, void *context,
                   enum rdma_port_space space)
{
    struct id *id = calloc(1, sizeof *id);

    id->base.channel = channel;
    id->base.context = context;
    id->base.ps = space;
    *made = &id->base;
    return 0;
}

int rdma_destroy_id(struct rdma_cm_id *base)
{
    struct id *id = (struct id *)base, **place = &listeners;

    pthread_mutex_lock(&cm_lock);
    while (*place != NULL && *place != id)
        place = &(*place)->next;
    if (*place != NULL)
        *place = id->next;
    if (id->peer != NULL)
        id->peer->peer = NULL;
    pthread_mutex_unlock(&cm_lock);
    free(id);
    return 0;
}

int rdma_bind_addr(struct rdma_cm_id *base, struct sockaddr *addr)
{
    struct sockaddr_in *local = (struct sockaddr_in *)addr;

    if (local->sin_family != AF_INET || local->sin_addr.s_addr != htonl(INADDR_LOOPBACK)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    pthread_mutex_lock(&cm_lock);
    if (cm_context == NULL)
        cm_context = ibv_open_device(&device);
    pthread_mutex_unlock(&cm_lock);
    base->verbs = cm_context;
    base->port_num = 1;
    ((struct id *)base)->port = local->sin_port != 0 ? local->sin_port : new_port();
    memcpy(&base->route.addr.src_addr, addr, sizeof *local);
    return 0;
}

int rdma_listen(struct rdma_cm_id *base, int backlog)
{
    struct id *id = (struct id *)base;

    (void)backlog;
    pthread_mutex_lock(&cm_lock);
    id->next = listeners;
    listeners = id;
    pthread_mutex_unlock(&cm_lock);
    return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *base, struct sockaddr *from, struct sockaddr *to, int limit)
{
    (void)limit;
    if (rdma_bind_addr(base, from) != 0)
        return -1;
    ((struct id *)base)->peer_port = ((struct sockaddr_in *)to)->sin_port;
    memcpy(&base->route.addr.dst_addr, to, sizeof(struct sockaddr_in));
    return told(base, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *base, int limit)
{
    (void)limit;
    return told(base, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_connect(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
    struct id *id = (struct id *)base, *listener, *other;

    pthread_mutex_lock(&cm_lock);
    for (listener = listeners; listener != NULL && listener->port != id->peer_port;)
        listener = listener->next;
    if (listener == NULL) {
        tell(id, NULL, RDMA_CM_EVENT_REJECTED, NULL);
    } else {
        other = calloc(1, sizeof *other);
        other->base = listener->base;
        other->base.route.addr.dst_addr = id->base.route.addr.src_addr;
        other->port = listener->port;
        other->peer_port = id->port;
        other->peer_qp = param->qp_num;
        other->peer = id;
        id->peer = other;
        tell(other, listener, RDMA_CM_EVENT_CONNECT_REQUEST, param);
    }
    pthread_mutex_unlock(&cm_lock);
    return 0;
}

int rdma_accept(struct rdma_cm_id *base, struct rdma_conn_param *param)
{
    struct id *id = (struct id *)base;

    pthread_mutex_lock(&cm_lock);
    if (id->peer != NULL) {
        id->peer->peer_qp = param->qp_num;
        tell(id->peer, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, param);
    }
    pthread_mutex_unlock(&cm_lock);
    return 0;
}

int rdma_establish(struct rdma_cm_id *base)
{
    struct id *id = (struct id *)base;

    return told(id->peer != NULL ? &id->peer->base : NULL, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_reject(struct rdma_cm_id *base, const void *data, uint8_t length)
{
    struct id *id = (struct id *)base;

    (void)data, (void)length;
    return told(id->peer != NULL ? &id->peer->base : NULL, RDMA_CM_EVENT_REJECTED);
}

int rdma_disconnect(struct rdma_cm_id *base)
{
    struct id *id = (struct id *)base;

    return told(id->peer != NULL ? &id->peer->base : NULL, RDMA_CM_EVENT_DISCONNECTED);
}

int rdma_notify(struct rdma_cm_id *base, enum ibv_event_type event)
{
    (void)base, (void)event;
    return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *base, struct ibv_qp_attr *attr, int *mask)
{
    *mask = IBV_QP_STATE;
    if (attr->qp_state == IBV_QPS_RTR) {
        attr->dest_qp_num = ((struct id *)base)->peer_qp;
        *mask |= IBV_QP_DEST_QPN;
    }
    return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return ((struct id *)id)->port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return ((struct id *)id)->peer_port;
}
