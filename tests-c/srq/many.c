/* many.c - a thousand endpoints on one queue with far fewer buffers. */
#define _POSIX_C_SOURCE 200809L
#include "srq_common.h"

#include <stdlib.h>
#include <string.h>

enum { BURST = 100, ROUNDS = 3, SIZE = 48 };

static struct fx fx;

/* The second process receives this first. */
struct invitation {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    uint32_t endpoints;
};

static void small_attr(DAT_EP_ATTR *attr)
{
    attr_default(attr);
    attr->max_recv_dtos = 1;
    attr->max_request_dtos = 2;
    attr->max_recv_iov = 1;
    attr->max_request_iov = 1;
}

/* Sends one message from each of the endpoints first ... first + n - 1. */
static void send_round(DAT_EP_HANDLE *ep, DAT_EVD_HANDLE req, struct region *out, uint32_t first,
                       uint32_t n, unsigned seq)
{
    DAT_EVENT event;

    for (uint32_t i = first; i < first + n; i++) {
        DAT_LMR_TRIPLET t = segment(out, (size_t)i * SIZE, SIZE);

        message_fill(out->mem + (size_t)i * SIZE, SIZE, i, seq);
        must_rc(dat_ep_post_send(ep[i], 1, &t, cookie(i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                "dat_ep_post_send");
    }
    for (uint32_t i = 0; i < n; i++)
        must(wait_number(req, DAT_DTO_COMPLETION_EVENT, &event) &&
                 event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS,
             "a Send fails");
}

/* The second process: connects the endpoints and sends from them. */
static int crowd(struct link *up)
{
    struct invitation card;
    struct fx own;
    struct region out;
    DAT_EVD_HANDLE recv, req, conn;
    DAT_EP_HANDLE *ep;
    DAT_EP_ATTR attr;
    DAT_EVENT event;

    fx_open(&own);
    must(LINK_RECV(up, card), "no invitation");
    ep = calloc(card.endpoints, sizeof(DAT_EP_HANDLE));
    must(ep != NULL, "out of memory");
    recv = fx_evd(&own, 16, DAT_EVD_DTO_FLAG);
    req = fx_evd(&own, (DAT_COUNT)card.endpoints + 16, DAT_EVD_DTO_FLAG);
    conn = fx_evd(&own, (DAT_COUNT)card.endpoints + 16, DAT_EVD_CONNECTION_FLAG);
    region_make(&own, &out, (size_t)card.endpoints * SIZE, MEM_LOCAL);
    small_attr(&attr);
    for (uint32_t i = 0; i < card.endpoints;) {
        uint32_t n = card.endpoints - i < BURST ? card.endpoints - i : BURST;

        for (uint32_t k = i; k < i + n; k++) {
            must_rc(dat_ep_create(own.ia, own.pz, recv, req, conn, &attr, &ep[k]), DAT_SUCCESS,
                    "dat_ep_create");
            must_rc(dat_ep_connect(ep[k], (DAT_IA_ADDRESS_PTR)&card.address, card.qual,
                                   env_us(SOON_MS), sizeof k, &k, DAT_QOS_BEST_EFFORT,
                                   DAT_CONNECT_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_connect");
        }
        for (; n > 0; n--, i++)
            must(wait_number(conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event), "no ESTABLISHED");
    }
    for (unsigned seq = 0; seq < ROUNDS; seq++) {
        must(link_hear(up, "go"), "no start");
        send_round(ep, req, &out, 0, card.endpoints, seq);
        must(link_say(up, "sent"), "the other process has exited");
    }
    must(link_hear(up, "a few"), "no start");
    send_round(ep, req, &out, 0, 50, ROUNDS);
    must(link_say(up, "sent") && link_hear(up, "bye"), "the other process has exited");
    fx_close(&own);
    free(ep);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "crowd", crowd }, { NULL, NULL } };
    struct invitation card;
    struct peer p;
    struct srq q;
    DAT_IA_ATTR ia;
    DAT_PROVIDER_ATTR provider;
    DAT_EP_ATTR attr;
    DAT_EVD_HANDLE recv, req, conn, requests;
    DAT_PSP_HANDLE psp;
    DAT_EP_HANDLE *ep;
    DAT_EVENT event;
    DAT_CONTEXT context;
    unsigned *got;
    uint32_t n;
    bool good = true;
    const DAT_COUNT buffers = 256;

    env_init(argc, argv, roles);
    fx_open(&fx);
    /* On iWARP a message without a buffer ends the connection, so there are only as many endpoints as buffers. */
    n = env_is_iwarp() ? (uint32_t)buffers : (uint32_t)env_count(1000, 100);
    srq_attributes(&fx, &ia, &provider);
    if (!ok(ia.max_ep_per_srq >= (DAT_COUNT)n, "dat_ia_query: max_ep_per_srq: %u are allowed", n))
        return done_testing();

    ep = calloc(n, sizeof(DAT_EP_HANDLE));
    got = calloc(n, sizeof *got);
    must(ep != NULL && got != NULL, "out of memory");
    srq_open(&q, &fx, buffers, buffers, SIZE);
    recv = fx_evd(&fx, buffers, DAT_EVD_DTO_FLAG);
    req = fx_evd(&fx, 16, DAT_EVD_DTO_FLAG);
    conn = fx_evd(&fx, 2 * (DAT_COUNT)n, DAT_EVD_CONNECTION_FLAG);
    requests = fx_evd(&fx, 2 * BURST, DAT_EVD_CR_FLAG);
    small_attr(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    for (uint32_t i = 0; i < n; i++) {
        memset(&context, 0, sizeof context);
        context.as_64 = i;
        if (dat_ep_create_with_srq(fx.ia, fx.pz, recv, req, conn, q.handle, &attr, &ep[i]) !=
                DAT_SUCCESS ||
            dat_set_consumer_context(ep[i], context) != DAT_SUCCESS)
            break;
        got[i] = 1;
    }
    if (!ok(got[n - 1] == 1, "dat_ep_create_with_srq: %u endpoints on one queue: success", n))
        return done_testing();
    memset(got, 0, n * sizeof *got);

    memset(&card, 0, sizeof card);
    psp = fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &card.qual);
    memcpy(&card.address, &fx.address, sizeof card.address);
    card.endpoints = n;
    peer_start(&p, "crowd");
    must(LINK_SEND(&p.link, card), "the second process has exited");
    for (uint32_t i = 0; i < n; i++) {
        DAT_CR_HANDLE cr = next_request(requests);
        DAT_CR_PARAM param;
        uint32_t which = n;

        must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
        if (param.private_data_size >= (DAT_COUNT)sizeof which)
            memcpy(&which, param.private_data, sizeof which);
        must(which < n, "a request without its number");
        must_rc(dat_cr_accept(cr, ep[which], 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    }
    for (uint32_t i = 0; i < n; i++)
        good = good && wait_number(conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
    ok(good, "%u endpoints on one queue: all are connected", n);
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    srq_fill(&q, 0, buffers);
    is_counts(q.handle, buffers, buffers, "%u endpoints, %d buffers: all available", n,
              (int)buffers);

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t seen = 0;

        must(link_say(&p.link, "go"), "the second process has exited");
        for (good = true; good && seen < n; seen++) {
            const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
            DAT_COUNT i;

            good = poll_event(recv, &event) && event.event_number == DAT_DTO_COMPLETION_EVENT;
            if (!good)
                break;
            i = srq_buffer(&q, d->user_cookie.as_64);
            memset(&context, 0xff, sizeof context);
            good = i >= 0 && d->status == DAT_DTO_SUCCESS && d->transfered_length == SIZE &&
                   dat_get_consumer_context(d->ep_handle, &context) == DAT_SUCCESS &&
                   context.as_64 < n && ep[context.as_64] == d->ep_handle &&
                   got[context.as_64]++ == round &&
                   message_right(q.mem.mem + (size_t)i * SIZE, SIZE, (unsigned)context.as_64, round);
            if (!good)
                diag("%s, endpoint %lld", status_text(d->status), (long long)context.as_64);
            else
                must_rc(srq_post(&q, i), DAT_SUCCESS, "dat_srq_post_recv");
        }
        if (!ok(good, "%u endpoints, round %u: each has its own message, and one", n, round))
            return done_testing();
        must(link_hear(&p.link, "sent"), "the crowd has no completions");
        is_counts(q.handle, buffers, buffers, "%u endpoints, round %u: every buffer is back", n,
                  round);
    }

    must(link_say(&p.link, "a few") && link_hear(&p.link, "sent"), "the second process has exited");
    is_counts(q.handle, buffers - 50, buffers, "%u endpoints: fifty of them took one each", n);
    is_int(drain_dtos(recv, 50), 50, "%u endpoints: fifty completions", n);
    is_counts(q.handle, buffers - 50, buffers - 50, "%u endpoints: fifty dequeued", n);

    is_type(dat_srq_free(q.handle), DAT_INVALID_STATE, "dat_srq_free: attached: DAT_INVALID_STATE");
    good = true;
    for (uint32_t i = 0; i < n; i++)
        good = good && dat_ep_free(ep[i]) == DAT_SUCCESS;
    ok(good, "dat_ep_free: each of %u: success", n);
    is_counts(q.handle, buffers - 50, buffers - 50, "%u endpoints freed: the buffers are there", n);
    is_success(dat_srq_free(q.handle), "dat_srq_free: all endpoints are freed: success");
    q.handle = DAT_HANDLE_NULL;
    srq_close(&q);
    must(link_say(&p.link, "bye"), "the second process has exited");
    peer_ok(&p, "the other process ends in good order");
    fx_close(&fx);
    free(ep);
    free(got);
    return done_testing();
}
