/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The second process: listens, accepts, and executes the notes of the first process.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "demo.h"

/* Returns the offset of a message in the pattern. Consecutive messages differ. */
size_t pattern_offset(DAT_UINT64 seed)
{
    return (size_t)(seed % 1021) * 64;
}

/* Compares all bytes with the pattern, and fails if a byte differs. */
void check_bytes(const struct node *node, const char *operation, const unsigned char *got,
                 size_t length, DAT_UINT64 seed)
{
    const unsigned char *wanted = node->pattern.base + pattern_offset(seed);
    size_t i = 0;

    if (memcmp(got, wanted, length) == 0)
        return;
    while (got[i] == wanted[i])
        i++;
    fail("%s of %zu bytes: byte %zu is 0x%02x and must be 0x%02x", operation, length, i, got[i],
         wanted[i]);
}

static void answer(struct node *node, enum what what)
{
    struct note note = { 0, 0, 0, 0 };

    note.what = (DAT_UINT32)what;
    send_note(node, note);
}

/*
 * PING: returns each message on its connection, directly from its receive
 * buffer. The first process checks the bytes.
 */
static void ping(struct node *node, const struct note *note)
{
    struct message message;

    for (DAT_UINT32 i = 0; i < note->count; i++) {
        message = receive_message(node);
        send_message(node, message.connection, &node->receives, message.buffer * LARGEST,
                     message.length);
        wait_requests(node, 1); /* the send uses the buffer until then */
        post_receive(node, message.buffer);
    }
}

/*
 * STREAM: receives many messages. Messages of one connection arrive in order,
 * messages of different connections in any order. Message i was sent on
 * connection i modulo CONNECTIONS.
 */
static void stream(struct node *node, const struct note *note)
{
    struct message messages[WINDOW];
    DAT_UINT64 seed = note->seed, next[CONNECTIONS];

    for (DAT_UINT32 i = 0; i < note->count; i++, seed += WINDOW) {
        for (int k = 0; k < WINDOW; k++)
            messages[k] = receive_message(node);
        answer(node, ARRIVED);

        for (int c = 0; c < CONNECTIONS; c++)
            next[c] = seed + (DAT_UINT64)c;
        for (int k = 0; k < WINDOW; k++) {
            if (messages[k].length != note->size)
                fail("receive of %zu bytes instead of %zu", messages[k].length,
                     (size_t)note->size);
            check_bytes(node, "receive", messages[k].data, messages[k].length,
                        next[messages[k].connection]);
            next[messages[k].connection] += CONNECTIONS;
            post_receive(node, messages[k].buffer);
        }
        answer(node, CHECKED); /* the buffers are posted again */
    }
}

/*
 * BOUNCE: polls memory for RDMA writes, and writes them back. The first process
 * checks the bytes.
 */
static void bounce(struct node *node, const struct note *note)
{
    const size_t size = (size_t)note->size;
    size_t slot;

    for (DAT_UINT32 i = 0; i < note->count; i++) {
        slot = i % WINDOW;
        poll_landing(node, slot, size, note->seed + i);
        /* The next write can arrive as soon as this write has been returned. */
        prepare_landing(node, (slot + 1) % WINDOW, size, note->seed + i + 1);
        rdma_write(node, &node->landing, slot * LARGEST, size, &node->peer_landing, slot * LARGEST);
        wait_requests(node, 1);
    }
}

/* WRITE: checks windows of RDMA writes. A note follows each window. */
static void written(struct node *node, const struct note *note)
{
    DAT_UINT64 seed = note->seed;
    DAT_LMR_TRIPLET range;

    memset(&range, 0, sizeof range);
    range.lmr_context = node->landing.lmr_context;
    range.virtual_address = (DAT_VADDR)(size_t)node->landing.base;
    range.segment_length = node->landing.size;
    for (DAT_UINT32 i = 0; i < note->count; i++) {
        expect_note(node, ARRIVED);
        must("dat_lmr_sync_rdma_write", dat_lmr_sync_rdma_write(node->ia, &range, 1));
        for (size_t slot = 0; slot < WINDOW; slot++)
            check_bytes(node, "RDMA write", node->landing.base + slot * LARGEST,
                        (size_t)note->size, seed++);
        answer(node, CHECKED);
    }
}

/* Runs the second process, which writes its address to the pipe `report`. */
int serve(const char *adapter, int report)
{
    struct rendezvous where;
    struct node node;
    struct note note;

    node_open(&node, adapter);
    node_listen(&node, &where);
    if (write(report, &where, sizeof where) != (ssize_t)sizeof where)
        fail("write: the first process cannot be told where we listen");
    node_accept(&node);

    do {
        note = receive_note(&node);
        if (note.what == BOUNCE)
            prepare_landing(&node, 0, (size_t)note.size, note.seed);
        answer(&node, READY);
        switch (note.what) {
        case PING:   ping(&node, &note); break;
        case STREAM: stream(&node, &note); break;
        case BOUNCE: bounce(&node, &note); break;
        case WRITE:  written(&node, &note); break;
        case QUIT:   break;
        default:     fail("note %u is unknown", (unsigned)note.what);
        }
    } while (note.what != QUIT);

    node_wait_disconnected(&node);
    node_close(&node);
    return 0;
}
