/*
 * datagram_events.c - endpoints for unreliable datagrams: attributes, states, calls that fail, address requests and their
 * events, and freeing of addresses.
 */
#include "v20/datagram.h"

#include "common/zoo.h"

#include <stdio.h>
#include <string.h>

static struct fx fx;
static struct region memory;

/* ---- Creation ---- */

static DAT_RETURN create(const DAT_EP_ATTR *attr, struct side *of, DAT_EP_HANDLE *ep)
{
    return dat_ep_create(fx.ia, fx.pz, of->recv, of->req, of->conn, attr, ep);
}

static void creation(void)
{
    struct side s;
    DAT_EP_ATTR attr;
    DAT_EP_PARAM p;
    DAT_EP_HANDLE ep = UNTOUCHED;

    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    must_rc(dat_ep_query(s.ep, DAT_EP_FIELD_ALL, &p), DAT_SUCCESS, "dat_ep_query");
    is_int((int)p.ep_attr.service_type, DAT_IB_SERVICE_TYPE_UD, "dat_ep_query: datagrams: the service type");
    is_state(p.ep_state, DAT_EP_STATE_UNCONNECTED, "dat_ep_create: datagrams: the endpoint is unconnected");
    is_int((long long)p.ep_attr.max_message_size, (long long)ud_mtu(), "dat_ep_query: datagrams: max_message_size");

    ud_attr(&attr);
    attr.max_message_size = 0;
    is_success(create(&attr, &s, &ep), "dat_ep_create: datagrams, max_message_size 0: success");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    attr.max_message_size = 1;
    is_success(create(&attr, &s, &ep), "dat_ep_create: datagrams, max_message_size 1: success");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    ep = UNTOUCHED;
    attr.max_message_size = ud_mtu() + 1;
    is_type(create(&attr, &s, &ep), DAT_INVALID_PARAMETER,
            "dat_ep_create: datagrams, a byte more than DAT_IB_TRANSPORT_MTU: DAT_INVALID_PARAMETER");
    attr.max_message_size = 1u << 20;
    is_type(create(&attr, &s, &ep), DAT_INVALID_PARAMETER,
            "dat_ep_create: datagrams, 1 MiB: DAT_INVALID_PARAMETER");
    ok(ep == UNTOUCHED, "dat_ep_create: datagrams, refused: the handle is untouched");
    ud_attr(&attr);
    is_success(dat_ep_create(fx.ia, DAT_HANDLE_NULL, s.recv, s.req, s.conn, &attr, &ep),
               "dat_ep_create: datagrams, no zone yet: success");
    must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
    side_free(&s);
}

static void creation_with_srq(void)
{
    DAT_SRQ_ATTR queue = { 8, 2, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq;
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep = UNTOUCHED;
    struct side s;

    must_rc(dat_srq_create(fx.ia, fx.pz, &queue, &srq), DAT_SUCCESS, "dat_srq_create");
    ud_make(&s, &fx, srq, NULL);
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_ep_create_with_srq: datagrams: the endpoint is unconnected");
    ud_attr(&attr);
    attr.max_message_size = ud_mtu() + 1;
    is_type(dat_ep_create_with_srq(fx.ia, fx.pz, s.recv, s.req, s.conn, srq, &attr, &ep), DAT_INVALID_PARAMETER,
            "dat_ep_create_with_srq: datagrams, a byte more than DAT_IB_TRANSPORT_MTU: DAT_INVALID_PARAMETER");
    side_free(&s);
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
}

/* ---- States, and calls that fail in each ---- */

/* Checks that transfers that need a connection fail. */
static void transfers_refused(struct side *s, const char *when)
{
    DAT_LMR_TRIPLET from = segment(&memory, 0, 8);
    DAT_RMR_TRIPLET to = target(&memory, 64, 8);
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT context;

    is_type(post_send(s, &memory, 0, 8, 1), DAT_INVALID_STATE, "dat_ep_post_send: datagrams, %s: DAT_INVALID_STATE",
            when);
    is_type(post_write(s, &memory, 0, 8, to, 1), DAT_INVALID_STATE,
            "dat_ep_post_rdma_write: datagrams, %s: DAT_INVALID_STATE", when);
    is_type(post_read(s, &memory, 0, 8, to, 1), DAT_INVALID_STATE,
            "dat_ep_post_rdma_read: datagrams, %s: DAT_INVALID_STATE", when);
    is_type(dat_ep_post_send_with_invalidate(s->ep, 1, &from, cookie(1), DAT_COMPLETION_DEFAULT_FLAG, DAT_FALSE,
                                             memory.rmr_context),
            DAT_INVALID_STATE, "dat_ep_post_send_with_invalidate: datagrams, %s: DAT_INVALID_STATE", when);
    is_type(post_immediate(s, &memory, 0, 8, to, 1, 1), DAT_INVALID_STATE,
            "dat_ib_post_rdma_write_immed: datagrams, %s: DAT_INVALID_STATE", when);
    is_type(post_fetch_add(s, &memory, 0, to, 1, 1), DAT_INVALID_STATE,
            "dat_ib_post_fetch_and_add: datagrams, %s: DAT_INVALID_STATE", when);
    is_type(post_cmp_swap(s, &memory, 0, to, 1, 1, 1), DAT_INVALID_STATE,
            "dat_ib_post_cmp_and_swap: datagrams, %s: DAT_INVALID_STATE", when);
    if (dat_rmr_create(fx.pz, &rmr) != DAT_SUCCESS) {
        skip_named("dat_rmr_bind", "the adapter has no windows");
        return;
    }
    is_type(bind_to_lmr(rmr, memory.lmr, &from, DAT_MEM_PRIV_REMOTE_READ_FLAG, s->ep, cookie(1),
                        DAT_COMPLETION_DEFAULT_FLAG, &context),
            DAT_INVALID_STATE, "dat_rmr_bind: datagrams, %s: DAT_INVALID_STATE", when);
    must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
}

/* Checks that a disconnect has no effect. */
static void disconnects(struct side *s, DAT_EP_STATE state, const char *when)
{
    is_success(dat_ep_disconnect(s->ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect: datagrams, %s, graceful: success",
               when);
    is_success(dat_ep_disconnect(s->ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect: datagrams, %s, abrupt: success",
               when);
    ok(ep_state(s->ep) == state && ud_quiet(s), "dat_ep_disconnect: datagrams, %s: the same state, and no event", when);
}

static void states(void)
{
    struct side a, b;
    struct known to_a, to_b;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    transfers_refused(&a, "unconnected");
    disconnects(&a, DAT_EP_STATE_UNCONNECTED, "unconnected");

    is_success(ud_connect(&a, fx_address(&fx), qual, "hi", 2), "dat_ep_connect: datagrams: success");
    is_state(ep_state(a.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
             "dat_ep_connect: datagrams: the state that follows");
    is_success(dat_cr_accept(ud_request(fx.cr, psp, qual), b.ep, 0, NULL), "dat_cr_accept: datagrams: success");
    is_state(ep_state(b.ep), DAT_EP_STATE_COMPLETION_PENDING, "dat_cr_accept: datagrams: the state that follows");
    ok(ud_told(&a, DAT_IB_UD_REMOTE_AH, NULL, 0, &to_b), "dat_ep_connect: datagrams: the address, once accepted");
    ok(ud_told(&b, DAT_IB_UD_PASSIVE_REMOTE_AH, "hi", 2, &to_a), "dat_cr_accept: datagrams: the address");
    is_state(ep_state(a.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
             "an address is told: the active side's state stays");
    is_state(ep_state(b.ep), DAT_EP_STATE_COMPLETION_PENDING, "an address is told: the passive side's state stays");

    transfers_refused(&a, "connection pending");
    transfers_refused(&b, "completion pending");
    disconnects(&a, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, "connection pending");
    disconnects(&b, DAT_EP_STATE_COMPLETION_PENDING, "completion pending");
    is_type(dat_ep_reset(a.ep), DAT_INVALID_STATE, "dat_ep_reset: datagrams, connection pending: DAT_INVALID_STATE");
    is_type(dat_ep_reset(b.ep), DAT_INVALID_STATE, "dat_ep_reset: datagrams, completion pending: DAT_INVALID_STATE");
    ok(ud_passes(&a, &to_b, &b) && ud_passes(&b, &to_a, &a), "dat_ep_disconnect: datagrams: they pass as before");

    ud_meet(&b, &to_a, &a, &to_b);
    is_state(ep_state(b.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
             "dat_ep_connect: datagrams, after an accept: the state");
    is_state(ep_state(a.ep), DAT_EP_STATE_COMPLETION_PENDING, "dat_cr_accept: datagrams, after a connect: the state");
    ok(ud_passes(&a, &to_b, &b) && ud_passes(&b, &to_a, &a), "dat_ep_connect: datagrams, the other way too: they pass");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

/* ---- Requests and replies ---- */

/* Exchanges private data of several sizes, both ways. The passive side modifies the received data in place. */
static void private_data(void)
{
    const size_t sizes[] = { 0, 1, 4, 48, (size_t)fx.max_private_data };
    struct side a, b;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    int good = 0;

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char own[4096], back[4096], *theirs;
        size_t size = sizes[i] < sizeof own ? sizes[i] : sizeof own;
        DAT_CR_HANDLE cr;
        DAT_CR_PARAM p;
        bool asked;

        pattern_fill(own, size, (unsigned)i + 1);
        for (size_t k = 0; k < size; k++)
            back[k] = (unsigned char)(own[k] + 1);
        must_rc(ud_connect(&a, fx_address(&fx), qual, own, size), DAT_SUCCESS, "dat_ep_connect");
        cr = ud_request(fx.cr, psp, qual);
        must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
        theirs = p.private_data;
        asked = p.private_data_size >= (DAT_COUNT)size && (size == 0 || memcmp(theirs, own, size) == 0) &&
                p.remote_ia_address_ptr != NULL && p.local_ep_handle == DAT_HANDLE_NULL;
        for (size_t k = 0; k < size; k++)
            theirs[k]++;
        must_rc(dat_cr_accept(cr, b.ep, (DAT_COUNT)size, theirs), DAT_SUCCESS, "dat_cr_accept");
        good += asked && ud_told(&a, DAT_IB_UD_REMOTE_AH, back, size, NULL) &&
                ud_told(&b, DAT_IB_UD_PASSIVE_REMOTE_AH, NULL, 0, NULL);
    }
    is_int(good, (int)(sizeof sizes / sizeof *sizes),
           "dat_cr_query, dat_cr_accept: datagrams: private data of 0 bytes to the limit, both ways");
    ok(ud_quiet(&a) && ud_quiet(&b), "dat_ep_connect: datagrams: one event for each on each side");

    /* The passive side's event contains the request's private data, not the reply's. */
    must_rc(ud_connect(&a, fx_address(&fx), qual, "request", 8), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(ud_request(fx.cr, psp, qual), b.ep, 4, (DAT_PVOID) "yes"), DAT_SUCCESS, "dat_cr_accept");
    ok(ud_told(&b, DAT_IB_UD_PASSIVE_REMOTE_AH, "request", 8, NULL),
       "dat_cr_accept: datagrams: the event has the private data of the request");
    ok(ud_told(&a, DAT_IB_UD_REMOTE_AH, "yes", 4, NULL),
       "dat_ep_connect: datagrams: the event has the private data of the answer");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

enum { PAIRS = 6 };

/* Connection events of one endpoint: there must be an active and a passive event for each number of a request. */
struct tally {
    int active[PAIRS], passive[PAIRS];
    struct known to[PAIRS];
    int wrong;
};

static void take_all(struct side *s, char own, char other, struct tally *t)
{
    DAT_EVENT event;

    memset(t, 0, sizeof *t);
    for (int i = 0; i < 2 * PAIRS; i++) {
        const char *data;
        bool active;

        must(wait_event(s->conn, &event), "%d of %d addresses", i, 2 * PAIRS);
        data = event.event_data.connect_event_data.private_data;
        active = extension(&event)->type == DAT_IB_UD_REMOTE_AH;
        must(data != NULL && (unsigned)data[1] < PAIRS, "an address without its number");
        t->wrong += !ud_tells(&event, s, active ? DAT_IB_UD_REMOTE_AH : DAT_IB_UD_PASSIVE_REMOTE_AH,
                              (const char[2]){ active ? own : other, data[1] }, 2,
                              active ? &t->to[(int)data[1]] : NULL);
        (active ? t->active : t->passive)[(int)data[1]]++;
    }
    for (int i = 0; i < PAIRS; i++)
        t->wrong += t->active[i] != 1 || t->passive[i] != 1;
}

/* Two endpoints request each other's address; all requests are outstanding before the first accept. */
static void both_ways(void)
{
    struct side a, b;
    struct tally at_a, at_b;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    DAT_CR_HANDLE cr[2 * PAIRS];
    int good = 0;

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    for (char i = 0; i < PAIRS; i++) {
        must_rc(ud_connect(&a, fx_address(&fx), qual, (const char[2]){ 'a', i }, 2), DAT_SUCCESS, "dat_ep_connect");
        must_rc(ud_connect(&b, fx_address(&fx), qual, (const char[2]){ 'b', i }, 2), DAT_SUCCESS, "dat_ep_connect");
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        cr[i] = ud_request(fx.cr, psp, qual);
    for (int i = 2 * PAIRS; i-- > 0;) {
        DAT_CR_PARAM p;

        must_rc(dat_cr_query(cr[i], DAT_CR_FIELD_ALL, &p), DAT_SUCCESS, "dat_cr_query");
        must_rc(dat_cr_accept(cr[i], *(char *)p.private_data == 'a' ? b.ep : a.ep, 2, p.private_data), DAT_SUCCESS,
                "dat_cr_accept");
    }
    take_all(&a, 'a', 'b', &at_a);
    take_all(&b, 'b', 'a', &at_b);
    is_int(at_a.wrong + at_b.wrong, 0, "dat_ep_connect: datagrams, both ways, %d under way: two events for each pair",
           2 * PAIRS);
    ok(ud_quiet(&a) && ud_quiet(&b), "dat_ep_connect: datagrams, both ways: no other event");
    for (int i = 0; i < PAIRS; i++) {
        good += at_a.to[i].ah.qpn == at_a.to[0].ah.qpn && at_b.to[i].ah.qpn == at_b.to[0].ah.qpn &&
                at_a.to[i].ah.qpn != at_b.to[i].ah.qpn;
        good += ud_passes(&a, &at_a.to[i], &b) && ud_passes(&b, &at_b.to[i], &a);
    }
    is_int(good, 2 * PAIRS, "dat_ib_post_send_ud: by each of the addresses: it is of the same endpoint");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

/* An endpoint requests its own address. */
static void with_itself(void)
{
    struct side s;
    struct known active, passive;

    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&s, &active, &s, &passive);
    pass("dat_ep_connect: datagrams, to itself: two addresses");
    ok(ud_passes(&s, &active, &s) && ud_passes(&s, &passive, &s), "dat_ib_post_send_ud: to itself: it arrives");
    side_free(&s);
}

static void of_another_kind(void)
{
    struct side datagrams, other, connected, caller;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    DAT_CR_HANDLE cr;

    ud_make(&datagrams, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&other, &fx, DAT_HANDLE_NULL, NULL);
    side_make(&connected, &fx, NULL);
    side_make(&caller, &fx, NULL);
    must_rc(ud_connect(&datagrams, fx_address(&fx), qual, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
    cr = ud_request(fx.cr, psp, qual);
    is_type(dat_cr_accept(cr, connected.ep, 0, NULL), DAT_INVALID_HANDLE,
            "dat_cr_accept: datagrams are asked for, endpoint of connections: DAT_INVALID_HANDLE");
    is_state(ep_state(connected.ep), DAT_EP_STATE_UNCONNECTED, "dat_cr_accept: refused: the endpoint is as it was");
    is_success(dat_cr_accept(cr, other.ep, 0, NULL), "dat_cr_accept: datagrams, after a refused accept: success");
    ok(ud_told(&datagrams, DAT_IB_UD_REMOTE_AH, NULL, 0, NULL), "dat_cr_accept: after a refused accept: the address");

    must_rc(side_connect(&caller, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    cr = next_request(fx.cr);
    ok(DAT_GET_TYPE(dat_cr_accept(cr, datagrams.ep, 0, NULL)) != DAT_SUCCESS,
       "dat_cr_accept: a connection is asked for, endpoint of datagrams: refused");
    is_success(dat_cr_accept(cr, connected.ep, 0, NULL), "dat_cr_accept: a connection, after a refused accept: success");
    ok(wait_connection(caller.conn, DAT_CONNECTION_EVENT_ESTABLISHED) &&
           wait_connection(connected.conn, DAT_CONNECTION_EVENT_ESTABLISHED) && sides_talk(&caller, &connected),
       "dat_cr_accept: a connection, after a refused accept: it stands");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&datagrams);
    side_free(&other);
    side_free(&connected);
    side_free(&caller);
}

/* Returns whether the next event rejects an address request, by the program or for lack of a listener. */
static bool refusal(struct side *s, const char *data, size_t size)
{
    DAT_IB_EXTENSION_EVENT_DATA want;
    DAT_EVENT event;
    const DAT_CONNECTION_EVENT_DATA *d = &event.event_data.connect_event_data;

    if (!wait_event(s->conn, &event))
        return false;
    if (size == 0 && event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED)
        return d->ep_handle == s->ep;
    memset(&want, 0, sizeof want);
    want.type = DAT_IB_UD_CONNECT_REJECT;
    if (event.event_number == (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REJECT_EVENT && d->ep_handle == s->ep &&
        d->private_data_size >= (DAT_COUNT)size && (size == 0 || memcmp(d->private_data, data, size) == 0) &&
        memcmp(event.event_extension_data, &want, sizeof want) == 0)
        return true;
    diag("got event %s, type %d, private data of %d bytes", event_text(event.event_number),
         (int)extension(&event)->type, (int)d->private_data_size);
    return false;
}

static void refused(void)
{
    struct side a, b;
    struct known to_a, to_b;
    DAT_CONN_QUAL qual = 0, nobody = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    must_rc(ud_connect(&a, fx_address(&fx), qual, "hi", 2), DAT_SUCCESS, "dat_ep_connect");
    is_success((dat_cr_reject)(ud_request(fx.cr, psp, qual), 4, (DAT_PVOID) "no!"),
               "dat_cr_reject: datagrams: success");
    ok(refusal(&a, "no!", 4), "dat_cr_reject: datagrams: the event, with its private data");
    must_rc(ud_connect(&a, fx_address(&fx), qual, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
    must_rc((dat_cr_reject)(ud_request(fx.cr, psp, qual), 0, NULL), DAT_SUCCESS, "dat_cr_reject");
    ok(refusal(&a, NULL, 0), "dat_cr_reject: datagrams, no private data: the event");

    must_rc(dat_psp_free(fx_listen(&fx, &nobody)), DAT_SUCCESS, "dat_psp_free");
    is_success(ud_connect(&a, fx_address(&fx), nobody, "hi", 2), "dat_ep_connect: datagrams, nobody listens: success");
    ok(refusal(&a, NULL, 0), "dat_ep_connect: datagrams, nobody listens: a refusal");
    ok(ud_quiet(&a), "dat_ep_connect: datagrams, refused: one event each");

    ud_meet(&a, &to_b, &b, &to_a);
    ok(ud_passes(&a, &to_b, &b) && ud_passes(&b, &to_a, &a), "dat_ep_connect: datagrams, after refusals: an address");

    /* One of two outstanding requests is rejected. */
    must_rc(ud_connect(&a, fx_address(&fx), qual, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
    must_rc(ud_connect(&a, fx_address(&fx), nobody, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
    ok(refusal(&a, NULL, 0), "dat_ep_connect: datagrams, two under way, at one nobody listens: a refusal");
    must_rc(dat_cr_accept(ud_request(fx.cr, psp, qual), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    ok(ud_told(&a, DAT_IB_UD_REMOTE_AH, NULL, 0, &to_b) && ud_told(&b, DAT_IB_UD_PASSIVE_REMOTE_AH, NULL, 0, &to_a) &&
           ud_passes(&a, &to_b, &b) && ud_passes(&b, &to_a, &a),
       "dat_ep_connect: datagrams, two under way, at one nobody listens: the other comes to its address");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
}

/* Two endpoints report rejections on one EVD. */
static void refused_with_data(void)
{
    const void *kept[2] = { NULL, NULL };
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    char texts[2][48];
    struct side s[2];
    DAT_EP_ATTR attr;
    DAT_EVENT event;

    for (int i = 0; i < 2; i++)
        ud_make(&s[i], &fx, DAT_HANDLE_NULL, NULL);
    ud_attr(&attr);
    must_rc(dat_ep_free(s[1].ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_ep_create(fx.ia, fx.pz, s[1].recv, s[1].req, s[0].conn, &attr, &s[1].ep), DAT_SUCCESS, "dat_ep_create");
    for (int i = 0; i < 2; i++) {
        memset(texts[i], 'a' + i, sizeof texts[i]);
        must_rc(ud_connect(&s[i], fx_address(&fx), qual, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
        must_rc((dat_cr_reject)(ud_request(fx.cr, psp, qual), sizeof texts[i], texts[i]), DAT_SUCCESS, "dat_cr_reject");
        must(wait_number(s[0].conn, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REJECT_EVENT, &event), "no rejection");
        kept[i] = event.event_data.connect_event_data.private_data;
    }
    ok(memcmp(kept[0], texts[0], sizeof texts[0]) == 0 && memcmp(kept[1], texts[1], sizeof texts[1]) == 0,
       "dat_cr_reject: datagrams: the private data stay while the endpoint exists");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&s[1]);
    side_free(&s[0]);
}

/* Frees an endpoint before the reply to its request, and leaves another request without a reply. */
static void unanswered(void)
{
    struct side a, b, c;
    struct known to_b, to_c;
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen(&fx, &qual);
    DAT_CR_HANDLE cr;
    DAT_EVENT event;

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&c, &fx, DAT_HANDLE_NULL, NULL);
    must_rc(ud_connect(&a, fx_address(&fx), qual, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
    cr = ud_request(fx.cr, psp, qual);
    is_success(dat_ep_free(a.ep), "dat_ep_free: datagrams, a request under way: success");
    a.ep = DAT_HANDLE_NULL;
    /* The call may succeed or fail; the endpoint must remain usable. */
    dat_cr_accept(cr, b.ep, 0, NULL);
    ok(quiet(b.req) && quiet(b.recv), "dat_cr_accept: datagrams, nobody waits for the answer: no transfer ends");
    must_rc(ud_connect(&c, fx_address(&fx), qual, "later", 6), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(ud_request(fx.cr, psp, qual), b.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    do
        must(wait_event(b.conn, &event), "no address of the later request");
    while (event.event_data.connect_event_data.private_data_size < 6);
    ok(ud_tells(&event, &b, DAT_IB_UD_PASSIVE_REMOTE_AH, "later", 6, &to_c) &&
           ud_told(&c, DAT_IB_UD_REMOTE_AH, NULL, 0, &to_b) && ud_passes(&b, &to_c, &c) && ud_passes(&c, &to_b, &b),
       "dat_cr_accept: datagrams, nobody waits for the answer: the endpoint meets others");

    must_rc(ud_connect(&b, fx_address(&fx), qual, NULL, 0), DAT_SUCCESS, "dat_ep_connect");
    ud_request(fx.cr, psp, qual);
    ok(ud_passes(&b, &to_c, &c) && ud_passes(&c, &to_b, &b),
       "dat_ep_connect: datagrams, a request under way: others pass");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    side_free(&a);
    side_free(&b);
    side_free(&c);
}

/* ---- Freeing of addresses and requests ---- */

static struct known victim;

static DAT_RETURN free_ah(DAT_HANDLE h, void *arg)
{
    DAT_IB_ADDR_HANDLE ah = victim.ah;

    (void)arg;
    return dat_ib_ud_ah_free(h, &ah);
}

static DAT_RETURN free_cm(DAT_HANDLE h, void *arg)
{
    (void)arg;
    return dat_ib_ud_cm_free(h, victim.cm);
}

/* Checks free_ah() and free_cm() with bad handles, and with endpoints for connections. */
static void bad_handles(void)
{
    struct zoo z;
    struct side a, b;
    DAT_EP_HANDLE gone;

    zoo_open(&z);
    ud_make(&a, &z.fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &z.fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&a, &victim, &b, NULL);
    is_type(free_ah(z.of[DAT_HANDLE_TYPE_EP], NULL), DAT_INVALID_HANDLE,
            "dat_ib_ud_ah_free: endpoint of connections: DAT_INVALID_HANDLE");
    is_type(free_cm(z.of[DAT_HANDLE_TYPE_EP], NULL), DAT_INVALID_HANDLE,
            "dat_ib_ud_cm_free: endpoint of connections: DAT_INVALID_HANDLE");
    gone = a.ep;
    must_rc(dat_ep_free(a.ep), DAT_SUCCESS, "dat_ep_free");
    a.ep = DAT_HANDLE_NULL;
    zoo_sweep(&z, "dat_ib_ud_ah_free", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, gone, 0, free_ah, NULL);
    zoo_sweep(&z, "dat_ib_ud_cm_free", DAT_HANDLE_TYPE_EP, DAT_INVALID_HANDLE_EP, gone, 0, free_cm, NULL);
    zoo_intact(&z, "dat_ib_ud_ah_free and dat_ib_ud_cm_free with bad handles");
    side_free(&a);
    side_free(&b);
    zoo_close(&z);
}

static void freed_addresses(void)
{
    struct side a, b, c;
    struct known to_b, again, to_a, to_c;
    DAT_IB_ADDR_HANDLE none;

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&c, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&a, &to_b, &b, &to_a);
    ud_meet(&a, &again, &b, NULL);
    ud_meet(&c, &to_c, &a, NULL);
    is_success(dat_ib_ud_ah_free(a.ep, &again.ah), "dat_ib_ud_ah_free: success");
    ud_refused(dat_ib_ud_ah_free(a.ep, &again.ah), "dat_ib_ud_ah_free: again: refused");
    ud_refused(dat_ib_ud_ah_free(a.ep, &to_c.ah), "dat_ib_ud_ah_free: of another endpoint: refused");
    ud_refused(dat_ib_ud_ah_free(a.ep, NULL), "dat_ib_ud_ah_free: NULL: refused");
    memset(&none, 0, sizeof none);
    ud_refused(dat_ib_ud_ah_free(a.ep, &none), "dat_ib_ud_ah_free: zeros: refused");
    for (int i = 0; i < 3; i++) {
        const uintptr_t made_up[] = { UINTPTR_MAX, (uintptr_t)&none, (uintptr_t)0x5a5a5a5a5a5a5a50u };

        none = to_b.ah;
        none.ah = (struct ibv_ah *)made_up[i];
        ud_refused(dat_ib_ud_ah_free(a.ep, &none), "dat_ib_ud_ah_free: a handle that nobody gave: refused");
    }
    ok(ud_quiet(&a) && ud_quiet(&b), "dat_ib_ud_ah_free: no event");
    ok(ud_passes(&a, &to_b, &b), "dat_ib_ud_ah_free: another address of the same endpoint stands");
    ok(ud_passes(&b, &to_a, &a), "dat_ib_ud_ah_free: the other side goes on sending");
    is_success(dat_ib_ud_ah_free(b.ep, &to_a.ah), "dat_ib_ud_ah_free: that of the passive side: success");
    ok(ud_passes(&a, &to_b, &b), "dat_ib_ud_ah_free: that of the passive side: the active side goes on sending");
    side_free(&a);
    side_free(&b);
    side_free(&c);
}

static void freed_requests(void)
{
    struct side a, b;
    struct known to_a, to_b;
    DAT_CONTEXT made_up;

    ud_make(&a, &fx, DAT_HANDLE_NULL, NULL);
    ud_make(&b, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&a, &to_b, &b, &to_a);
    ud_refused(dat_ib_ud_cm_free(b.ep, to_b.cm), "dat_ib_ud_cm_free: of another endpoint: refused");
    is_success(dat_ib_ud_cm_free(a.ep, to_b.cm), "dat_ib_ud_cm_free: active side: success");
    is_success(dat_ib_ud_cm_free(b.ep, to_a.cm), "dat_ib_ud_cm_free: passive side: success");
    ud_refused(dat_ib_ud_cm_free(a.ep, to_b.cm), "dat_ib_ud_cm_free: active side, again: refused");
    ud_refused(dat_ib_ud_cm_free(b.ep, to_a.cm), "dat_ib_ud_cm_free: passive side, again: refused");
    memset(&made_up, 0, sizeof made_up);
    ud_refused(dat_ib_ud_cm_free(a.ep, made_up), "dat_ib_ud_cm_free: 0: refused");
    made_up.as_64 = 0x123456789abcdef0u;
    ud_refused(dat_ib_ud_cm_free(a.ep, made_up), "dat_ib_ud_cm_free: any number: refused");
    made_up.as_64 = ~(DAT_UINT64)0;
    ud_refused(dat_ib_ud_cm_free(a.ep, made_up), "dat_ib_ud_cm_free: the largest number: refused");
    ok(ud_quiet(&a) && ud_quiet(&b), "dat_ib_ud_cm_free: no event");
    ok(ud_passes(&a, &to_b, &b) && ud_passes(&b, &to_a, &a), "dat_ib_ud_cm_free: datagrams go on, both ways");
    is_success(dat_ib_ud_ah_free(a.ep, &to_b.ah), "dat_ib_ud_ah_free: after dat_ib_ud_cm_free: success");
    side_free(&a);
    side_free(&b);
}

/* ---- Two processes ---- */

static int asker(struct link *up)
{
    struct side s;
    struct known first, second;

    ud_open(&fx);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    ud_connect_peer(&s, up, &first);
    ud_accept_peer(&s, up, &second);
    must(quiet(s.conn), "one more event than pairs");
    must_rc(dat_ib_ud_cm_free(s.ep, first.cm), DAT_SUCCESS, "dat_ib_ud_cm_free");
    must_rc(dat_ib_ud_ah_free(s.ep, &second.ah), DAT_SUCCESS, "dat_ib_ud_ah_free");
    side_free(&s);
    fx_close(&fx);
    return link_say(up, "bye") ? 0 : 1;
}

static void between_processes(void)
{
    struct peer p;
    struct side s;
    struct known first, second;

    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    peer_start(&p, "asker");
    ud_accept_peer(&s, &p.link, &first);
    ud_connect_peer(&s, &p.link, &second);
    pass("dat_ep_connect: datagrams, two processes, both ways: two addresses on each side");
    ok(first.ah.qpn == second.ah.qpn, "dat_ep_connect: datagrams, two processes, both ways: one number of the endpoint");
    ok(link_hear(&p.link, "bye") && ud_quiet(&s), "dat_ep_free: datagrams: the peer sees no event");
    peer_ok(&p, "dat_ep_connect: datagrams, two processes: the other one ends well");
    side_free(&s);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "asker", asker }, { NULL, NULL } };

    env_init(argc, argv, roles);
    ud_open(&fx);
    region_make(&fx, &memory, 4096, ALL_AND_ATOMIC);
    creation();
    creation_with_srq();
    states();
    private_data();
    both_ways();
    with_itself();
    of_another_kind();
    refused();
    refused_with_data();
    unanswered();
    bad_handles();
    freed_addresses();
    freed_requests();
    between_processes();
    fx_close(&fx);
    return done_testing();
}
