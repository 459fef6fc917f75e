/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * demo: the steps by which a program moves data with uDAPL 1.2.
 *
 * Read the files in this order:
 *
 *   udapl.c     opening an adapter, registering memory, a shared receive
 *               queue, endpoints, connecting, closing
 *   transfer.c  sending, receiving, RDMA, and waiting for completions
 *   serve.c     the second process, which does as it is told
 *   demo.c      the first process, which starts the second one, measures,
 *               checks and prints
 *   process.c   everything that is not about uDAPL
 *
 * They need <dat/udat.h>, -ldat, and nothing but the C library and POSIX.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stddef.h>
#include <sys/socket.h>

#include <dat/udat.h>

#define CONNECTIONS 2                      /* all on one shared receive queue */
#define WINDOW      8                      /* operations under way at a time */
#define RECEIVES    (WINDOW + 2)           /* buffers in the shared receive queue */
#define LARGEST     ((size_t)4 << 20)      /* bytes of the longest operation */
#define DEADLINE    60.0                   /* seconds; whatever takes longer has failed */

/* Memory that the adapter may use. */
struct memory {
    unsigned char *base;
    size_t size;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;           /* its name in our own operations */
    DAT_RMR_CONTEXT rmr_context;           /* its name in those of the peer */
};

/* Memory of the peer that we may use. */
struct remote {
    DAT_RMR_CONTEXT rmr_context;
    DAT_VADDR address;
};

/* One process: its adapter and everything it made there. */
struct node {
    DAT_IA_HANDLE ia;
    DAT_IA_ATTR ia_attr;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE async_evd;              /* what happens to the adapter */
    DAT_EVD_HANDLE request_evd;            /* what we started: sends, RDMA */
    DAT_EVD_HANDLE recv_evd;               /* messages */
    DAT_EVD_HANDLE conn_evd;               /* connections made and ended */
    DAT_EVD_HANDLE cr_evd;                 /* requests to connect; server only */
    DAT_PSP_HANDLE psp;                    /* where we listen; server only */
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE ep[CONNECTIONS];
    struct memory pattern;                 /* known bytes, which we send and the peer reads */
    struct memory receives;                /* the buffers of the shared receive queue */
    struct memory landing;                 /* where RDMA lands, WINDOW slots of LARGEST bytes */
    struct memory notes;                   /* one struct note, to send it */
    struct remote peer_pattern;
    struct remote peer_landing;
};

/* Where the server listens. */
struct rendezvous {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
};

/* A message that has come, in its buffer of the shared receive queue. */
struct message {
    int connection;
    size_t buffer;
    unsigned char *data;
    size_t length;
};

/* What the two processes have to tell each other, sent on connection 0. */
enum what { PING, STREAM, BOUNCE, WRITE, QUIT, /* answers: */ READY, ARRIVED, CHECKED };

/* Both processes are the same program, so a structure may travel as it is. */
struct note {
    DAT_UINT32 what;
    DAT_UINT32 count;                      /* how often */
    DAT_UINT64 size;                       /* bytes of one operation */
    DAT_UINT64 seed;                       /* of the first one; each has the next */
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
void give_back(struct node *node, size_t buffer);
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
extern const char *role; /* who says it, in messages */
void fail(const char *format, ...);
void must(const char *call, DAT_RETURN rc);
double now(void);
void show_progress(const char *text);
int start_server(const char *adapter);
size_t read_pipe(int pipe_end, void *data, size_t size);
void end_server(int pipe_end);

#endif
