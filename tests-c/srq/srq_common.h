/*
 * srq_common.h - common parts of the programs about the shared receive queue: a
 * queue with memory for its buffers, connections onto it, its counters, and a
 * second process that sends.
 *
 * "Arrived" means here: the sender has the completion of its Send. From that
 * moment dat_srq_query() must count the message, whether or not the receiving
 * process has called the library since. On iWARP a Send is over a little before
 * its message has arrived, so there srq_arrived() and is_counts() wait.
 */
#ifndef TESTS_C_SRQ_COMMON_H
#define TESTS_C_SRQ_COMMON_H

#include "common/fixture.h"

/* The bits of DAT_PROVIDER_ATTR.srq_watermarks_supported, srq_info_supported, ep_recv_info_supported. */
#define WATERMARK_LOW 0x001
#define WATERMARK_SOFT_HIGH 0x010
#define WATERMARK_HARD_HIGH 0x100
#define INFO_FIRST 0x01  /* available_dto_count, nbufs_allocated */
#define INFO_SECOND 0x10 /* outstanding_dto_count, bufs_alloc_span */

/* A shared receive queue and the memory that its buffers lie in. */
struct srq {
    struct fx *fx;
    DAT_SRQ_HANDLE handle;
    struct region mem; /* buffer i is the i-th slot */
    size_t slot;       /* bytes of one buffer */
    DAT_COUNT buffers;
};

/* A queue of that size (max_recv_iov 4) and memory for so many buffers; nothing is posted. */
void srq_open(struct srq *q, struct fx *fx, DAT_COUNT max_recv_dtos, DAT_COUNT buffers, size_t slot);
/* Frees the queue, where it is not freed yet (NULL), and the memory. */
void srq_close(struct srq *q);

/* The cookie of buffer i uses all 64 bits; the way back gives -1 for a cookie that is none. */
DAT_UINT64 srq_cookie(DAT_COUNT i);
DAT_COUNT srq_buffer(const struct srq *q, DAT_UINT64 cookie);

/* Posts buffer i, whole. */
DAT_RETURN srq_post(struct srq *q, DAT_COUNT i);
/* Posts the buffers first ... first + n - 1; all must be accepted. */
void srq_fill(struct srq *q, DAT_COUNT first, DAT_COUNT n);

/* All that dat_srq_query() says, which must succeed. */
DAT_SRQ_PARAM srq_param(DAT_SRQ_HANDLE srq);

/* The same; on iWARP once so many buffers are available, or at the deadline. */
DAT_SRQ_PARAM srq_arrived(DAT_SRQ_HANDLE srq, DAT_COUNT available);

/* A subtest: the two counters, and that they keep 0 <= available <= outstanding <= max_recv_dtos. */
bool is_counts(DAT_SRQ_HANDLE srq, DAT_COUNT available, DAT_COUNT outstanding, const char *fmt, ...)
    TAP_PRINTF(4, 5);

/* A subtest: the query gives exactly what it gave before, in every field. */
bool is_unchanged(DAT_SRQ_HANDLE srq, const DAT_SRQ_PARAM *before, const char *fmt, ...)
    TAP_PRINTF(3, 4);

/* Both ends of one connection in this process; rx receives from the queue. */
struct srq_pair {
    struct side rx;
    struct side tx;
    struct region out; /* one message at a time, up to out.size bytes */
};

void srq_pair_open(struct srq_pair *p, struct srq *q);
/* The same with EVDs of that length at the receiving end. */
void srq_pair_open_qlen(struct srq_pair *p, struct srq *q, DAT_COUNT qlen);
void srq_pair_close(struct srq_pair *p);

/* Message number seq: its length, and bytes that depend on seq. Returns when it has arrived. */
bool srq_send(struct srq_pair *p, size_t size, unsigned seq);
/* n of them, one after another, numbered from seq. */
bool srq_send_many(struct srq_pair *p, int n, size_t size, unsigned seq);
/* Posts only. The bytes may not change before the completion, so one seq at a time. */
DAT_RETURN srq_send_start(struct srq_pair *p, size_t size, unsigned seq);

/* The bytes of a message and their check; the messages of another from differ. */
void message_fill(void *mem, size_t size, unsigned from, unsigned seq);
bool message_right(const void *mem, size_t size, unsigned from, unsigned seq);

/*
 * The next event, by dat_evd_dequeue(), is the successful completion of a
 * buffer of the queue: message seq of from, of that size, taken by ep. Returns
 * the number of the buffer, or -1 with a remark.
 */
DAT_COUNT srq_take(struct srq *q, DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, size_t size, unsigned from,
                   unsigned seq);

/* Takes everything off; every event must be a DTO completion. Returns their number, or -1. */
int srq_drain(DAT_EVD_HANDLE evd);

/*
 * Takes completions off until no buffer is under way or waiting on an EVD, that
 * is until available equals outstanding. Returns their number, -1 at the deadline.
 */
int srq_settle(DAT_SRQ_HANDLE srq, DAT_EVD_HANDLE evd);

/* True when a dequeue finds nothing right now, but for events that tell of the end of a connection. */
bool no_event(DAT_EVD_HANDLE evd);

/* The event is a watermark's: an asynchronous one, of that object, for that reason. */
bool is_watermark(const DAT_EVENT *event, DAT_HANDLE object, DAT_HANDLE_TYPE type, DAT_COUNT reason);
/* The next asynchronous event but for those that tell of the end of a connection. */
bool wait_watermark(struct fx *fx, DAT_EVENT *event);
/* A subtest: the next event on the asynchronous EVD is the low watermark of that queue. */
bool low_watermark_comes(struct fx *fx, DAT_SRQ_HANDLE srq, const char *fmt, ...) TAP_PRINTF(3, 4);
/* A subtest: no event there for QUIET_MS. */
bool nothing_comes(struct fx *fx, const char *fmt, ...) TAP_PRINTF(2, 3);

/* An IA and a provider attribute structure of fx. */
void srq_attributes(struct fx *fx, DAT_IA_ATTR *ia, DAT_PROVIDER_ATTR *provider);

/* A second process whose endpoint i is connected with rx[i] and sends when told. */
struct sender {
    struct peer peer;
    bool posted; /* the word "posted" of the last order was heard */
};

#define SENDER_ROLE { "sender", sender_role }
int sender_role(struct link *up);
void sender_start(struct sender *s, struct side *rx, int n);
/* Orders the messages seq, seq + 1, ... of from = i and waits for nothing. */
void sender_begin(struct sender *s, int i, int count, size_t size, unsigned seq);
/* Returns when the last of them is posted; no more than SENDER_WINDOW wait for a buffer. */
void sender_posted(struct sender *s);
/* Returns when each of them has its completion; how many have arrived. */
int sender_arrived(struct sender *s);
/* sender_begin() and sender_arrived(); all must arrive. */
void sender_send(struct sender *s, int i, int count, size_t size, unsigned seq);
/* Endpoint i of the sender disconnects; returns when its process has the event. */
void sender_disconnect(struct sender *s, int i, DAT_CLOSE_FLAGS how);
/* It ends in good order; a subtest only when it does not. */
void sender_end(struct sender *s);

#define SENDER_WINDOW 32

#endif
