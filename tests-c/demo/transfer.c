/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Moving data.
 *
 * A post returns immediately, and an event reports the completion. Until then
 * the adapter uses the memory. The event contains the cookie of the post.
 */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "demo.h"

#define SPINS           2000     /* polls before a sleep */
#define SPINS_PER_YIELD 100      /* polls before another process may run */
#define CHECK_INTERVAL  100000   /* microseconds of sleep between checks of the peer */

/* Fails if a connection has ended. During a wait for other events, this means that the peer has exited. */
static void check_connections(struct node *node)
{
    DAT_EVENT event;
    DAT_RETURN rc = dat_evd_dequeue(node->conn_evd, &event);

    if (rc == DAT_SUCCESS)
        fail("the connection has ended (event 0x%x)", (unsigned)event.event_number);
    if (DAT_GET_TYPE(rc) != DAT_QUEUE_EMPTY)
        must("dat_evd_dequeue", rc);
}

/*
 * Returns the next event of an EVD. dat_evd_dequeue never sleeps, so it is the
 * fastest way while events arrive soon. dat_evd_wait sleeps.
 */
DAT_EVENT next_event(struct node *node, DAT_EVD_HANDLE evd)
{
    double deadline;
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN rc;

    for (int i = 0; i < SPINS; i++) {
        rc = dat_evd_dequeue(evd, &event);
        if (rc == DAT_SUCCESS)
            return event;
        if (DAT_GET_TYPE(rc) != DAT_QUEUE_EMPTY)
            must("dat_evd_dequeue", rc);
        if (i % SPINS_PER_YIELD == SPINS_PER_YIELD - 1)
            sched_yield(); /* the peer may need this CPU */
    }
    deadline = now() + TIMEOUT;
    while (now() < deadline) {
        rc = dat_evd_wait(evd, CHECK_INTERVAL, 1, &event, &more);
        if (rc == DAT_SUCCESS)
            return event;
        /* A signal also ends the wait. */
        if (DAT_GET_TYPE(rc) != DAT_TIMEOUT_EXPIRED && DAT_GET_TYPE(rc) != DAT_INTERRUPTED_CALL)
            must("dat_evd_wait", rc);
        if (evd != node->conn_evd)
            check_connections(node);
    }
    fail("dat_evd_wait: no event within %g seconds", TIMEOUT);
    return event;
}

static const char *status_text(DAT_DTO_COMPLETION_STATUS status)
{
    switch (status) {
    case DAT_DTO_SUCCESS:                return "success";
    case DAT_DTO_ERR_FLUSHED:            return "flushed, the connection has ended";
    case DAT_DTO_ERR_LOCAL_LENGTH:       return "the message is longer than the buffer";
    case DAT_DTO_ERR_LOCAL_PROTECTION:   return "local memory may not be used so";
    case DAT_DTO_ERR_REMOTE_ACCESS:      return "remote memory may not be used so";
    case DAT_DTO_ERR_REMOTE_RESPONDER:   return "the peer could not do it";
    default:                             return "error of the transport";
    }
}

static DAT_DTO_COMPLETION_EVENT_DATA next_completion(struct node *node, DAT_EVD_HANDLE evd,
                                                     const char *operation)
{
    DAT_EVENT event = next_event(node, evd);
    DAT_DTO_COMPLETION_EVENT_DATA data = event.event_data.dto_completion_event_data;

    if (event.event_number != DAT_DTO_COMPLETION_EVENT)
        fail("%s: event 0x%x instead of a completion", operation, (unsigned)event.event_number);
    if (data.status != DAT_DTO_SUCCESS)
        fail("%s: completion status %d, %s", operation, (int)data.status,
             status_text(data.status));
    return data;
}

/* Returns a segment of local memory. */
static DAT_LMR_TRIPLET segment(const struct memory *memory, size_t offset, size_t length)
{
    DAT_LMR_TRIPLET triplet;

    memset(&triplet, 0, sizeof triplet);
    triplet.lmr_context = memory->lmr_context;
    triplet.virtual_address = (DAT_VADDR)(uintptr_t)(memory->base + offset);
    triplet.segment_length = length;
    return triplet;
}

/* Returns a segment of the peer's memory. */
static DAT_RMR_TRIPLET remote_segment(const struct remote *remote, size_t offset, size_t length)
{
    DAT_RMR_TRIPLET triplet;

    memset(&triplet, 0, sizeof triplet);
    triplet.rmr_context = remote->rmr_context;
    triplet.target_address = remote->address + offset;
    triplet.segment_length = length;
    return triplet;
}

static DAT_DTO_COOKIE cookie(DAT_UINT64 value)
{
    DAT_DTO_COOKIE result;

    memset(&result, 0, sizeof result);
    result.as_64 = value;
    return result;
}

/* Posts a buffer to the shared receive queue. The cookie is the buffer's number. */
void post_receive(struct node *node, size_t buffer)
{
    DAT_LMR_TRIPLET iov = segment(&node->receives, buffer * LARGEST, LARGEST);

    must("dat_srq_post_recv", dat_srq_post_recv(node->srq, 1, &iov, cookie(buffer)));
}

/* Posts a send. The program can change its memory after wait_requests. */
void send_message(struct node *node, int connection, const struct memory *from, size_t offset,
                  size_t length)
{
    DAT_LMR_TRIPLET iov = segment(from, offset, length);

    must("dat_ep_post_send", dat_ep_post_send(node->ep[connection], 1, &iov, cookie(0),
                                              DAT_COMPLETION_DEFAULT_FLAG));
}

/* Waits for a message on any connection. The caller posts the buffer again. */
struct message receive_message(struct node *node)
{
    DAT_DTO_COMPLETION_EVENT_DATA data = next_completion(node, node->recv_evd, "receive");
    struct message message;

    /* The completion names the endpoint that took the buffer from the queue. */
    for (message.connection = 0; message.connection < CONNECTIONS; message.connection++)
        if (node->ep[message.connection] == data.ep_handle)
            break;
    if (message.connection == CONNECTIONS || data.user_cookie.as_64 >= RECEIVES)
        fail("receive: the completion names an endpoint or a buffer that does not exist");
    message.buffer = (size_t)data.user_cookie.as_64;
    message.data = node->receives.base + message.buffer * LARGEST;
    message.length = (size_t)data.transfered_length;
    return message;
}

/*
 * Writes to the peer's memory. The peer's program gets no event. RDMA and notes
 * use connection 0, because only one connection guarantees order: a note arrives
 * after the RDMA writes that were posted before it.
 */
void rdma_write(struct node *node, const struct memory *from, size_t offset, size_t length,
                const struct remote *to, size_t remote_offset)
{
    DAT_LMR_TRIPLET iov = segment(from, offset, length);
    DAT_RMR_TRIPLET target = remote_segment(to, remote_offset, length);

    must("dat_ep_post_rdma_write", dat_ep_post_rdma_write(node->ep[0], 1, &iov, cookie(0), &target,
                                                          DAT_COMPLETION_DEFAULT_FLAG));
}

/* Reads the peer's memory. The bytes are available after the completion. */
void rdma_read(struct node *node, struct memory *into, size_t offset, size_t length,
               const struct remote *from, size_t remote_offset)
{
    DAT_LMR_TRIPLET iov = segment(into, offset, length);
    DAT_RMR_TRIPLET source = remote_segment(from, remote_offset, length);

    must("dat_ep_post_rdma_read", dat_ep_post_rdma_read(node->ep[0], 1, &iov, cookie(0), &source,
                                                        DAT_COMPLETION_DEFAULT_FLAG));
}

/* Waits for `count` completions of sends and RDMA operations. */
void wait_requests(struct node *node, int count)
{
    while (count-- > 0)
        (void)next_completion(node, node->request_evd, "send or RDMA");
}

void send_note(struct node *node, struct note note)
{
    memcpy(node->notes.base, &note, sizeof note);
    send_message(node, 0, &node->notes, 0, sizeof note);
    wait_requests(node, 1);
}

struct note receive_note(struct node *node)
{
    struct message message = receive_message(node);
    struct note note;

    if (message.connection != 0 || message.length != sizeof note)
        fail("a message of %zu bytes on connection %d where a note was expected", message.length,
             message.connection);
    memcpy(&note, message.data, sizeof note);
    post_receive(node, message.buffer);
    return note;
}

void expect_note(struct node *node, enum what what)
{
    struct note note = receive_note(node);

    if (note.what != (DAT_UINT32)what)
        fail("note %u came instead of %u", (unsigned)note.what, (unsigned)what);
}

/*
 * To detect an RDMA write without a message, poll its last byte. uDAPL does not
 * guarantee that the last byte arrives last. Common adapters ensure this, and
 * many programs depend on it. To be certain, send a message after the write, as
 * WRITE does.
 */
static volatile unsigned char *last_byte(struct node *node, size_t slot, size_t length)
{
    return node->landing.base + slot * LARGEST + length - 1;
}

static unsigned char last_of_pattern(const struct node *node, size_t length, DAT_UINT64 seed)
{
    return node->pattern.base[pattern_offset(seed) + length - 1];
}

/* Sets the last byte to a value that the peer will not write. Call it before the peer may write. */
void prepare_landing(struct node *node, size_t slot, size_t length, DAT_UINT64 seed)
{
    *last_byte(node, slot, length) = (unsigned char)~last_of_pattern(node, length, seed);
}

void poll_landing(struct node *node, size_t slot, size_t length, DAT_UINT64 seed)
{
    const volatile unsigned char *flag = last_byte(node, slot, length);
    const unsigned char wanted = last_of_pattern(node, length, seed);
    DAT_LMR_TRIPLET range = segment(&node->landing, slot * LARGEST, length);
    double deadline = 0;

    for (unsigned long polls = 1; *flag != wanted; polls++) {
        if (polls % 1000 != 0)
            continue;
        sched_yield();
        check_connections(node);
        if (deadline == 0)
            deadline = now() + TIMEOUT;
        else if (now() > deadline)
            fail("an RDMA write of %zu bytes did not arrive within %g seconds", length, TIMEOUT);
    }
    /* Some machines need this call after RDMA writes. */
    must("dat_lmr_sync_rdma_write", dat_lmr_sync_rdma_write(node->ia, &range, 1));
}
