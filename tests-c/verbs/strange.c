/*
 * strange.c - a peer without this library: a program for librdmacm and libibverbs connects to a service of ours. The
 * service must survive, lose no buffer, and continue.
 */
#define _DEFAULT_SOURCE
#include "adapters.h"
#include "traffic.h"

#ifdef __has_include
#if __has_include(<rdma/rdma_cma.h>)
#define WITH_RDMA_CM
#endif
#endif

#ifdef WITH_RDMA_CM

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLOOD = 300, BUFFERS = 64, LONGEST = 56, AREA = 65536 };

/* Orders for the stranger. */
enum deed {
    GREET,         /* Sends a request with n bytes of private data, which the service rejects. */
    TOO_LONG,      /* Sends a request with more private data than a packet has room for, which fails. */
    HALF_OPEN,     /* Sends a request, and never confirms the reply. */
    LEAVE_REQUEST, /* Sends a request, and destroys its identifier before the reply. */
    LEAVE_UP,      /* Connects, and destroys its identifier. */
    HANG_UP,       /* Connects, and disconnects. */
    LONG_SEND,     /* Connects, and sends a message longer than any receive. */
    WRONG_WRITE, WRONG_READ, ATOMIC, SEND_IMM, WRITE_IMM, SEND_INV, SHORT_SEND,
    DIE_HALF_OPEN, /* as HALF_OPEN and LEAVE_UP, but the process exits */
    DIE_UP,
    FLOOD_ALL,     /* Sends many concurrent requests. */
    REFUSE,        /* Listens, and rejects with n bytes. */
    ACCEPT,        /* Listens, and accepts with n bytes and a queue pair number that does not exist. */
    GARBLE,        /* Sends n requests with random private data and parameters, and abandons them at random points. */
    QUIT
};

struct order {
    struct sockaddr_storage address;
    uint16_t port;
    enum deed deed;
    int n;
    unsigned char header[4]; /* of REFUSE: the first bytes, unless all are 0 */
};

struct answer {
    int result; /* 0: success */
    int event, up, refused, lost;
    uint16_t port;
};

/* ---- the stranger ---- */

static struct rdma_event_channel *channel;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static unsigned char *area;

/* Returns the kind of the channel's next event, or -1 after a timeout. */
static int next_event(struct rdma_cm_id **id, unsigned ms)
{
    struct pollfd f = { channel->fd, POLLIN, 0 };
    struct rdma_cm_event *e;
    int kind;

    if (poll(&f, 1, (int)env_ms(ms)) != 1 || rdma_get_cm_event(channel, &e) != 0)
        return -1;
    kind = (int)e->event;
    if (id != NULL)
        *id = e->id;
    rdma_ack_cm_event(e);
    return kind;
}

static bool resolved(struct rdma_cm_id *id, const struct order *o)
{
    struct sockaddr_storage to = o->address;

    ((struct sockaddr_in *)&to)->sin_port = htons(o->port);
    return rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, (int)env_ms(SOON_MS)) == 0 &&
           next_event(NULL, SOON_MS) == RDMA_CM_EVENT_ADDR_RESOLVED &&
           rdma_resolve_route(id, (int)env_ms(SOON_MS)) == 0 &&
           next_event(NULL, SOON_MS) == RDMA_CM_EVENT_ROUTE_RESOLVED;
}

static void with_queue_pair(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 16;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    if (pd == NULL) {
        pd = ibv_alloc_pd(id->verbs);
        area = calloc(1, AREA);
        must(pd != NULL && area != NULL, "no protection domain");
        mr = ibv_reg_mr(pd, area, AREA, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        must(mr != NULL, "memory cannot be registered");
    }
    must(rdma_create_qp(id, pd, &attr) == 0, "no queue pair");
}

static int request(struct rdma_cm_id *id, int bytes)
{
    static unsigned char data[256];
    struct rdma_conn_param param;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i + 1);
    memset(&param, 0, sizeof param);
    param.private_data = data;
    param.private_data_len = (uint8_t)bytes;
    param.responder_resources = param.initiator_depth = 1;
    param.retry_count = 6;
    param.rnr_retry_count = 7;
    return rdma_connect(id, &param);
}

static struct rdma_cm_id *new_id(void)
{
    struct rdma_cm_id *id = NULL;

    must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "no identifier");
    return id;
}

static void post_strange(struct rdma_cm_id *id, enum deed deed, const DAT_RMR_TRIPLET *to)
{
    struct ibv_sge sge = { (uintptr_t)area, 64, mr->lkey };
    struct ibv_send_wr wr, *bad;
    struct ibv_wc wc;
    uint64_t end = now_ms() + env_ms(SOON_MS);

    memset(&wr, 0, sizeof wr);
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.opcode = IBV_WR_SEND;
    wr.wr.rdma.remote_addr = to->target_address;
    wr.wr.rdma.rkey = to->rmr_context;
    switch (deed) {
    case LONG_SEND: sge.length = AREA; break;
    case WRONG_WRITE: wr.opcode = IBV_WR_RDMA_WRITE; wr.wr.rdma.rkey ^= 0x5a5a; break;
    case WRONG_READ: wr.opcode = IBV_WR_RDMA_READ; wr.wr.rdma.remote_addr ^= 1ull << 40; break;
    case SEND_IMM: wr.opcode = IBV_WR_SEND_WITH_IMM; wr.imm_data = 0xdeadbeef; break;
    case WRITE_IMM: wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM; wr.imm_data = 0xdeadbeef; break;
    case SEND_INV: wr.opcode = IBV_WR_SEND_WITH_INV; wr.invalidate_rkey = to->rmr_context; break;
    case ATOMIC:
        sge.length = 8;
        wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        wr.wr.atomic.remote_addr = to->target_address;
        wr.wr.atomic.rkey = to->rmr_context;
        wr.wr.atomic.compare_add = 1;
        break;
    default: break;
    }
    /* The device might not support such a request. */
    if (ibv_post_send(id->qp, &wr, &bad) != 0)
        return;
    while (ibv_poll_cq(id->send_cq, 1, &wc) == 0 && now_ms() < end)
        breathe();
}

static struct answer connect_and(const struct order *o)
{
    struct answer a;
    struct rdma_cm_id *id = new_id();
    bool bare = o->deed == GREET || o->deed == HALF_OPEN || o->deed == DIE_HALF_OPEN;
    DAT_RMR_TRIPLET to;

    memset(&a, 0, sizeof a);
    a.result = 1;
    memset(&to, 0, sizeof to);
    to.target_address = (DAT_VADDR)(uintptr_t)area;
    to.rmr_context = (DAT_RMR_CONTEXT)o->n;
    if (!resolved(id, o))
        return a;
    with_queue_pair(id);
    /* Without a queue pair, librdmacm does not confirm the reply. */
    if (bare)
        rdma_destroy_qp(id);
    if (o->deed == TOO_LONG) {
        a.event = request(id, o->n);
        a.result = a.event == 0;
        rdma_destroy_id(id);
        return a;
    }
    if (request(id, o->deed == GREET ? o->n : 0) != 0)
        return a;
    if (o->deed == LEAVE_REQUEST) {
        rdma_destroy_qp(id);
        rdma_destroy_id(id);
        a.result = 0;
        return a;
    }
    a.event = next_event(NULL, SOON_MS);
    if (o->deed == DIE_HALF_OPEN || o->deed == DIE_UP)
        _exit(0);
    a.result = o->deed == GREET ? a.event != RDMA_CM_EVENT_REJECTED
               : bare           ? a.event != RDMA_CM_EVENT_CONNECT_RESPONSE
                                : a.event != RDMA_CM_EVENT_ESTABLISHED;
    if (a.result == 0 && o->deed >= LONG_SEND && o->deed <= SHORT_SEND)
        post_strange(id, o->deed, &to);
    if (!bare && o->deed != LEAVE_UP)
        rdma_disconnect(id);
    if (id->qp != NULL)
        rdma_destroy_qp(id);
    rdma_destroy_id(id);
    while (next_event(NULL, 0) >= 0)
        ;
    return a;
}

/* Sends all requests, then collects the replies. */
static struct answer flood(const struct order *o, struct link *up)
{
    static struct rdma_cm_id *id[FLOOD];
    struct answer a;

    memset(&a, 0, sizeof a);
    for (int i = 0; i < FLOOD; i++) {
        id[i] = new_id();
        if (!resolved(id[i], o))
            a.lost++;
    }
    for (int i = 0; i < FLOOD; i++)
        if (request(id[i], 4) != 0)
            a.lost++;
    link_say(up, "asked");
    for (int left = FLOOD - a.lost; left > 0; left--) {
        int kind = next_event(NULL, 3 * SOON_MS);

        if (kind < 0) {
            a.lost += left;
            break;
        }
        a.refused += kind == RDMA_CM_EVENT_REJECTED;
        a.up += kind == RDMA_CM_EVENT_CONNECT_RESPONSE;
        a.lost += kind != RDMA_CM_EVENT_REJECTED && kind != RDMA_CM_EVENT_CONNECT_RESPONSE;
    }
    for (int i = 0; i < FLOOD; i++)
        rdma_destroy_id(id[i]);
    return a;
}

/* Rejects or accepts the caller, as ordered. Returns whether the call succeeds. */
static bool answer_caller(struct rdma_cm_id *caller, const struct order *o, unsigned char *data)
{
    struct rdma_conn_param param;

    if (o->deed == REFUSE)
        return rdma_reject(caller, data, (uint8_t)o->n) == 0;
    memset(&param, 0, sizeof param);
    param.private_data = data;
    param.private_data_len = (uint8_t)o->n;
    param.responder_resources = param.initiator_depth = 255;
    param.rnr_retry_count = 7;
    param.qp_num = 0xabcdef;
    return rdma_accept(caller, &param) == 0;
}

static struct answer refuse(const struct order *o, struct link *up)
{
    static unsigned char data[256];
    struct answer a;
    struct rdma_cm_id *id = new_id(), *caller = NULL;
    struct sockaddr_storage here = o->address;

    memset(&a, 0, sizeof a);
    memset(data, 0x5a, sizeof data);
    if (o->header[3] != 0 || o->header[0] != 0)
        memcpy(data, o->header, sizeof o->header);
    ((struct sockaddr_in *)&here)->sin_port = 0;
    must(rdma_bind_addr(id, (struct sockaddr *)&here) == 0 && rdma_listen(id, 8) == 0, "cannot listen");
    a.port = ntohs(rdma_get_src_port(id));
    must(LINK_SEND(up, a), "the other process is gone");
    a.event = next_event(&caller, SOON_MS);
    a.result = a.event != RDMA_CM_EVENT_CONNECT_REQUEST || !answer_caller(caller, o, data);
    if (o->deed == ACCEPT && a.result == 0)
        a.event = next_event(NULL, SOON_MS);
    if (caller != NULL && caller != id)
        rdma_destroy_id(caller);
    rdma_destroy_id(id);
    return a;
}

/*
 * Sends n requests with random contents, which the service may accept or reject. Counts unresolved addresses as lost.
 */
static struct answer garble(const struct order *o)
{
    struct answer a;

    memset(&a, 0, sizeof a);
    for (int i = 0; i < o->n; i++) {
        struct rdma_cm_id *id = new_id();
        unsigned char data[LONGEST];
        struct rdma_conn_param param;

        for (size_t k = 0; k < sizeof data; k++)
            data[k] = (unsigned char)random();
        memset(&param, 0, sizeof param);
        param.private_data = data;
        param.private_data_len = (uint8_t)(random() % (LONGEST + 1));
        param.responder_resources = (uint8_t)random();
        param.initiator_depth = (uint8_t)random();
        param.flow_control = (uint8_t)random();
        param.retry_count = (uint8_t)random() & 7;
        param.rnr_retry_count = (uint8_t)random() & 7;
        param.srq = (uint8_t)random() & 1;
        param.qp_num = (uint32_t)random() & 0xffffff;
        if (!resolved(id, o))
            a.lost++;
        else if (rdma_connect(id, &param) == 0)
            a.up += random() % 3 != 0 && next_event(NULL, SOON_MS) == RDMA_CM_EVENT_CONNECT_RESPONSE &&
                    random() % 2 != 0 && rdma_establish(id) == 0;
        rdma_destroy_id(id);
        while (next_event(NULL, 0) >= 0)
            ;
    }
    return a;
}

static int stranger(struct link *up)
{
    struct order o;
    struct answer a;

    channel = rdma_create_event_channel();
    must(channel != NULL, "no event channel");
    while (link_recv(up, &o, sizeof o, 10 * SOON_MS) && o.deed != QUIT) {
        a = o.deed == FLOOD_ALL                       ? flood(&o, up)
            : o.deed == REFUSE || o.deed == ACCEPT ? refuse(&o, up)
            : o.deed == GARBLE                     ? garble(&o)
                                                   : connect_and(&o);
        must(LINK_SEND(up, a), "the other process is gone");
    }
    _exit(0);
}

/* ---- the service ---- */

static struct service svc;
static struct peer p;
static DAT_CONN_QUAL qual;

static struct order order(enum deed deed, int n)
{
    struct order o;

    memset(&o, 0, sizeof o);
    o.address = svc.fx.address;
    o.port = (uint16_t)qual;
    o.deed = deed;
    o.n = n;
    return o;
}

/*
 * Sends the order, and serves until the stranger has replied or died, and all connections have ended. Returns whether
 * both happen in time and no buffer is lost.
 */
static bool let(enum deed deed, int n, struct answer *a)
{
    struct order o = order(deed, n);
    uint64_t end = now_ms() + env_ms(2 * SOON_MS);
    bool dies = deed == DIE_HALF_OPEN || deed == DIE_UP, answered = false;

    must(LINK_SEND(&p.link, o), "the stranger is gone");
    while (!answered && now_ms() < end) {
        service_step(&svc);
        if (dies ? peer_join(&p, 0) >= 0 : link_recv(&p.link, a, sizeof *a, 0))
            answered = true;
    }
    if (dies)
        peer_start(&p, "stranger");
    return service_settle(&svc, "a stranger") && answered;
}

/* Returns whether a connection between two endpoints of this process works. */
static bool ordinary(void)
{
    struct pair pair;
    bool good;

    pair_open(&pair, &svc.fx, NULL);
    good = sides_talk(&pair.a, &pair.b);
    pair_close(&pair);
    return good;
}

static void greetings(void)
{
    static const int sizes[] = { 0, 1, 3, 24, 55, LONGEST };
    int good = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct order o = order(GREET, sizes[i]);
        struct answer a;
        DAT_CR_PARAM param;
        DAT_CR_HANDLE cr;
        bool right;

        must(LINK_SEND(&p.link, o), "the stranger is gone");
        cr = next_request(svc.fx.cr);
        must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
        right = param.private_data_size >= sizes[i];
        for (DAT_COUNT k = 0; right && k < param.private_data_size; k++)
            right = ((unsigned char *)param.private_data)[k] == (k < sizes[i] ? k + 1 : 0);
        diag("%d bytes: %d at the service", sizes[i], (int)param.private_data_size);
        must_rc(dat_cr_reject(cr), DAT_SUCCESS, "dat_cr_reject");
        must(LINK_RECV(&p.link, a), "the stranger is gone");
        good += right && a.result == 0;
    }
    is_int(good, (int)(sizeof sizes / sizeof sizes[0]),
           "private data of 0 to %d bytes arrive whole; the stranger is rejected", LONGEST);
}

static void refusals(void)
{
    static const int sizes[] = { 0, 1, 4, 37, 148 };
    int good = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct order o = order(REFUSE, sizes[i]);
        struct answer a;
        struct side s;
        DAT_EVENT e;

        must(LINK_SEND(&p.link, o) && LINK_RECV(&p.link, a), "the stranger is gone");
        side_make(&s, &svc.fx, NULL);
        must_rc(side_connect(&s, fx_address(&svc.fx), a.port), DAT_SUCCESS, "dat_ep_connect");
        must(LINK_RECV(&p.link, a), "the stranger is gone");
        if (a.result == 0 && wait_event(s.conn, &e) &&
            (e.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED ||
             e.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED) &&
            quiet(s.conn))
            good++;
        side_free(&s);
    }
    is_int(good, (int)(sizeof sizes / sizeof sizes[0]),
           "a stranger rejects with 0 to 148 bytes of its own: one event, a rejection");
}

/* Checks rejections with a valid or an invalid header of this library. */
static void headers(void)
{
    static const struct {
        unsigned char header[4];
        int bytes, least, most; /* after the header: bytes sent, minimum and maximum in the event */
    } tries[] = {
        { { 2, 0, 2, 6 }, 5, 5, 5 },    { { 2, 0, 2, 1 }, 0, 0, 0 },      { { 0, 0, 0, 1 }, 0, 0, 0 },
        { { 2, 0, 2, 0 }, 5, 5, 148 },  { { 2, 0, 2, 255 }, 5, 5, 148 },
    };
    int good = 0, count = (int)(sizeof tries / sizeof tries[0]);

    for (int i = 0; i < count; i++) {
        struct order o = order(REFUSE, 4 + tries[i].bytes);
        DAT_CONNECTION_EVENT_DATA *data;
        struct answer a;
        struct side s;
        DAT_EVENT e;
        bool right;

        memcpy(o.header, tries[i].header, sizeof o.header);
        must(LINK_SEND(&p.link, o) && LINK_RECV(&p.link, a), "the stranger is gone");
        side_make(&s, &svc.fx, NULL);
        must_rc(side_connect(&s, fx_address(&svc.fx), a.port), DAT_SUCCESS, "dat_ep_connect");
        must(LINK_RECV(&p.link, a), "the stranger is gone");
        right = a.result == 0 && wait_event(s.conn, &e) && e.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED;
        data = &e.event_data.connect_event_data;
        right = right && data->private_data_size >= tries[i].least && data->private_data_size <= tries[i].most;
        for (DAT_COUNT k = 0; right && k < data->private_data_size; k++)
            right = ((unsigned char *)data->private_data)[k] == (k < tries[i].bytes ? 0x5a : 0);
        good += right && quiet(s.conn);
        side_free(&s);
    }
    is_int(good, count, "a rejection says how many private data it has; else they come with the padding");
}

/* Checks acceptances with a queue pair number that does not exist. */
static void acceptances(void)
{
    static const int sizes[] = { 0, 1, 55, 148, 196 };
    int good = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct order o = order(ACCEPT, sizes[i]);
        struct region r;
        struct answer a;
        struct side s;
        DAT_EVENT e;
        bool right;

        must(LINK_SEND(&p.link, o) && LINK_RECV(&p.link, a), "the stranger is gone");
        side_make(&s, &svc.fx, NULL);
        region_make(&svc.fx, &r, 64, MEM_LOCAL);
        must_rc(side_connect(&s, fx_address(&svc.fx), a.port), DAT_SUCCESS, "dat_ep_connect");
        right = wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
                rc_is(post_send(&s, &r, 0, 64, 1), DAT_SUCCESS);
        must(LINK_RECV(&p.link, a), "the stranger is gone");
        /* The stranger, the device or this end closes the connection. */
        right = right && a.result == 0 && dat_ep_disconnect(s.ep, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS;
        right = right && wait_event(s.conn, &e) && quiet(s.conn) &&
                (e.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                 e.event_number == DAT_CONNECTION_EVENT_BROKEN);
        good += right && wait_event(s.req, &e) &&
                e.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS;
        side_free(&s);
        region_free(&r);
    }
    is_int(good, (int)(sizeof sizes / sizeof sizes[0]),
           "a stranger accepts with 0 to 196 bytes and a queue pair that there is not: the end comes, "
           "and the request completes");
}

/* ---- a concurrent ordinary pair ---- */

static volatile bool enough;
static volatile int spoken, wrong;

static void *honest(void *arg)
{
    struct pair *pair = arg;

    while (!enough && wrong == 0) {
        if (sides_talk(&pair->a, &pair->b))
            spoken++;
        else
            wrong++;
        breathe();
    }
    return NULL;
}

static bool has_spoken(void *arg)
{
    (void)arg;
    return spoken > 0;
}

/* Floods a service whose EVD has room for few requests. The service replies only after all requests were sent. */
static void flooded(void)
{
    struct fx *fx = &svc.fx;
    DAT_EVD_HANDLE narrow = fx_evd(fx, 8, DAT_EVD_CR_FLAG);
    DAT_CONN_QUAL where = 0;
    DAT_PSP_HANDLE psp = fx_listen_on(fx, narrow, DAT_PSP_CONSUMER_FLAG, &where);
    struct order o = order(FLOOD_ALL, 0);
    struct answer a;
    DAT_EVENT e;
    int rejected = 0;
    bool answered = false;
    uint64_t end;

    o.port = (uint16_t)where;
    must(LINK_SEND(&p.link, o), "the stranger is gone");
    {
        char word[32];

        must(link_recv(&p.link, word, sizeof word, 6 * SOON_MS), "the stranger has not asked");
    }
    end = now_ms() + env_ms(6 * SOON_MS);
    while (!answered && now_ms() < end) {
        answered = link_recv(&p.link, &a, sizeof a, 0);
        while (dat_evd_dequeue(narrow, &e) == DAT_SUCCESS) {
            must_rc(dat_cr_reject(e.event_data.cr_arrival_event_data.cr_handle), DAT_SUCCESS,
                    "dat_cr_reject");
            rejected++;
        }
    }
    if (!ok(answered, "%d requests at once to an EVD of 8: the stranger has all its answers", FLOOD))
        bail("no answer");
    is_int(a.lost, 0, "%d requests at once: none is left without an answer", FLOOD);
    is_int(a.refused, FLOOD, "%d requests at once: all are rejected, by the service or for it", FLOOD);
    diag("  the service saw %d of them", rejected);
    drain(fx->async);
    is_success(dat_psp_free(psp), "dat_psp_free: after a flood: success");
    is_success(dat_evd_free(narrow), "dat_evd_free: after a flood: success");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "stranger", stranger }, { NULL, NULL } };
    static const struct {
        enum deed deed;
        int times;
        const char *what;
    } deeds[] = {
        { HALF_OPEN, 4, "accepted, and the answer is left alone" },
        { LEAVE_REQUEST, 4, "gone before it is answered" },
        { LEAVE_UP, 4, "gone as soon as it is connected" },
        { HANG_UP, 4, "disconnected as soon as it is connected" },
        { SHORT_SEND, 2, "sends a message" },
        { LONG_SEND, 6, "sends more than there is room for" },
        { WRONG_WRITE, 2, "writes with a wrong key" },
        { WRONG_READ, 2, "reads from a wrong address" },
        { ATOMIC, 2, "tries an atomic operation" },
        { SEND_IMM, 2, "sends with immediate data" },
        { WRITE_IMM, 2, "writes with immediate data" },
        { SEND_INV, 6, "sends and invalidates" },
        { DIE_HALF_OPEN, 3, "its process ends, half connected" },
        { DIE_UP, 3, "its process ends, connected" },
    };
    DAT_PSP_HANDLE psp;
    struct answer a;
    struct pair pair;
    pthread_t thread;
    int fds;
    long memory;

    env_init(argc, argv, roles);
    if (netdev_of(env_ia()) == NULL)
        skip_all("%s is not an adapter over rdma_cm", env_ia());
    if (env_is_iwarp())
        skip_all("an iWARP connection cannot be requested without a queue pair");
    service_open(&svc, BUFFERS, false);
    if (((struct sockaddr *)&svc.fx.address)->sa_family != AF_INET)
        skip_all("the adapter has no IPv4 address");
    psp = fx_listen(&svc.fx, &qual);
    peer_start(&p, "stranger");
    /* Open the descriptors that libraries keep after their first use, and that a thread keeps after its first sleep. */
    ordinary();
    must(let(SHORT_SEND, 0, &a), "the first stranger");
#if UDAPL == 20
    /* An endpoint that stops using the shared receive queue causes this event. */
    for (DAT_EVENT e; dat_evd_dequeue(svc.fx.async, &e) == DAT_SUCCESS;)
        must((int)e.event_number == (int)DAT_ASYNC_ERROR_EP_BROKEN, "an asynchronous event");
#endif
    must(quiet(svc.fx.async), "an asynchronous event");
    pair_open(&pair, &svc.fx, NULL);
    must(pthread_create(&thread, NULL, honest, &pair) == 0, "no thread");
    must(wait_until(has_spoken, NULL, SOON_MS), "the honest pair");
    fds = entries("/proc/self/fd");
    memory = resident_kib();
    say_descriptors("after the first stranger");

    greetings();
    memset(&a, 0, sizeof a);
    ok(let(TOO_LONG, LONGEST + 1, &a) && a.result == 0, "a request cannot have %d bytes", LONGEST + 1);
    refusals();
    headers();
    acceptances();
    memset(&a, 0, sizeof a);
    ok(let(GARBLE, env_count(60, 10), &a) && a.lost == 0,
       "random private data and terms, left in every way: each has its end, every buffer is there");
    diag("  %d were connected", a.up);
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        int good = 0;

        for (int k = 0; k < deeds[i].times; k++) {
            memset(&a, 0, sizeof a);
            good += let(deeds[i].deed, (int)svc.pool.q.mem.rmr_context, &a) && a.result == 0;
            if (a.result != 0)
                diag("  the stranger did not come so far: event %d", a.event);
        }
        is_int(good, deeds[i].times, "a stranger, %s: one event, every buffer is there", deeds[i].what);
    }
    is_int(svc.faults, 0, "strangers: no event, no completion that cannot be");
    service_say(&svc);
    flooded();
    memset(&a, 0, sizeof a);
    ok(let(SHORT_SEND, 0, &a) && a.result == 0, "after all that a stranger is served");
    ok(ordinary(), "after all that an ordinary connection");
    {
        struct order o = order(QUIT, 0);

        must(LINK_SEND(&p.link, o), "the stranger is gone");
        peer_ok(&p, "the stranger ends");
    }
    enough = true;
    pthread_join(thread, NULL);
    ok(wrong == 0 && spoken > 0, "meanwhile an honest pair talks");
    diag("  %d messages each way", spoken);
    pair_close(&pair);
    fds -= 2; /* the pipes of the stranger */
    ok(wait_until(descriptors_at_most, &fds, SOON_MS), "no descriptor is left open");
    say_descriptors("after the last stranger");
    ok(resident_kib() - memory < 8 * 1024, "memory does not grow");
    diag("  resident: %ld KiB, %ld KiB before", resident_kib(), memory);
    is_success(dat_psp_free(psp), "dat_psp_free: success");
    service_close(&svc);
    return done_testing();
}

#else

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    skip_all("built without librdmacm: rdma/rdma_cma.h was not there");
    return 0;
}

#endif
