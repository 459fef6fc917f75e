/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The first process: starts the second process, connects to it, moves data in
 * every way and size, checks every byte, and prints the times.
 *
 *     demo [ADAPTER]      default: shm
 *
 * Exits with 0 if all bytes were right.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define CELL_SECONDS 0.08 /* time per number of the table; at least one batch runs */
#define MAX_SAMPLES  16384
#define MAX_BATCH    64

static struct {
    unsigned long long operations, bytes;
} checked;

/* ---- Rounds; each returns its time in seconds, without the checks ---- */

static void count(size_t operations, size_t size)
{
    checked.operations += operations;
    checked.bytes += (unsigned long long)operations * size;
}

/* Sends a message, which the server returns. Returns half of the round trip time. */
static double ping(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round)
{
    struct message message;
    double start, end;
    int connection = (int)(round % CONNECTIONS);

    start = now();
    send_message(node, connection, &node->pattern, pattern_offset(seed), size);
    message = receive_message(node);
    end = now();

    wait_requests(node, 1);
    if (message.connection != connection || message.length != size)
        fail("a message of %zu bytes came back on connection %d, not %zu on %d", message.length,
             message.connection, size, connection);
    check_bytes(node, "send and receive", message.data, size, seed);
    post_receive(node, message.buffer);
    count(2, size);
    return (end - start) / 2;
}

/* Sends a window of messages on all connections, until the server has received them. */
static double stream(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round)
{
    double start, end;

    (void)round;
    start = now();
    for (int k = 0; k < WINDOW; k++)
        send_message(node, k % CONNECTIONS, &node->pattern,
                     pattern_offset(seed + (DAT_UINT64)k), size);
    expect_note(node, ARRIVED);
    end = now();

    wait_requests(node, WINDOW);
    expect_note(node, CHECKED);
    count(WINDOW, size);
    return end - start;
}

/*
 * Writes by RDMA, and the server writes back. Both sides poll their memory.
 * Returns half of the round trip time.
 */
static double bounce(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round)
{
    size_t slot = round % WINDOW;
    double start, end;

    prepare_landing(node, slot, size, seed);
    start = now();
    rdma_write(node, &node->pattern, pattern_offset(seed), size, &node->peer_landing,
               slot * LARGEST);
    poll_landing(node, slot, size, seed);
    end = now();

    wait_requests(node, 1);
    check_bytes(node, "RDMA write", node->landing.base + slot * LARGEST, size, seed);
    count(2, size);
    return (end - start) / 2;
}

static double writes(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round)
{
    struct note note = { ARRIVED, 1, 0, 0 };
    double start, end;

    (void)round;
    start = now();
    for (size_t k = 0; k < WINDOW; k++)
        rdma_write(node, &node->pattern, pattern_offset(seed + k), size, &node->peer_landing,
                   k * LARGEST);
    wait_requests(node, WINDOW);
    end = now();

    send_note(node, note);
    expect_note(node, CHECKED);
    count(WINDOW, size);
    return end - start;
}

/* Posts a window of RDMA reads. The server makes no call. */
static double reads_of(struct node *node, size_t size, DAT_UINT64 seed, size_t window)
{
    double start, end;

    start = now();
    for (size_t k = 0; k < window; k++)
        rdma_read(node, &node->landing, k * LARGEST, size, &node->peer_pattern,
                  pattern_offset(seed + k));
    wait_requests(node, (int)window);
    end = now();

    for (size_t k = 0; k < window; k++)
        check_bytes(node, "RDMA read", node->landing.base + k * LARGEST, size, seed + k);
    count(window, size);
    return end - start;
}

static double one_read(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round)
{
    (void)round;
    return reads_of(node, size, seed, 1);
}

static double reads(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round)
{
    (void)round;
    return reads_of(node, size, seed, WINDOW);
}

/* ---- The table ---- */

#define ALONE QUIT /* the server takes no part, so measure() sends no note */

static const struct test {
    const char *name;
    enum what what;
    size_t window; /* operations in a round */
    double (*round)(struct node *node, size_t size, DAT_UINT64 seed, DAT_UINT32 round);
} tests[] = {
    { "send and receive", PING, 1, ping },   { "RDMA write", BOUNCE, 1, bounce },
    { "RDMA read", ALONE, 1, one_read },     { "messages in a row", STREAM, WINDOW, stream },
    { "RDMA writes in a row", WRITE, WINDOW, writes }, { "RDMA reads in a row", ALONE, WINDOW, reads },
};

static const size_t sizes[] = { 1, 8, 64, 512, 4096, 32768, 262144, 1048576, LARGEST };

#define TESTS (sizeof tests / sizeof tests[0])
#define SIZES (sizeof sizes / sizeof sizes[0])

static const char *size_text(size_t size)
{
    static char text[32];

    if (size < 1024)
        snprintf(text, sizeof text, "%zu B", size);
    else if (size < 1048576)
        snprintf(text, sizeof text, "%zu KiB", size / 1024);
    else
        snprintf(text, sizeof text, "%zu MiB", size / 1048576);
    return text;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Runs batches of rounds for CELL_SECONDS. Returns the median time of a round in seconds. */
static double measure(struct node *node, const struct test *test, size_t size)
{
    static double samples[MAX_SAMPLES];
    static DAT_UINT64 seed;
    size_t taken = 0, batch = 262144 / (size * test->window);
    double start = now();
    struct note note;

    batch = batch < 2 ? 2 : batch > MAX_BATCH ? MAX_BATCH : batch;
    do {
        if (test->what != ALONE) {
            note.what = (DAT_UINT32)test->what;
            note.count = (DAT_UINT32)batch;
            note.size = size;
            note.seed = seed;
            send_note(node, note);
            expect_note(node, READY);
        }
        for (DAT_UINT32 round = 0; round < batch; round++, seed += test->window)
            samples[taken++] = test->round(node, size, seed, round);
    } while (taken + batch <= MAX_SAMPLES && now() - start < CELL_SECONDS);

    qsort(samples, taken, sizeof samples[0], ascending);
    return samples[taken / 2];
}

static void print_table(struct node *node)
{
    char progress[80];
    double seconds;

    puts("                 latency in microseconds             bandwidth in MB/s\n"
         "    size   send/recv  RDMA write  RDMA read    send/recv  RDMA write  RDMA read");
    for (size_t s = 0; s < SIZES; s++) {
        double value[TESTS];

        for (size_t t = 0; t < TESTS; t++) {
            snprintf(progress, sizeof progress, "%2zu of %zu: %s, %s", s * TESTS + t + 1,
                     SIZES * TESTS, size_text(sizes[s]), tests[t].name);
            show_progress(progress);
            seconds = measure(node, &tests[t], sizes[s]);
            value[t] = tests[t].window == 1
                           ? seconds * 1e6
                           : (double)tests[t].window * (double)sizes[s] / seconds / 1e6;
        }
        show_progress(NULL);
        printf("%8s  %10.2f  %10.2f %10.2f   %10.1f  %10.1f %10.1f\n", size_text(sizes[s]),
               value[0], value[1], value[2], value[3], value[4], value[5]);
        fflush(stdout);
    }
}

/* ---- The first process ---- */

static int run(const char *adapter)
{
    struct rendezvous where;
    struct note quit = { QUIT, 0, 0, 0 };
    struct node node;
    int pipe_end = start_server(adapter);

    node_open(&node, adapter);
    if (read_pipe(pipe_end, &where, sizeof where) != sizeof where)
        fail("the second process ended before it listened");
    node_connect(&node, &where);
    printf("uDAPL 1.2, adapter \"%s\": 2 processes, %d connections, %d buffers in one shared\n"
           "receive queue on each side. Latency: one operation, half of there and back for\n"
           "messages and RDMA writes. Bandwidth: %d outstanding operations. Medians.\n\n",
           adapter, CONNECTIONS, RECEIVES, WINDOW);

    print_table(&node);
    puts("\nRDMA write: the target watches only its memory, so over shm the kernel copies. If the\n"
         "target also polled a dispatcher, short writes would take about as long as messages.");

    send_note(&node, quit);
    expect_note(&node, READY);
    node_disconnect(&node);
    node_wait_disconnected(&node);
    node_close(&node);
    end_server(pipe_end);
    printf("\nAll checked: %llu operations, each of their %llu bytes is what was sent.\n",
           checked.operations, checked.bytes);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--serve") == 0) {
        role = "demo, second process";
        return serve(argv[2], atoi(argv[3]));
    }
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fprintf(stderr, "usage: %s [ADAPTER]\n", argv[0]);
        return 2;
    }
    return run(argc == 2 ? argv[1] : "shm");
}
