/*
 * everyone.c - $DAT_TEST_PROCESSES processes that are all connected to each other, and one process connected to 300.
 *
 * All processes connect at the same time, so steps can take seconds. The test compares descriptors and memory of a
 * process with all idle peers, and without any. The difference includes one-time costs, so it needs at least 64 peers.
 */
#define _DEFAULT_SOURCE
#include "common/fixture.h"
#include "common/place.h"
#include "common/usage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

/* Maximum cost of an idle peer: descriptors, and KiB of memory of each process. */
enum { DESCRIPTORS = 3, IDLE_KIB = 64 };

enum { MAX_PROCESSES = 512, OTHERS = 300, FILES = 1024, BYTES = 64 };

/* Maximum time of any step, in ms. */
#define LATE_MS (4 * SOON_MS)

/* Orders for a process: it connects to the processes with the lowest numbers, and accepts requests of others. */
struct part {
    int number;
    int connects;
    int accepts;
};

/* Measurements of a process: the increase that its peers cause. */
struct result {
    int descriptors;
    long kib;        /* resident memory, shared or not */
    long shared_kib; /* files that it shares with peers */
    int wrong;       /* peers without a correct message */
};

/* ---- A process ---- */

struct one {
    struct fx fx;
    struct part part;
    struct result result;
    DAT_EVD_HANDLE conn; /* connection requests and connection events */
    DAT_EVD_HANDLE recv;
    DAT_EVD_HANDLE req;
    struct region memory; /* a receive buffer and a send buffer for each peer */
    DAT_EP_HANDLE eps[MAX_PROCESSES];
    int who[MAX_PROCESSES]; /* number of the peer of each endpoint */
    int count;
};

/* Drops all capabilities, because they lift the limit on descriptors in flight. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

    must(syscall(SYS_capset, &head, none) == 0, "capset");
}

static void make_endpoint(struct one *one, int who)
{
    DAT_EP_ATTR attr;
    DAT_LMR_TRIPLET into = segment(&one->memory, (size_t)one->count * BYTES, BYTES);
    DAT_EP_HANDLE *ep = &one->eps[one->count];

    attr_default(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = 4;
    must_rc(dat_ep_create(one->fx.ia, one->fx.pz, one->recv, one->req, one->conn, &attr, ep), DAT_SUCCESS,
            "dat_ep_create");
    must_rc(dat_ep_post_recv(*ep, 1, &into, cookie((DAT_UINT64)one->count), DAT_COMPLETION_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_post_recv");
    one->who[one->count++] = who;
}

static void accept_request(struct one *one, DAT_EVENT *event)
{
    DAT_CR_HANDLE cr = event->event_data.cr_arrival_event_data.cr_handle;
    DAT_CR_PARAM param;
    int who = -1;

    must_rc(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), DAT_SUCCESS, "dat_cr_query");
    must(param.private_data_size >= (DAT_COUNT)sizeof who, "a request without its sender");
    memcpy(&who, param.private_data, sizeof who);
    make_endpoint(one, who);
    must_rc(dat_cr_accept(cr, one->eps[one->count - 1], 0, NULL), DAT_SUCCESS, "dat_cr_accept");
}

static void meet(struct one *one, const DAT_CONN_QUAL *quals)
{
    int all = one->part.connects + one->part.accepts, connected = 0;
    DAT_EVENT event;

    for (int i = 0; i < one->part.connects; i++) {
        /* Begin with different peers in each process. */
        int other = (one->part.number + i) % one->part.connects;

        make_endpoint(one, other);
        must_rc(dat_ep_connect(one->eps[one->count - 1], fx_address(&one->fx), quals[other], env_us(LATE_MS),
                               sizeof one->part.number, &one->part.number, DAT_QOS_BEST_EFFORT,
                               DAT_CONNECT_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_connect");
    }
    while (connected < all) {
        must(wait_event_ms(one->conn, LATE_MS, &event), "%d of %d connections, and no more", connected, all);
        if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
            accept_request(one, &event);
            continue;
        }
        must(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED, "process %d has %d of %d connections, and then %s",
             one->part.number, connected, all, event_text(event.event_number));
        connected++;
    }
}

/* Sends a message to each peer and checks theirs. The contents depend on sender and receiver. */
static void talk(struct one *one)
{
    DAT_EVENT event;

    for (int i = 0; i < one->count; i++) {
        DAT_LMR_TRIPLET from = segment(&one->memory, (size_t)(MAX_PROCESSES + i) * BYTES, BYTES);

        pattern_fill(one->memory.mem + (MAX_PROCESSES + i) * BYTES, BYTES,
                     (unsigned)(one->part.number * MAX_PROCESSES + one->who[i]));
        must_rc(dat_ep_post_send(one->eps[i], 1, &from, cookie(0), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                "dat_ep_post_send");
    }
    one->result.wrong = one->count;
    for (int i = 0; i < one->count; i++) {
        DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;
        int at;

        must(wait_event_ms(one->recv, LATE_MS, &event), "%d messages of %d, and no more", i, one->count);
        at = (int)done->user_cookie.as_64;
        one->result.wrong -= done->status == DAT_DTO_SUCCESS && done->transfered_length == BYTES &&
                             pattern_check(one->memory.mem + at * BYTES, BYTES,
                                           (unsigned)(one->who[at] * MAX_PROCESSES + one->part.number)) < 0;
    }
    for (int i = 0; i < one->count; i++)
        must(wait_event_ms(one->req, LATE_MS, &event), "completions of %d sends of %d, and no more", i, one->count);
}

/* Returns the resident memory of this process in KiB, shared or not. */
static long memory_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = -1;

    must(file != NULL, "/proc/self/smaps_rollup");
    while (kib < 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Rss: %ld kB", &kib) != 1)
            kib = -1;
    fclose(file);
    return kib;
}

/* Returns the KiB of the open files without a name. */
static long shared_kib(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    long long blocks = 0;

    must(dir != NULL, "/proc/self/fd");
    while ((entry = readdir(dir)) != NULL) {
        struct stat about;

        if (fstat(atoi(entry->d_name), &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 0)
            blocks += about.st_blocks;
    }
    closedir(dir);
    return (long)(blocks / 2);
}

static int one_of_all(struct link *up)
{
    static struct one one;
    static DAT_CONN_QUAL quals[MAX_PROCESSES];
    struct rlimit files;
    DAT_CONN_QUAL qual = 0;
    long kib, shared;
    int before;

    must(link_recv(up, &one.part, sizeof one.part, LATE_MS), "the first process is gone");
    must(getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
    files.rlim_cur = FILES;
    must(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
    drop_capabilities();
    fx_open(&one.fx);
    one.conn = fx_evd(&one.fx, 4 * MAX_PROCESSES, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG);
    one.recv = fx_evd(&one.fx, MAX_PROCESSES, DAT_EVD_DTO_FLAG);
    one.req = fx_evd(&one.fx, MAX_PROCESSES, DAT_EVD_DTO_FLAG);
    region_make(&one.fx, &one.memory, (size_t)2 * MAX_PROCESSES * BYTES, MEM_LOCAL);
    fx_listen_on(&one.fx, one.conn, DAT_PSP_CONSUMER_FLAG, &qual);
    must(LINK_SEND(up, qual) && link_recv(up, quals, sizeof quals, LATE_MS), "the first process is gone");

    before = entries("/proc/self/fd");
    kib = memory_kib();
    shared = shared_kib();
    meet(&one, quals);
    must(link_say(up, "met") && link_recv(up, &qual, sizeof qual, LATE_MS), "the first process is gone");
    one.result.kib = memory_kib() - kib;
    one.result.shared_kib = shared_kib() - shared;
    one.result.descriptors = entries("/proc/self/fd") - before;
    talk(&one);
    must(LINK_SEND(up, one.result) && link_recv(up, &qual, sizeof qual, LATE_MS), "the first process is gone");
    fx_close(&one.fx);
    return 0;
}

/* ---- The first process ---- */

static struct peer all[MAX_PROCESSES];

static void resume_all(int count)
{
    DAT_CONN_QUAL any = 0;

    for (int i = 0; i < count; i++)
        LINK_SEND(&all[i].link, any);
}

static bool hears(int i, void *what, size_t size)
{
    return link_recv(&all[i].link, what, size, LATE_MS);
}

static int greater(long one, long other)
{
    return (int)(one > other ? one : other);
}

/* Starts the processes and connects them. Returns false if one of them fails. */
static bool all_connect(const char *what, int count, struct part (*part)(int number, int count))
{
    static DAT_CONN_QUAL quals[MAX_PROCESSES];
    uint64_t start;
    char word[32];
    int ready = 0;

    for (int i = 0; i < count; i++) {
        struct part own = part(i, count);

        peer_start(&all[i], "one");
        LINK_SEND(&all[i].link, own);
    }
    for (int i = 0; i < count; i++)
        must(hears(i, &quals[i], sizeof quals[i]), "process %d does not listen", i);
    start = now_ms();
    for (int i = 0; i < count; i++)
        link_send(&all[i].link, quals, sizeof quals);
    while (ready < count && hears(ready, word, sizeof word))
        ready++;
    diag("%s: %d of them are connected after %lu ms", what, ready, (unsigned long)(now_ms() - start));
    return ok(ready == count, "dat_ep_connect: %s: all connections come up", what);
}

/* Makes all processes exchange messages, and checks their measurements. Returns whether all messages arrive. */
static bool all_talk(const char *what, int count, struct part (*part)(int number, int count))
{
    struct result most = { 0, 0, 0, 0 }, r;
    int peers = 0, heard = 0;

    resume_all(count);
    for (; heard < count && hears(heard, &r, sizeof r); heard++) {
        struct part own = part(heard, count);

        most.wrong += r.wrong;
            /* Processes with few peers would attribute one-time costs to them. */
        if (own.connects + own.accepts < count - 1)
            continue;
        peers = count - 1;
        most.kib = greater(r.kib, most.kib);
        most.shared_kib = greater(r.shared_kib, most.shared_kib);
        most.descriptors = greater(r.descriptors, most.descriptors);
    }
    diag("%s: %d peers take %d descriptors, %ld KiB of memory, %ld KiB of files", what, peers, most.descriptors,
         most.kib, most.shared_kib);
    ok(most.descriptors <= DESCRIPTORS * peers, "%s: a peer costs at most %d descriptors", what, DESCRIPTORS);
    ok(most.kib <= IDLE_KIB * peers && most.shared_kib <= IDLE_KIB * peers, "%s: an idle peer costs at most %d KiB",
       what, IDLE_KIB);
    return ok(heard == count && most.wrong == 0, "dat_ep_post_send: %s: each message arrives", what);
}

static void all_meet(const char *what, int count, struct part (*part)(int number, int count))
{
    int ended = 0;

    if (all_connect(what, count, part) && all_talk(what, count, part)) {
        resume_all(count);
        for (int i = 0; i < count; i++)
            ended += peer_join(&all[i], LATE_MS) == 0;
        is_int(ended, count, "dat_ia_close: %s: all end well", what);
        is_int(place_count(""), 0, "dat_ia_close: %s: nothing is left in the directory", what);
    }
    peer_end_all();
}

/* Each process connects to all processes with lower numbers. */
static struct part each_to_each(int number, int count)
{
    return (struct part){ number, number, count - 1 - number };
}

/* The last process connects to all others. */
static struct part one_to_all(int number, int count)
{
    return number == count - 1 ? (struct part){ number, number, 0 } : (struct part){ number, 0, 1 };
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "one", one_of_all }, { NULL, NULL } };
    const char *asked = getenv("DAT_TEST_PROCESSES");
    int count;
    struct rlimit files;
    char what[64];

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("other adapters have limits of their own");
    if (env_valgrind())
        skip_all("valgrind has descriptors and memory of its own");
    count = asked != NULL ? atoi(asked) : env_count(128, 64);
    must(count >= 64 && count <= MAX_PROCESSES, "DAT_TEST_PROCESSES is from 64 to %d", MAX_PROCESSES);
    must(getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
    files.rlim_cur = files.rlim_max < 4 * MAX_PROCESSES ? files.rlim_max : 4 * MAX_PROCESSES;
    must(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
    place_make();
    snprintf(what, sizeof what, "%d processes, each with each", count);
    all_meet(what, count, each_to_each);
    snprintf(what, sizeof what, "one process with %d", OTHERS);
    all_meet(what, OTHERS + 1, one_to_all);
    place_end();
    return done_testing();
}
