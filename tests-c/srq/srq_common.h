/*
 * srq_common.h - tests of SRQs: a queue with memory for its buffers, connections, counters, and a second
 * process that sends.
 *
 * When the sender has the completion of a message, dat_srq_query() must count the message as arrived, even
 * if the receiving process makes no other call. On iWARP a Send can complete before the receiver has the
 * message, so there srq_arrived() and is_counts() wait.
 */
#ifndef TESTS_C_SRQ_COMMON_H
#define TESTS_C_SRQ_COMMON_H

#include "common/fixture.h"

/* Bits of srq_watermarks_supported, srq_info_supported and ep_recv_info_supported. */
#define WATERMARK_LOW 0x001
#define WATERMARK_SOFT_HIGH 0x010
#define WATERMARK_HARD_HIGH 0x100
#define INFO_FIRST 0x01  /* available_dto_count, nbufs_allocated */
#define INFO_SECOND 0x10 /* outstanding_dto_count, bufs_alloc_span */

struct srq {
    struct fx *fx;
    DAT_SRQ_HANDLE handle;
    struct region mem; /* buffer i is slot i */
    size_t slot;       /* size of a buffer */
    DAT_COUNT buffers;
};

/* Creates a queue of this size (max_recv_iov 4), and memory for `buffers` buffers. Posts no buffer. */
void srq_open(struct srq *q, struct fx *fx, DAT_COUNT max_recv_dtos, DAT_COUNT buffers, size_t slot);
/* Frees the queue, unless handle is NULL, and the memory. */
void srq_close(struct srq *q);

/* Convert between a buffer and its cookie, which uses all 64 bits. srq_buffer() returns -1 for an invalid cookie. */
DAT_UINT64 srq_cookie(DAT_COUNT i);
DAT_COUNT srq_buffer(const struct srq *q, DAT_UINT64 cookie);

DAT_RETURN srq_post(struct srq *q, DAT_COUNT i);
/* Posts n buffers, which must succeed. */
void srq_fill(struct srq *q, DAT_COUNT first, DAT_COUNT n);

DAT_SRQ_PARAM srq_param(DAT_SRQ_HANDLE srq);

/* Queries the SRQ. On iWARP, first waits up to SOON_MS until this number of buffers is available. */
DAT_SRQ_PARAM srq_arrived(DAT_SRQ_HANDLE srq, DAT_COUNT available);

/* Checks that srq_arrived() returns these counters, and 0 <= available <= outstanding <= max_recv_dtos. */
bool is_counts(DAT_SRQ_HANDLE srq, DAT_COUNT available, DAT_COUNT outstanding, const char *fmt, ...)
    TAP_PRINTF(4, 5);

/* Checks that dat_srq_query() returns the values of `before`. */
bool is_unchanged(DAT_SRQ_HANDLE srq, const DAT_SRQ_PARAM *before, const char *fmt, ...)
    TAP_PRINTF(3, 4);

/* One connection in this process. rx receives from the queue. */
struct srq_pair {
    struct side rx;
    struct side tx;
    struct region out; /* memory of the outstanding message */
};

void srq_pair_open(struct srq_pair *p, struct srq *q);
/* Does the same as srq_pair_open(), with receive EVDs of this length. */
void srq_pair_open_qlen(struct srq_pair *p, struct srq *q, DAT_COUNT qlen);
void srq_pair_close(struct srq_pair *p);

/* Sends message seq and waits for its completion. Returns whether the Send succeeds. */
bool srq_send(struct srq_pair *p, size_t size, unsigned seq);
/* Sends n messages, each after the completion of the message before. Stops and returns false if a Send fails. */
bool srq_send_many(struct srq_pair *p, int n, size_t size, unsigned seq);
/* Posts message seq and does not wait. Do not send the next message of this pair before the completion. */
DAT_RETURN srq_send_start(struct srq_pair *p, size_t size, unsigned seq);

/*
 * message_fill() writes the bytes of message `seq` of sender `from`. message_right() returns whether `mem`
 * contains these bytes.
 */
void message_fill(void *mem, size_t size, unsigned from, unsigned seq);
bool message_right(const void *mem, size_t size, unsigned from, unsigned seq);

/*
 * Waits up to SOON_MS for the next event of `evd`. Returns the buffer if the event is the completion of message
 * `seq` of sender `from` at `ep`, and the bytes are right. Otherwise returns -1. Prints a diagnostic line if the
 * event differs.
 */
DAT_COUNT srq_take(struct srq *q, DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, size_t size, unsigned from,
                   unsigned seq);

/* Dequeues all events. Returns their number, or -1 if an event is not a DTO completion. */
int srq_drain(DAT_EVD_HANDLE evd);

/*
 * Dequeues completions until `available` equals `outstanding`. Returns their number. Returns -1 on another
 * event, or if the counters still differ after SOON_MS.
 */
int srq_settle(DAT_SRQ_HANDLE srq, DAT_EVD_HANDLE evd);

/* Drops the asynchronous events that report ends of connections. Returns whether no other event is queued. */
bool no_event(DAT_EVD_HANDLE evd);

/* Returns whether an asynchronous event has this object and reason. If not, prints a diagnostic line. */
bool is_watermark(const DAT_EVENT *event, DAT_HANDLE object, DAT_HANDLE_TYPE type, DAT_COUNT reason);
/* Waits for the next asynchronous event that is no end of a connection. Returns false after SOON_MS. */
bool wait_watermark(struct fx *fx, DAT_EVENT *event);
/* Checks that the next event of wait_watermark() is the low watermark of this queue. */
bool low_watermark_comes(struct fx *fx, DAT_SRQ_HANDLE srq, const char *fmt, ...) TAP_PRINTF(3, 4);
/* Checks that no asynchronous event arrives within QUIET_MS, except ends of connections. */
bool nothing_comes(struct fx *fx, const char *fmt, ...) TAP_PRINTF(2, 3);

void srq_attributes(struct fx *fx, DAT_IA_ATTR *ia, DAT_PROVIDER_ATTR *provider);

/* A second process that sends on request. Its endpoint i is connected to rx[i] of sender_start(). */
struct sender {
    struct peer peer;
    bool posted; /* sender_posted() was called for the last order */
};

#define SENDER_ROLE { "sender", sender_role }
int sender_role(struct link *up);
void sender_start(struct sender *s, struct side *rx, int n);
/* Requests that endpoint i sends `count` messages, numbered from `seq`. Does not wait. */
void sender_begin(struct sender *s, int i, int count, size_t size, unsigned seq);
/*
 * Waits until the sender has posted all requested messages. At most SENDER_WINDOW of them may lack a
 * buffer, because the sender posts no more before a completion.
 */
void sender_posted(struct sender *s);
/* Waits for the completions of the requested messages. Returns how many succeeded. */
int sender_arrived(struct sender *s);
/* Combines sender_begin() and sender_arrived(). All messages must arrive. */
void sender_send(struct sender *s, int i, int count, size_t size, unsigned seq);
/* Disconnects endpoint i of the sender, and waits for its event. */
void sender_disconnect(struct sender *s, int i, DAT_CLOSE_FLAGS how);
/* Ends the sender. Prints a failed subtest if the sender does not exit with status 0, else no subtest. */
void sender_end(struct sender *s);

#define SENDER_WINDOW 32

#endif
