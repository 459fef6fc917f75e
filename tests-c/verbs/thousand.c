/*
 * thousand.c - 1000 connections on one SRQ and four EVDs, in a process with few descriptors. Each message gets a reply on
 * its connection, the SRQ's counters are always exact, and all buffers return at the end.
 */
#define _DEFAULT_SOURCE
#include "adapters.h"
#include "srq/srq_common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BURST = 50, ROUNDS = 2, SIZE = 64, BUFFERS = 128, DESCRIPTORS = 60 };

struct invitation {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    uint32_t n;
};

static struct fx fx;
static uint32_t n;
/* On iWARP every message needs a buffer at once. */
static DAT_COUNT buffers = BUFFERS;
static DAT_EP_HANDLE *ep;
static DAT_EVD_HANDLE recv_evd, req_evd, conn_evd;
static struct region out;

static void few_descriptors(void)
{
    struct rlimit limit;

    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = DESCRIPTORS;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static void small_attr(DAT_EP_ATTR *attr)
{
    attr_default(attr);
    attr->max_recv_dtos = 1;
    attr->max_request_dtos = 2;
    attr->max_recv_iov = 1;
    attr->max_request_iov = 1;
}

/* Returns the number of the endpoint, from its consumer context. */
static uint32_t number(DAT_EP_HANDLE which)
{
    DAT_CONTEXT context;

    memset(&context, 0xff, sizeof context);
    if (dat_get_consumer_context(which, &context) != DAT_SUCCESS || context.as_64 >= n ||
        ep[context.as_64] != which)
        return UINT32_MAX;
    return (uint32_t)context.as_64;
}

static void numbered(uint32_t i)
{
    DAT_CONTEXT context;

    memset(&context, 0, sizeof context);
    context.as_64 = i;
    must_rc(dat_set_consumer_context(ep[i], context), DAT_SUCCESS, "dat_set_consumer_context");
}

static void send_on(uint32_t i, unsigned seq)
{
    DAT_LMR_TRIPLET t = segment(&out, (size_t)i * SIZE, SIZE);

    message_fill(out.mem + (size_t)i * SIZE, SIZE, i, seq);
    must_rc(dat_ep_post_send(ep[i], 1, &t, cookie(i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_send");
}

static bool sent(uint32_t count)
{
    DAT_EVENT event;

    for (uint32_t i = 0; i < count; i++)
        if (!wait_number(req_evd, DAT_DTO_COMPLETION_EVENT, &event) ||
            event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
            return false;
    return true;
}

/*
 * Waits for the end of count connections, and marks them in told[]. Returns false if a connection was already marked.
 */
static bool ended(unsigned char *told, uint32_t count)
{
    DAT_EVENT event;

    for (uint32_t k = 0; k < count; k++) {
        uint32_t i;

        if (!wait_number(conn_evd, DAT_CONNECTION_EVENT_DISCONNECTED, &event))
            return false;
        i = number(event.event_data.connect_event_data.ep_handle);
        if (i >= n || told[i]++ != 0)
            return false;
    }
    return true;
}

static void make_evds(void)
{
    recv_evd = fx_evd(&fx, (DAT_COUNT)n, DAT_EVD_DTO_FLAG);
    req_evd = fx_evd(&fx, 2 * (DAT_COUNT)n, DAT_EVD_DTO_FLAG);
    conn_evd = fx_evd(&fx, 2 * (DAT_COUNT)n, DAT_EVD_CONNECTION_FLAG);
    ep = calloc(n, sizeof(DAT_EP_HANDLE));
    must(ep != NULL, "out of memory");
    region_make(&fx, &out, (size_t)n * SIZE, MEM_LOCAL);
}

/* The second process: each of its endpoints sends, and receives a reply. */
static int crowd(struct link *up)
{
    struct invitation card;
    struct region in;
    DAT_EP_ATTR attr;
    DAT_EVENT event;
    unsigned char *told;

    few_descriptors();
    fx_open(&fx);
    must(LINK_RECV(up, card), "no invitation");
    n = card.n;
    make_evds();
    region_make(&fx, &in, (size_t)n * SIZE, MEM_LOCAL);
    small_attr(&attr);
    for (uint32_t i = 0; i < n;) {
        uint32_t k, burst = n - i < BURST ? n - i : BURST;

        for (k = i; k < i + burst; k++) {
            must_rc(dat_ep_create(fx.ia, fx.pz, recv_evd, req_evd, conn_evd, &attr, &ep[k]),
                    DAT_SUCCESS, "dat_ep_create");
            numbered(k);
            must_rc(dat_ep_connect(ep[k], (DAT_IA_ADDRESS_PTR)&card.address, card.qual,
                                   env_us(3 * SOON_MS), sizeof k, &k, DAT_QOS_BEST_EFFORT,
                                   DAT_CONNECT_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_connect");
        }
        for (; burst > 0; burst--, i++)
            must(wait_number(conn_evd, DAT_CONNECTION_EVENT_ESTABLISHED, &event), "no ESTABLISHED");
    }
    for (unsigned seq = 0; seq < ROUNDS; seq++) {
        must(link_hear(up, "go"), "no start");
        for (uint32_t i = 0; i < n; i++) {
            DAT_LMR_TRIPLET t = segment(&in, (size_t)i * SIZE, SIZE);

            must_rc(dat_ep_post_recv(ep[i], 1, &t, cookie(i), DAT_COMPLETION_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_post_recv");
            send_on(i, seq);
        }
        must(sent(n), "a Send fails");
        for (uint32_t k = 0; k < n; k++) {
            const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;

            must(wait_number(recv_evd, DAT_DTO_COMPLETION_EVENT, &event) &&
                     d->status == DAT_DTO_SUCCESS && d->user_cookie.as_64 < n &&
                     d->ep_handle == ep[d->user_cookie.as_64] &&
                     message_right(in.mem + d->user_cookie.as_64 * SIZE, SIZE,
                                   (unsigned)d->user_cookie.as_64, seq + 100),
                 "no answer, or a wrong one");
        }
        must(link_say(up, "heard"), "the other process is gone");
    }
    /* This end disconnects even numbers, the other end odd ones. */
    must(link_hear(up, "even"), "no start");
    told = calloc(n, 1);
    must(told != NULL, "out of memory");
    for (uint32_t i = 0; i < n; i += 2)
        must_rc(dat_ep_disconnect(ep[i], DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(ended(told, (n + 1) / 2), "no DISCONNECTED");
    must(link_say(up, "odd"), "the other process is gone");
    must(ended(told, n / 2), "no DISCONNECTED");
    for (uint32_t i = 0; i < n; i++)
        must_rc(dat_ep_free(ep[i]), DAT_SUCCESS, "dat_ep_free");
    must(no_event(conn_evd) && no_event(recv_evd) && no_event(req_evd), "more events than expected");
    must(link_say(up, "bye"), "the other process is gone");
    fx_close(&fx);
    free(told);
    free(ep);
    return 0;
}

static void connect_all(struct srq *q, struct peer *p)
{
    DAT_EVD_HANDLE requests = fx_evd(&fx, 2 * BURST, DAT_EVD_CR_FLAG);
    struct invitation card;
    DAT_EP_ATTR attr;
    DAT_EVENT event;
    DAT_PSP_HANDLE psp;
    uint32_t up = 0;

    small_attr(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    for (uint32_t i = 0; i < n; i++) {
        must_rc(dat_ep_create_with_srq(fx.ia, fx.pz, recv_evd, req_evd, conn_evd, q->handle, &attr,
                                       &ep[i]),
                DAT_SUCCESS, "dat_ep_create_with_srq");
        numbered(i);
    }
    memset(&card, 0, sizeof card);
    psp = fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &card.qual);
    card.address = fx.address;
    card.n = n;
    must(LINK_SEND(&p->link, card), "the crowd is gone");
    for (uint32_t i = 0; i < n; i++) {
        DAT_CR_HANDLE cr;
        DAT_CR_PARAM param;
        uint32_t which = n;

        if (!wait_number(requests, DAT_CONNECTION_REQUEST_EVENT, &event))
            bail("only %u of %u requests come", i, n);
        cr = event.event_data.cr_arrival_event_data.cr_handle;

        must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
        if (param.private_data_size >= (DAT_COUNT)sizeof which)
            memcpy(&which, param.private_data, sizeof which);
        must(which < n, "a request without its number");
        must_rc(dat_cr_accept(cr, ep[which], 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    }
    while (up < n && wait_number(conn_evd, DAT_CONNECTION_EVENT_ESTABLISHED, &event))
        up++;
    is_int(up, n, "%u endpoints on one queue: all are connected", n);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(requests), DAT_SUCCESS, "dat_evd_free");
}

static bool answer_all(struct srq *q, unsigned seq)
{
    DAT_EVENT event;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
    unsigned char *got = calloc(n, 1);
    uint32_t seen;

    must(got != NULL, "out of memory");
    for (seen = 0; seen < n; seen++) {
        DAT_COUNT i;
        uint32_t from;

        if (!wait_number(recv_evd, DAT_DTO_COMPLETION_EVENT, &event))
            break;
        i = srq_buffer(q, d->user_cookie.as_64);
        from = number(d->ep_handle);
        if (i < 0 || from >= n || d->status != DAT_DTO_SUCCESS || d->transfered_length != SIZE ||
            got[from]++ != 0 || !message_right(q->mem.mem + (size_t)i * SIZE, SIZE, from, seq)) {
            diag("buffer %d, endpoint %u, %s", (int)i, from, status_text(d->status));
            break;
        }
        must_rc(srq_post(q, i), DAT_SUCCESS, "dat_srq_post_recv");
        send_on(from, seq + 100);
    }
    free(got);
    return seen == n && sent(n);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "crowd", crowd }, { NULL, NULL } };
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;
    struct peer p;
    struct srq q;
    unsigned char *told;
    bool good = true;
    int fds;

    env_init(argc, argv, roles);
    few_descriptors();
    fx_open(&fx);
    n = (uint32_t)env_count(1000, 100);
    if (env_is_iwarp())
        buffers = (DAT_COUNT)n;
    srq_attributes(&fx, &ia, &provider);
    if (ia.max_ep_per_srq < (DAT_COUNT)n || ia.max_eps < 2 * (DAT_COUNT)n)
        skip_all("the device has %d endpoints, %d on one queue", (int)ia.max_eps,
                 (int)ia.max_ep_per_srq);
    peer_start(&p, "crowd");
    make_evds();
    srq_open(&q, &fx, buffers, buffers, SIZE);
    fds = entries("/proc/self/fd");
    connect_all(&q, &p);
    /* The descriptors of the first wait serve all connections. */
    ok(entries("/proc/self/fd") - fds <= 4, "%u connections: no descriptor for each", n);
    /* A thread opens a descriptor at its first sleep, and keeps it. On a slow machine earlier waits may not have slept. */
    ok(quiet(recv_evd), "dat_evd_wait: no message yet");
    fds = entries("/proc/self/fd");
    srq_fill(&q, 0, buffers);
    is_counts(q.handle, buffers, buffers, "%u endpoints, %d buffers: all available", n, buffers);
    for (unsigned round = 0; round < ROUNDS; round++) {
        must(link_say(&p.link, "go"), "the crowd is gone");
        ok(answer_all(&q, round), "round %u: one message of each is answered", round);
        must(link_hear(&p.link, "heard"), "the crowd has no answers");
        is_counts(q.handle, buffers, buffers, "round %u: every buffer is back", round);
    }

    told = calloc(n, 1);
    must(told != NULL && link_say(&p.link, "even"), "the crowd is gone");
    ok(ended(told, (n + 1) / 2), "half are disconnected by the peer: one event of each");
    must(link_hear(&p.link, "odd"), "the crowd is gone");
    is_counts(q.handle, buffers, buffers, "half are disconnected by the peer: every buffer is there");
    for (uint32_t i = 1; i < n; i += 2)
        good = good && dat_ep_disconnect(ep[i], DAT_CLOSE_GRACEFUL_FLAG) == DAT_SUCCESS;
    ok(good, "dat_ep_disconnect: the other half: success");
    ok(ended(told, n / 2), "dat_ep_disconnect: one event of each");
    is_counts(q.handle, buffers, buffers, "all are disconnected: every buffer is there");
    ok(no_event(conn_evd) && no_event(recv_evd) && no_event(req_evd), "all are disconnected: no more events");
    for (uint32_t i = 0; i < n; i++)
        good = good && dat_ep_free(ep[i]) == DAT_SUCCESS;
    ok(good, "dat_ep_free: each of %u: success", n);
    is_counts(q.handle, buffers, buffers, "all are freed: every buffer is there");
    ok(wait_until(descriptors_at_most, &fds, SOON_MS), "all are freed: no descriptor more than before");
    is_success(dat_srq_free(q.handle), "dat_srq_free: success");
    q.handle = DAT_HANDLE_NULL;
    srq_close(&q);
    must(link_hear(&p.link, "bye"), "the crowd is gone");
    peer_ok(&p, "the other process ends in good order");
    fx_close(&fx);
    free(told);
    free(ep);
    return done_testing();
}
