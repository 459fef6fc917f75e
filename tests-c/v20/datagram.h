/*
 * datagram.h - endpoints of unreliable datagrams: how they come to know each other, send and receive.
 */
#ifndef TESTS_C_V20_DATAGRAM_H
#define TESTS_C_V20_DATAGRAM_H

#include "v20/extended.h"

/* What stands before the data of each datagram in the receiver's memory. */
#define GRH 40

/* Events that each EVD of an endpoint has room for. */
#define UD_EVENTS 256

/*
 * Opens the adapter. One that does not announce datagrams must refuse endpoints of them, and that is the end of the
 * program: a plan that says so. Peers of the program are started afterwards only.
 */
void ud_open(struct fx *fx);

/* Bytes that a datagram can have, by DAT_IB_TRANSPORT_MTU. */
size_t ud_mtu(void);

/* Attributes of an endpoint of datagrams of any length, as attr_default() otherwise. */
void ud_attr(DAT_EP_ATTR *attr);

/* An endpoint of datagrams with EVDs of its own; srq and attr may be NULL. side_free() frees it. */
void ud_make(struct side *s, struct fx *fx, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr);

/* What the event of one pair of connect and accept tells of the other endpoint. */
struct known {
    DAT_IB_ADDR_HANDLE ah;
    DAT_CONTEXT cm;
};

/* dat_ep_connect() with private data, of DAT_TIMEOUT_INFINITE. */
DAT_RETURN ud_connect(struct side *s, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, const void *data, size_t size);

/* The next event of that EVD is a request for an address, at that service point; its data are as they must be. */
DAT_CR_HANDLE ud_request(DAT_EVD_HANDLE evd, DAT_PSP_HANDLE psp, DAT_CONN_QUAL qual);

/*
 * Whether the event is one that tells the endpoint an address, of that type, with that private data and with nothing
 * in fields without a meaning. k may be NULL.
 */
bool ud_tells(const DAT_EVENT *event, struct side *s, DAT_IB_EXT_TYPE type, const void *data, size_t size,
              struct known *k);

/* The next event of the endpoint's connections is one. */
bool ud_told(struct side *s, DAT_IB_EXT_TYPE type, const void *data, size_t size, struct known *k);

/* Endpoints of this process get to know each other; any of the places may be NULL, and both endpoints be one. */
void ud_meet(struct side *active, struct known *passives, struct side *passive, struct known *actives);

/* The same over a link: one process calls the one, the other process the other. */
void ud_accept_peer(struct side *s, struct link *l, struct known *k);
void ud_connect_peer(struct side *s, struct link *l, struct known *k);

/* Posts of one segment, or of none when len is 0. That of a receive has room for a datagram of len bytes. */
DAT_RETURN ud_send(struct side *s, struct region *r, size_t off, size_t len, const struct known *to, DAT_UINT64 c);
DAT_RETURN ud_receive(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 c);

/* The next event is the end of that send, or a datagram of len bytes in that receive of the endpoint's own. */
bool ud_sent(struct side *s, DAT_UINT64 c, size_t len);
bool ud_received(struct side *s, DAT_UINT64 c, size_t len);

/* Whether that event is such a datagram. */
bool ud_is_datagram(const DAT_EVENT *event, struct side *s, DAT_UINT64 c, size_t len);

/* One datagram from x to y by that address, which has no receives posted, arrives as it is. */
bool ud_passes(struct side *x, const struct known *to, struct side *y);

/* As is_type() for codes of the types for something that is not there: DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER. */
#define ud_refused(rc, ...) is_either((rc), DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER, __VA_ARGS__)

/* Nothing has happened to the endpoint: no event within a short time. */
bool ud_quiet(struct side *s);

#endif
