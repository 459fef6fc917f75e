/*
 * garbage.c - a peer fills all memory that it shares with this process with garbage.
 *
 * The peer has twenty connections with this process. Traffic with a third process continues.
 */
#define _GNU_SOURCE
#include "common/bystander.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CONNECTIONS = 20, MAX_MAPPINGS = 64 };

/* Maximum time in ms of a call, and of a round of the traffic with the third process. */
#define MAX_CALL_MS 4000u

enum filling { ONES, RANDOM, OWN_THREAD_SLEEPS, OWN_THREAD_RUNS, FILLINGS };

static const char *const filling_names[FILLINGS] = {
    "ones", "random bytes", "the number of a thread that sleeps", "the number of a thread that runs"
};

struct order {
    enum filling filling;
    int connections;
};

/* ---- The hostile process ---- */

struct mapping {
    uint64_t *words;
    size_t count;
};

/* Maps shared memory again, because the library may unmap its own mapping. */
static uint64_t *map_again(unsigned long from, unsigned long to, unsigned long offset)
{
    /* An old size of 0 leaves the old mapping in place. */
    void *again = mremap((void *)from, 0, to - from, MREMAP_MAYMOVE);

    /* Valgrind refuses that. The other way needs a capability. */
    if (again == MAP_FAILED) {
        char path[80];
        int fd;

        snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", from, to);
        fd = open(path, O_RDWR);
        must(fd >= 0, "%s: %s", path, strerror(errno));
        again = mmap(NULL, to - from, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
        close(fd);
    }
    must(again != MAP_FAILED, "no second mapping: %s", strerror(errno));
    return again;
}

/* Finds all mappings that this process shares and can write. */
static int find_shared(struct mapping *found)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    struct {
        unsigned long from, to, offset;
    } known[MAX_MAPPINGS];
    char line[512], access[5];
    int i, n = 0;

    must(maps != NULL, "/proc/self/maps");
    while (n < MAX_MAPPINGS && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %4s %lx", &known[n].from, &known[n].to, access, &known[n].offset) == 4 &&
            strcmp(access, "rw-s") == 0 &&
            (strstr(line, "dat-shm-pair") != NULL || strstr(line, "dat-shm-alarm") != NULL))
            n++;
    fclose(maps);
    for (i = 0; i < n; i++) {
        found[i].words = map_again(known[i].from, known[i].to, known[i].offset);
        found[i].count = (known[i].to - known[i].from) / sizeof(uint64_t);
    }
    return n;
}

static void fill(const struct mapping *m, uint64_t (*value)(void))
{
    size_t i;

    for (i = 0; i < m->count; i++)
        __atomic_store_n(&m->words[i], value(), __ATOMIC_RELAXED);
}

static uint64_t state = 88172645463325252u;
static uint64_t thread_word;

static uint64_t all_ones(void)
{
    return ~(uint64_t)0;
}

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t the_thread(void)
{
    return thread_word;
}

static bool must_end;

static void *sleeper_or_runner(void *arg)
{
    enum filling filling = *(enum filling *)arg;

    __atomic_store_n(&thread_word, (uint64_t)1 << 32 | (uint32_t)syscall(SYS_gettid),
                     __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&must_end, __ATOMIC_SEQ_CST))
        if (filling != OWN_THREAD_RUNS)
            usleep(1000);
    return NULL;
}

static int hostile(struct link *up)
{
    static struct side sides[CONNECTIONS];
    struct mapping found[MAX_MAPPINGS];
    struct fx fx;
    struct order o;
    pthread_t thread;
    int i, n;
    uint64_t end;

    fx_open(&fx);
    must(LINK_RECV(up, o), "the other process is gone");
    for (i = 0; i < o.connections; i++) {
        side_make(&sides[i], &fx, NULL);
        side_accept_peer(&sides[i], up);
    }
    must(pthread_create(&thread, NULL, sleeper_or_runner, &o.filling) == 0, "pthread_create");
    while (__atomic_load_n(&thread_word, __ATOMIC_SEQ_CST) == 0)
        usleep(100);
    n = find_shared(found);
    must(n > 0, "no shared memory is found");
    must(link_say(up, "fills"), "the other process is gone");
    end = now_ms() + 300;
    do
        for (i = 0; i < n; i++)
            fill(&found[i], o.filling == ONES     ? all_ones
                            : o.filling == RANDOM ? any
                                                  : the_thread);
    while (now_ms() < end);
    must(link_say(up, "filled"), "the other process is gone");
    must(link_hear(up, "bye"), "the other process is gone");
    _exit(0); /* fx_close() would access the garbage */
}

/* ---- The first process ---- */

#define TIMED(ms, call)                       \
    do {                                      \
        uint64_t start_ = now_ms();           \
        call;                                 \
        (ms) = (unsigned)(now_ms() - start_); \
        if ((ms) > slowest)                   \
            slowest = (ms);                   \
    } while (0)

static void suffer(struct fx *fx, struct bystander *b, enum filling filling)
{
    static struct side sides[CONNECTIONS];
    struct peer p;
    struct order o;
    struct region r, other;
    DAT_EVENT event;
    int i, ended = 0;
    unsigned ms, slowest = 0, total = 0;
    /* The library waits longer if a running thread seems to copy. */
    unsigned bound = filling == OWN_THREAD_RUNS ? 5 * MAX_CALL_MS : MAX_CALL_MS;

    memset(&o, 0, sizeof o);
    o.filling = filling;
    o.connections = CONNECTIONS;
    bystander_forget(b);
    peer_start(&p, "hostile");
    must(LINK_SEND(&p.link, o), "the other process is gone");
    region_make(fx, &r, 65536, DAT_MEM_PRIV_ALL_FLAG);
    for (i = 0; i < CONNECTIONS; i++) {
        side_make(&sides[i], fx, NULL);
        must_rc(post_recv(&sides[i], &r, 0, 64, 4), DAT_SUCCESS, "dat_ep_post_recv");
        side_connect_peer(&sides[i], &p.link);
    }
    must(link_hear(&p.link, "fills"), "the other process is gone");
    /* Make calls while the peer fills the memory, and afterwards. */
    for (i = 0; i < 50; i++) {
        region_make(fx, &other, 4096, DAT_MEM_PRIV_ALL_FLAG);
        TIMED(ms, region_free(&other));
        total += ms;
        if (i < CONNECTIONS)
            (void)post_send(&sides[i], &r, 64, 64, 5);
    }
    must(link_hear(&p.link, "filled"), "the other process is gone");
    for (i = 0; i < CONNECTIONS / 2; i++)
        TIMED(ms, must_rc(dat_ep_free(sides[i].ep), DAT_SUCCESS, "dat_ep_free"));
    for (; i < CONNECTIONS; i++) {
        DAT_RETURN rc;

        TIMED(ms, rc = dat_ep_disconnect(sides[i].ep, DAT_CLOSE_ABRUPT_FLAG));
        must(rc == DAT_SUCCESS || DAT_GET_TYPE(rc) == DAT_INVALID_STATE, "dat_ep_disconnect");
        ended += wait_event(sides[i].conn, &event) &&
                 (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                  event.event_number == DAT_CONNECTION_EVENT_BROKEN);
        TIMED(ms, must_rc(dat_ep_free(sides[i].ep), DAT_SUCCESS, "dat_ep_free"));
    }
    TIMED(ms, region_free(&r));
    for (i = 0; i < CONNECTIONS; i++) {
        sides[i].ep = DAT_HANDLE_NULL;
        side_free(&sides[i]);
    }
    ok(ended == CONNECTIONS - CONNECTIONS / 2,
       "the peer writes %s everywhere: its connections end with an event", filling_names[filling]);
    ok(slowest < env_ms(bound) && total < env_ms(2 * bound),
       "the peer writes %s everywhere: calls that free memory and endpoints return soon "
       "(at most %u ms, 50 times dat_lmr_free %u ms)",
       filling_names[filling], slowest, total);
    ms = bystander_longest(b);
    ok(ms < env_ms(MAX_CALL_MS),
       "the peer writes %s everywhere: traffic with another process goes on (at most %u ms)",
       filling_names[filling], ms);
    link_say(&p.link, "bye");
    peer_ok(&p, "the peer writes %s everywhere: it ends", filling_names[filling]);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "hostile", hostile },
                                              { "bystander", bystander_echo },
                                              { NULL, NULL } };
    static struct bystander b;
    struct fx fx;
    int filling;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("processes share no memory");
    if (env_valgrind() && geteuid() != 0)
        skip_all("under valgrind, only root can map memory again");
    fx_open(&fx);
    bystander_start(&b, &fx);
    for (filling = 0; filling < env_count(FILLINGS, RANDOM + 1); filling++)
        suffer(&fx, &b, (enum filling)filling);
    bystander_stop(&b);
    ok(b.fine && b.rounds > 0, "traffic with another process went on (%u rounds)", b.rounds);
    bystander_end(&b);
    fx_close(&fx);
    return done_testing();
}
