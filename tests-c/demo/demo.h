/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * demo: how a program moves data with uDAPL 1.2.
 *
 * Read the files in this order:
 *
 * - udapl.c: opens an adapter, registers memory, creates a shared receive queue
 *   and endpoints, connects, closes
 * - transfer.c: sends, receives, RDMA, waits for completions
 * - serve.c: the second process
 * - demo.c: the first process, which measures and checks
 * - process.c: everything without uDAPL
 *
 * They need <dat/udat.h>, -ldat, the C library and POSIX.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stddef.h>
#include <sys/socket.h>

#include <dat/udat.h>

#define CONNECTIONS 2                      /* share one receive queue */
#define WINDOW      8                      /* concurrent operations */
#define RECEIVES    (WINDOW + 2)           /* buffers in the shared receive queue */
#define LARGEST     ((size_t)4 << 20)      /* bytes of the longest operation */
#define TIMEOUT     60.0                   /* maximum seconds of any step */

/* Registered memory. */
struct memory {
    unsigned char *base;
    size_t size;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;           /* for local operations */
    DAT_RMR_CONTEXT rmr_context;           /* for the peer's RDMA operations */
};

/* The peer's memory, for our RDMA operations. */
struct remote {
    DAT_RMR_CONTEXT rmr_context;
    DAT_VADDR address;
};

/* One process: its adapter and all objects. */
struct node {
    DAT_IA_HANDLE ia;
    DAT_IA_ATTR ia_attr;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE async_evd;              /* asynchronous errors */
    DAT_EVD_HANDLE request_evd;            /* completions of sends and RDMA */
    DAT_EVD_HANDLE recv_evd;               /* received messages */
    DAT_EVD_HANDLE conn_evd;               /* established and ended connections */
    DAT_EVD_HANDLE cr_evd;                 /* connection requests; server only */
    DAT_PSP_HANDLE psp;                    /* service point; server only */
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE ep[CONNECTIONS];
    struct memory pattern;                 /* known bytes: sent, and read by the peer */
    struct memory receives;                /* buffers of the shared receive queue */
    struct memory landing;                 /* destination of RDMA: WINDOW slots of LARGEST bytes */
    struct memory notes;                   /* a struct note to send */
    struct remote peer_pattern;
    struct remote peer_landing;
};

/* Address of the server. */
struct rendezvous {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

/* A received message in its buffer of the shared receive queue. */
struct message {
    int connection;
    size_t buffer;
    unsigned char *data;
    size_t length;
};

/* Kinds of notes between the two processes, which are sent on connection 0. */
enum what { PING, STREAM, BOUNCE, WRITE, QUIT, /* responses: */ READY, ARRIVED, CHECKED };

/* A note is sent as it is in memory, because both processes are the same program. */
struct note {
    DAT_UINT32 what;
    DAT_UINT32 count;                      /* number of rounds */
    DAT_UINT64 size;                       /* bytes of one operation */
    DAT_UINT64 seed;                       /* of the first operation; increases by 1 per operation */
};

/* udapl.c */
void node_open(struct node *node, const char *adapter);
void node_listen(struct node *node, struct rendezvous *where);
void node_accept(struct node *node);
void node_connect(struct node *node, const struct rendezvous *where);
void node_disconnect(struct node *node);
void node_wait_disconnected(struct node *node);
void node_close(struct node *node);

/* transfer.c */
void send_message(struct node *node, int connection, const struct memory *from, size_t offset,
                  size_t length);
struct message receive_message(struct node *node);
void post_receive(struct node *node, size_t buffer);
void rdma_write(struct node *node, const struct memory *from, size_t offset, size_t length,
                const struct remote *to, size_t remote_offset);
void rdma_read(struct node *node, struct memory *into, size_t offset, size_t length,
               const struct remote *from, size_t remote_offset);
void wait_requests(struct node *node, int count);
void send_note(struct node *node, struct note note);
struct note receive_note(struct node *node);
void expect_note(struct node *node, enum what what);
void prepare_landing(struct node *node, size_t slot, size_t length, DAT_UINT64 seed);
void poll_landing(struct node *node, size_t slot, size_t length, DAT_UINT64 seed);
DAT_EVENT next_event(struct node *node, DAT_EVD_HANDLE evd);

/* serve.c */
int serve(const char *adapter, int report);
size_t pattern_offset(DAT_UINT64 seed);
void check_bytes(const struct node *node, const char *operation, const unsigned char *got,
                 size_t length, DAT_UINT64 seed);

/* process.c */
extern const char *role; /* name of the process in messages */
void fail(const char *format, ...);
void must(const char *call, DAT_RETURN rc);
double now(void);
void show_progress(const char *text);
int start_server(const char *adapter);
size_t read_pipe(int pipe_end, void *data, size_t size);
void end_server(int pipe_end);

#endif
