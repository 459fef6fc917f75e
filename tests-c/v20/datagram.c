/* datagram.c - see datagram.h. */
#include "v20/datagram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Private data of requests and replies. */
static const char asks[] = "who are you", answers[] = "this is me";

static size_t mtu;

void ud_open(struct fx *fx)
{
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep = UNTOUCHED;
    DAT_RETURN rc;

    fx_open(fx);
    mtu = strtoul(named_attribute(fx, "DAT_IB_TRANSPORT_MTU"), NULL, 10);
    must(mtu >= 256, "DAT_IB_TRANSPORT_MTU is %zu", mtu);
    if (strcmp(named_attribute(fx, DAT_IB_ATTR_UD), "TRUE") == 0)
        return;
    ud_attr(&attr);
    rc = dat_ep_create(fx->ia, fx->pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, &attr, &ep);
    must(rc_is(rc, DAT_MODEL_NOT_SUPPORTED) && ep == UNTOUCHED,
         "dat_ep_create: datagrams, which the adapter does not announce: got %s", rc_text(rc));
    fx_close(fx);
    skip_all("the adapter has no datagrams");
}

size_t ud_mtu(void)
{
    return mtu;
}

void ud_attr(DAT_EP_ATTR *attr)
{
    attr_default(attr);
    attr->service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
    attr->max_message_size = mtu;
    attr->max_rdma_read_in = attr->max_rdma_read_out = 0;
    attr->max_recv_dtos = attr->max_request_dtos = 64;
}

void ud_make(struct side *s, struct fx *fx, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr)
{
    DAT_EP_ATTR own;

    ud_attr(&own);
    if (attr == NULL)
        attr = &own;
    memset(s, 0, sizeof *s);
    s->fx = fx;
    s->recv = fx_evd(fx, UD_EVENTS, DAT_EVD_DTO_FLAG);
    s->req = fx_evd(fx, UD_EVENTS, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    s->conn = fx_evd(fx, UD_EVENTS, DAT_EVD_CONNECTION_FLAG);
    if (srq == DAT_HANDLE_NULL)
        must_rc(dat_ep_create(fx->ia, fx->pz, s->recv, s->req, s->conn, attr, &s->ep), DAT_SUCCESS, "dat_ep_create");
    else
        must_rc(dat_ep_create_with_srq(fx->ia, fx->pz, s->recv, s->req, s->conn, srq, attr, &s->ep), DAT_SUCCESS,
                "dat_ep_create_with_srq");
}

/* ---- Address exchange ---- */

DAT_RETURN ud_connect(struct side *s, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, const void *data, size_t size)
{
    return dat_ep_connect(s->ep, address, qual, DAT_TIMEOUT_INFINITE, (DAT_COUNT)size, (DAT_PVOID)data,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/* Returns whether the event's extension contains only that type and success. */
static bool bare(const DAT_EVENT *event, DAT_IB_EXT_TYPE type)
{
    DAT_IB_EXTENSION_EVENT_DATA want;

    memset(&want, 0, sizeof want);
    want.type = type;
    want.status = DAT_OP_SUCCESS;
    if (memcmp(&want, event->event_extension_data, sizeof want) == 0)
        return true;
    REMARK("event %s: type %d, status %d, or rubbish in other fields", event_text(event->event_number),
           (int)extension(event)->type, (int)extension(event)->status);
    return false;
}

DAT_CR_HANDLE ud_request(DAT_EVD_HANDLE evd, DAT_PSP_HANDLE psp, DAT_CONN_QUAL qual)
{
    DAT_EVENT event;
    const DAT_CR_ARRIVAL_EVENT_DATA *d = &event.event_data.cr_arrival_event_data;

    must(wait_number(evd, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT, &event), "no request for an address");
    must(d->sp_handle.psp_handle == psp && d->conn_qual == qual && d->cr_handle != DAT_HANDLE_NULL &&
             d->local_ia_address_ptr != NULL,
         "the request for an address is of another service point");
    must(bare(&event, DAT_IB_UD_CONNECT_REQUEST), "the request for an address has another type");
    return d->cr_handle;
}

/* Returns whether the address, without the port, is this adapter's, on which all endpoints of a test are. */
static bool own_address(struct fx *fx, const DAT_SOCK_ADDR6 *got)
{
    const struct sockaddr_storage *own = &fx->address;
    struct sockaddr_in v4;

    if (got->sin6_family != own->ss_family)
        return false;
    if (own->ss_family == AF_INET6)
        return memcmp(&got->sin6_addr, &((const struct sockaddr_in6 *)own)->sin6_addr, sizeof got->sin6_addr) == 0;
    memcpy(&v4, got, sizeof v4);
    return v4.sin_addr.s_addr == ((const struct sockaddr_in *)own)->sin_addr.s_addr;
}

bool ud_tells(const DAT_EVENT *event, struct side *s, DAT_IB_EXT_TYPE type, const void *data, size_t size,
              struct known *k)
{
    const DAT_CONNECTION_EVENT_DATA *d = &event->event_data.connect_event_data;
    const DAT_IB_EXTENSION_EVENT_DATA *x = extension(event);
    DAT_EVENT rest = *event;
    DAT_IB_EXTENSION_EVENT_DATA *cleared = (DAT_IB_EXTENSION_EVENT_DATA *)(void *)rest.event_extension_data;

    if (k != NULL) {
        k->ah = x->remote_ah;
        k->cm = x->context;
    }
    if (event->event_number != (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED) {
        REMARK("got event %s, not an address", event_text(event->event_number));
        return false;
    }
    if (d->ep_handle != s->ep || x->remote_ah.ah == NULL || !own_address(s->fx, &x->remote_ah.ia_addr)) {
        REMARK("address: endpoint %p, address handle %p, family %d", d->ep_handle, (void *)x->remote_ah.ah,
               (int)x->remote_ah.ia_addr.sin6_family);
        return false;
    }
    if (d->private_data_size < (DAT_COUNT)size || (size > 0 && d->private_data == NULL) ||
        (size > 0 && memcmp(d->private_data, data, size) != 0)) {
        REMARK("address: private data of %d bytes, expected other ones of %zu", (int)d->private_data_size, size);
        return false;
    }
    memset(&cleared->remote_ah, 0, sizeof cleared->remote_ah);
    memset(&cleared->context, 0, sizeof cleared->context);
    return bare(&rest, type);
}

bool ud_told(struct side *s, DAT_IB_EXT_TYPE type, const void *data, size_t size, struct known *k)
{
    DAT_EVENT event;

    return wait_number(s->conn, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, &event) &&
           ud_tells(&event, s, type, data, size, k);
}

/* Takes both address events of an endpoint that requested its own address. They can arrive in either order. */
static bool both_told(struct side *s, struct known *passives, struct known *actives)
{
    DAT_EVENT event;
    int active = 0, passive = 0;

    for (int i = 0; i < 2; i++) {
        if (!wait_event(s->conn, &event))
            return false;
        if (extension(&event)->type == DAT_IB_UD_REMOTE_AH)
            active += ud_tells(&event, s, DAT_IB_UD_REMOTE_AH, answers, sizeof answers, passives);
        else
            passive += ud_tells(&event, s, DAT_IB_UD_PASSIVE_REMOTE_AH, asks, sizeof asks, actives);
    }
    return active == 1 && passive == 1;
}

void ud_meet(struct side *active, struct known *passives, struct side *passive, struct known *actives)
{
    struct fx *fx = passive->fx;
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_CR_FLAG);
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);

    must_rc(ud_connect(active, fx_address(fx), qual, asks, sizeof asks), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(ud_request(evd, psp, qual), passive->ep, sizeof answers, (DAT_PVOID)answers), DAT_SUCCESS,
            "dat_cr_accept");
    if (active == passive) {
        must(both_told(active, passives, actives), "an endpoint is not told its own address");
    } else {
        must(ud_told(active, DAT_IB_UD_REMOTE_AH, answers, sizeof answers, passives), "active: no address");
        must(ud_told(passive, DAT_IB_UD_PASSIVE_REMOTE_AH, asks, sizeof asks, actives), "passive: no address");
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

/* Message from the passive to the active process. */
struct invitation {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

void ud_accept_peer(struct side *s, struct link *l, struct known *k)
{
    struct invitation card;
    DAT_EVD_HANDLE evd = fx_evd(s->fx, 4, DAT_EVD_CR_FLAG);
    DAT_PSP_HANDLE psp;

    memset(&card, 0, sizeof card);
    psp = fx_listen_on(s->fx, evd, DAT_PSP_CONSUMER_FLAG, &card.qual);
    memcpy(&card.address, &s->fx->address, sizeof card.address);
    must(LINK_SEND(l, card), "the peer is gone");
    must_rc(dat_cr_accept(ud_request(evd, psp, card.qual), s->ep, sizeof answers, (DAT_PVOID)answers), DAT_SUCCESS,
            "dat_cr_accept");
    must(ud_told(s, DAT_IB_UD_PASSIVE_REMOTE_AH, asks, sizeof asks, k), "passive: no address");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

void ud_connect_peer(struct side *s, struct link *l, struct known *k)
{
    struct invitation card;

    must(LINK_RECV(l, card), "no invitation from the peer");
    must_rc(ud_connect(s, (DAT_IA_ADDRESS_PTR)&card.address, card.qual, asks, sizeof asks), DAT_SUCCESS,
            "dat_ep_connect");
    must(ud_told(s, DAT_IB_UD_REMOTE_AH, answers, sizeof answers, k), "active: no address");
}

/* ---- Datagrams ---- */

DAT_RETURN ud_send(struct side *s, struct region *r, size_t off, size_t len, const struct known *to, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET from = segment(r, off, len);
    DAT_IB_ADDR_HANDLE ah = to->ah;

    return dat_ib_post_send_ud(s->ep, len > 0 ? 1 : 0, len > 0 ? &from : NULL, &ah, cookie(c),
                               DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN ud_receive(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 c)
{
    return post_recv(s, r, off, GRH + len, c);
}

/* Returns whether the event is a successful completion with those values and no others. */
static bool is_end(const DAT_EVENT *event, struct side *s, DAT_UINT64 c, size_t length, DAT_IB_DTOS operation,
                   DAT_IB_EXT_TYPE type)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event->event_data.dto_completion_event_data;

    if (event->event_number != (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT) {
        REMARK("got event %s, not the end of a datagram", event_text(event->event_number));
        return false;
    }
    if (d->ep_handle == s->ep && d->user_cookie.as_64 == c && d->status == DAT_DTO_SUCCESS &&
        (int)d->operation == (int)operation && d->transfered_length == length)
        return bare(event, type);
    REMARK("got endpoint %p cookie %llu %s %s length %llu", d->ep_handle,
           (unsigned long long)d->user_cookie.as_64, status_text(d->status), operation_text(d->operation),
           (unsigned long long)d->transfered_length);
    REMARK("expected %p cookie %llu DAT_DTO_SUCCESS %s length %zu", s->ep, (unsigned long long)c,
           operation_text(operation), length);
    return false;
}

bool ud_sent(struct side *s, DAT_UINT64 c, size_t len)
{
    DAT_EVENT event;

    return wait_event(s->req, &event) && is_end(&event, s, c, len, DAT_IB_DTO_SEND_UD, DAT_IB_UD_SEND);
}

bool ud_is_datagram(const DAT_EVENT *event, struct side *s, DAT_UINT64 c, size_t len)
{
    return is_end(event, s, c, len + GRH, DAT_IB_DTO_RECV_UD, DAT_IB_UD_RECV);
}

bool ud_received(struct side *s, DAT_UINT64 c, size_t len)
{
    DAT_EVENT event;

    return wait_event(s->recv, &event) && ud_is_datagram(&event, s, c, len);
}

bool ud_passes(struct side *x, const struct known *to, struct side *y)
{
    static unsigned seed;
    struct region out, in;
    bool good;

    region_make(x->fx, &out, 64, MEM_LOCAL);
    region_make(y->fx, &in, GRH + 64, MEM_LOCAL);
    pattern_fill(out.mem, 64, ++seed);
    good = ud_receive(y, &in, 0, 64, seed) == DAT_SUCCESS && ud_send(x, &out, 0, 64, to, seed) == DAT_SUCCESS &&
           ud_sent(x, seed, 64) && ud_received(y, seed, 64) && pattern_check(in.mem + GRH, 64, seed) < 0;
    /* A receive that is still posted needs its memory. */
    if (good) {
        region_free(&out);
        region_free(&in);
    }
    return good;
}

bool ud_quiet(struct side *s)
{
    return quiet(s->conn) && quiet(s->req) && quiet(s->recv);
}
