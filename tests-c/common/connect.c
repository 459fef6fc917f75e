/* connect.c - connections and posts. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <string.h>

DAT_PSP_HANDLE fx_listen_on(struct fx *fx, DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                            DAT_CONN_QUAL *qual)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;

    must_rc(dat_psp_create_any(fx->ia, qual, evd, flags, &psp), DAT_SUCCESS,
            "dat_psp_create_any");
    return psp;
}

DAT_PSP_HANDLE fx_listen(struct fx *fx, DAT_CONN_QUAL *qual)
{
    return fx_listen_on(fx, fx->cr, DAT_PSP_CONSUMER_FLAG, qual);
}

DAT_RETURN side_connect(struct side *s, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual)
{
    return dat_ep_connect(s->ep, address, qual, env_us(SOON_MS), 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

DAT_CR_HANDLE next_request(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    must(wait_number(evd, DAT_CONNECTION_REQUEST_EVENT, &event), "no connection request");
    return event.event_data.cr_arrival_event_data.cr_handle;
}

void sides_connect(struct side *active, struct side *passive)
{
    struct fx *fx = passive->fx;
    DAT_EVD_HANDLE evd = fx_evd(fx, 4, DAT_EVD_CR_FLAG);
    DAT_CONN_QUAL qual = 0;
    DAT_PSP_HANDLE psp = fx_listen_on(fx, evd, DAT_PSP_CONSUMER_FLAG, &qual);

    must_rc(side_connect(active, fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must_rc(dat_cr_accept(next_request(evd), passive->ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    must(wait_connection(active->conn, DAT_CONNECTION_EVENT_ESTABLISHED), "active: no ESTABLISHED");
    must(wait_connection(passive->conn, DAT_CONNECTION_EVENT_ESTABLISHED),
         "passive: no ESTABLISHED");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

void pair_open(struct pair *p, struct fx *fx, const DAT_EP_ATTR *attr)
{
    side_make(&p->a, fx, attr);
    side_make(&p->b, fx, attr);
    sides_connect(&p->a, &p->b);
}

void pair_close(struct pair *p)
{
    side_free(&p->a);
    side_free(&p->b);
}

/* The passive process sends this to the active one. */
struct invitation {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

void side_accept_peer(struct side *s, struct link *l)
{
    struct invitation card;
    DAT_EVD_HANDLE evd = fx_evd(s->fx, 4, DAT_EVD_CR_FLAG);
    DAT_PSP_HANDLE psp;

    memset(&card, 0, sizeof card);
    psp = fx_listen_on(s->fx, evd, DAT_PSP_CONSUMER_FLAG, &card.qual);
    memcpy(&card.address, &s->fx->address, sizeof card.address);
    must(LINK_SEND(l, card), "the peer has exited");
    must_rc(dat_cr_accept(next_request(evd), s->ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    must(wait_connection(s->conn, DAT_CONNECTION_EVENT_ESTABLISHED), "passive: no ESTABLISHED");
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
}

void side_connect_peer(struct side *s, struct link *l)
{
    struct invitation card;

    must(LINK_RECV(l, card), "no invitation from the peer");
    must_rc(side_connect(s, (DAT_IA_ADDRESS_PTR)&card.address, card.qual), DAT_SUCCESS,
            "dat_ep_connect");
    must(wait_connection(s->conn, DAT_CONNECTION_EVENT_ESTABLISHED), "active: no ESTABLISHED");
}

DAT_RETURN post_recv(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET t;

    if (len == 0)
        return dat_ep_post_recv(s->ep, 0, NULL, cookie(c), DAT_COMPLETION_DEFAULT_FLAG);
    t = segment(r, off, len);
    return dat_ep_post_recv(s->ep, 1, &t, cookie(c), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN post_send(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET t;

    if (len == 0)
        return dat_ep_post_send(s->ep, 0, NULL, cookie(c), DAT_COMPLETION_DEFAULT_FLAG);
    t = segment(r, off, len);
    return dat_ep_post_send(s->ep, 1, &t, cookie(c), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN post_write(struct side *s, struct region *r, size_t off, size_t len, DAT_RMR_TRIPLET to,
                      DAT_UINT64 c)
{
    DAT_LMR_TRIPLET t = segment(r, off, len);

    return dat_ep_post_rdma_write(s->ep, 1, &t, cookie(c), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN post_read(struct side *s, struct region *r, size_t off, size_t len,
                     DAT_RMR_TRIPLET from, DAT_UINT64 c)
{
    DAT_LMR_TRIPLET t = segment(r, off, len);

    return dat_ep_post_rdma_read(s->ep, 1, &t, cookie(c), &from, DAT_COMPLETION_DEFAULT_FLAG);
}

static bool one_way(struct side *from, struct side *to, DAT_UINT64 c)
{
    struct region out, in;
    DAT_EVENT event;
    bool good;

    region_make(from->fx, &out, 64, MEM_LOCAL);
    region_make(to->fx, &in, 64, MEM_LOCAL);
    pattern_fill(out.mem, 64, (unsigned)c);
    good = post_recv(to, &in, 0, 64, c) == DAT_SUCCESS &&
           post_send(from, &out, 0, 64, c) == DAT_SUCCESS &&
           wait_dto(to->recv, c, DAT_DTO_SUCCESS, &event) &&
           event.event_data.dto_completion_event_data.transfered_length == 64 &&
           wait_dto(from->req, c, DAT_DTO_SUCCESS, NULL) && pattern_check(in.mem, 64, (unsigned)c) < 0;
    region_free(&out);
    region_free(&in);
    return good;
}

bool sides_talk(struct side *x, struct side *y)
{
    return one_way(x, y, 0x7a11) && one_way(y, x, 0x7a12);
}

bool same_address(DAT_IA_ADDRESS_PTR a, DAT_IA_ADDRESS_PTR b)
{
    if (a == NULL || b == NULL || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((struct sockaddr_in *)b)->sin_addr.s_addr;
    return memcmp(&((struct sockaddr_in6 *)a)->sin6_addr, &((struct sockaddr_in6 *)b)->sin6_addr,
                  16) == 0;
}
