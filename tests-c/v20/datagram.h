/*
 * datagram.h - endpoints for unreliable datagrams: address exchange, sends and receives.
 */
#ifndef TESTS_C_V20_DATAGRAM_H
#define TESTS_C_V20_DATAGRAM_H

#include "v20/extended.h"

/* Bytes of the Global Routing Header, which precedes each datagram in the receive buffer. */
#define GRH 40

/* Queue length of an endpoint's EVDs. */
#define UD_EVENTS 256

/*
 * Opens the adapter. If it does not support datagrams, checks that it rejects such endpoints, and skips the program.
 * Programs must call this before they start peers.
 */
void ud_open(struct fx *fx);

/* Maximum bytes of a datagram (DAT_IB_TRANSPORT_MTU). */
size_t ud_mtu(void);

/* Sets the attributes of an endpoint for datagrams of up to ud_mtu() bytes. */
void ud_attr(DAT_EP_ATTR *attr);

/* Creates an endpoint for datagrams and its EVDs; srq and attr may be NULL. side_free() frees it. */
void ud_make(struct side *s, struct fx *fx, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr);

/* Address of another endpoint, from the event of a connect or accept. */
struct known {
    DAT_IB_ADDR_HANDLE ah;
    DAT_CONTEXT cm;
};

/* Calls dat_ep_connect() with private data and DAT_TIMEOUT_INFINITE. */
DAT_RETURN ud_connect(struct side *s, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, const void *data, size_t size);

/* Takes the next event, which must be an address request at that service point, and returns its CR. */
DAT_CR_HANDLE ud_request(DAT_EVD_HANDLE evd, DAT_PSP_HANDLE psp, DAT_CONN_QUAL qual);

/*
 * Returns whether the event contains an address for s, with that type and private data, and zeros in unused fields. k may
 * be NULL.
 */
bool ud_tells(const DAT_EVENT *event, struct side *s, DAT_IB_EXT_TYPE type, const void *data, size_t size,
              struct known *k);

/* Waits for the next connection event, and returns ud_tells() for it. */
bool ud_told(struct side *s, DAT_IB_EXT_TYPE type, const void *data, size_t size, struct known *k);

/* Exchanges addresses between endpoints of this process, which may be one endpoint. Either output may be NULL. */
void ud_meet(struct side *active, struct known *passives, struct side *passive, struct known *actives);

/* Exchange addresses between two processes. One process calls the first function, the other the second. */
void ud_accept_peer(struct side *s, struct link *l, struct known *k);
void ud_connect_peer(struct side *s, struct link *l, struct known *k);

/* Post one segment, or none if len is 0. ud_receive() adds room for the GRH. */
DAT_RETURN ud_send(struct side *s, struct region *r, size_t off, size_t len, const struct known *to, DAT_UINT64 c);
DAT_RETURN ud_receive(struct side *s, struct region *r, size_t off, size_t len, DAT_UINT64 c);

/* Return whether the next event is the completion of the send c, or a datagram of len bytes in the receive c. */
bool ud_sent(struct side *s, DAT_UINT64 c, size_t len);
bool ud_received(struct side *s, DAT_UINT64 c, size_t len);

/* Returns whether the event is a datagram of len bytes in the receive c. */
bool ud_is_datagram(const DAT_EVENT *event, struct side *s, DAT_UINT64 c, size_t len);

/* Sends a datagram from x to the address, and returns whether it arrives intact at y. y must not have receives. */
bool ud_passes(struct side *x, const struct known *to, struct side *y);

/* Checks that the code is DAT_INVALID_HANDLE or DAT_INVALID_PARAMETER. */
#define ud_refused(rc, ...) is_either((rc), DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER, __VA_ARGS__)

/* Returns whether no event arrives at each EVD of the endpoint within QUIET_MS. */
bool ud_quiet(struct side *s);

#endif
