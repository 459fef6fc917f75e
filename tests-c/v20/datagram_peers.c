/*
 * datagram_peers.c - resources of an endpoint for unreliable datagrams: memory for each peer and for datagrams to a
 * stopped peer, and the memory and descriptors that remain after both ends have freed a peer. Also tests that living
 * endpoints have different numbers (qpn).
 */
#define _POSIX_C_SOURCE 200809L
#include "v20/datagram.h"

#include "common/usage.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SEND "dat_ib_post_send_ud"
#define FREE "dat_ib_ud_ah_free, dat_ib_ud_cm_free"

/* Maximum growth of resident memory: for each peer that was sent to, and for other reasons. */
enum { PEER_KIB = 64, BESIDE_KIB = 1024 };

/* Bytes of a datagram, and of a place in memory. */
enum { BYTES = 64, PLACE = 8192 };

static struct fx fx;
static struct region memory;

static void open_side(struct side *s)
{
    ud_open(&fx);
    region_make(&fx, &memory, 2 * PLACE, MEM_LOCAL);
    memset(memory.mem, 1, 2 * PLACE);
    ud_make(s, &fx, DAT_HANDLE_NULL, NULL);
}

/* Sends n datagrams, each after the completion of the previous one. Returns the number of successful sends. */
static int send_many(struct side *s, const struct known *to, size_t bytes, int n)
{
    int good = 0;

    for (int i = 0; i < n; i++)
        good += ud_send(s, &memory, 0, bytes, to, (DAT_UINT64)i) == DAT_SUCCESS && ud_sent(s, (DAT_UINT64)i, bytes);
    return good;
}

/* Argument of has_shrunk(): the process must use at most `most` KiB more than `before`. */
struct growth {
    struct side *s;
    long before, most;
};

static bool has_shrunk(void *arg)
{
    struct growth *g = arg;
    DAT_EVENT e;

    must(dat_evd_dequeue(g->s->recv, &e) != DAT_SUCCESS, "an event that nobody waits for");
    return resident_kib() - g->before <= g->most;
}

static void shrinks(struct side *s, long before, long most, const char *name)
{
    struct growth g = { s, before, most };

    if (env_valgrind())
        skip_named(name, "valgrind has memory of its own");
    else if (!ok(wait_until(has_shrunk, &g, SOON_MS), "%s", name))
        diag("%ld KiB more", resident_kib() - before);
}

/* ---- Many peers ---- */

static void many(void)
{
    enum { MOST = 100 };
    static struct side others[MOST];
    static struct known to[MOST];
    /* A late device (verbs/late_device.c) has memory of its own. */
    long beside = getenv("DAT_TEST_LATE") != NULL ? BESIDE_KIB : 0;
    int n = env_count(MOST, 20), good = 0;
    struct side s;
    long before;

    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    for (int i = 0; i < n; i++) {
        ud_make(&others[i], &fx, DAT_HANDLE_NULL, NULL);
        ud_meet(&s, &to[i], &others[i], NULL);
    }
    before = resident_kib();
    for (int i = 0; i < n; i++)
        good += send_many(&s, &to[i], BYTES, 1);
    is_int(good, n, SEND ": one to each of %d peers: they end", n);
    shrinks(&s, before, (long)n * PEER_KIB + beside, SEND ": one to each of many peers: at most 64 KiB for each");
    for (int i = 0; i < n; i++)
        side_free(&others[i]);
    side_free(&s);
}

/* ---- A peer that does not run ---- */

static int stopping(struct link *up)
{
    struct side s;

    open_side(&s);
    ud_connect_peer(&s, up, NULL);
    must(link_hear(up, "bye"), "the first process is gone");
    fx_close(&fx);
    return 0;
}

/* Datagrams to a stopped peer use memory until the peer receives them. */
static void waiting(void)
{
    struct peer p;
    struct side s;
    struct known to;
    size_t bytes = ud_mtu() < 4000 ? ud_mtu() : 4000;
    int n = 1500, status;
    long before;

    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    peer_start(&p, "stopping");
    ud_accept_peer(&s, &p.link, &to);
    must(kill(p.pid, SIGSTOP) == 0 && waitpid(p.pid, &status, WUNTRACED) == p.pid && WIFSTOPPED(status), "SIGSTOP");
    before = resident_kib();
    is_int(send_many(&s, &to, bytes, n), n, SEND ": the peer is stopped: %d sends end", n);
    diag("%ld KiB for a peer that is stopped", resident_kib() - before);
    must(kill(p.pid, SIGCONT) == 0, "SIGCONT");
    shrinks(&s, before, BESIDE_KIB, SEND ": the peer goes on: the memory of what waited is given back");
    link_say(&p.link, "bye");
    peer_ok(&p, SEND ": the peer goes on: it ends well");
    side_free(&s);
}

/* ---- Peers that are freed ---- */

static bool forget(struct side *s, struct known *k)
{
    return dat_ib_ud_ah_free(s->ep, &k->ah) == DAT_SUCCESS && dat_ib_ud_cm_free(s->ep, k->cm) == DAT_SUCCESS;
}

struct level {
    int descriptors;
    long resident;
};

static struct level level(void)
{
    return (struct level){ entries("/proc/self/fd"), resident_kib() };
}

/*
 * Exchanges addresses with the other process. If `first` is true, frees the peer, and then receives a datagram from it.
 * Otherwise waits until the other process has freed its peer, sends it a datagram, and frees the peer. Returns whether
 * all calls succeed.
 */
static bool round_with(struct side *s, struct link *l, bool accepts, bool first)
{
    struct known k;
    bool good;

    if (first)
        must_rc(ud_receive(s, &memory, PLACE, BYTES, 1), DAT_SUCCESS, "dat_ep_post_recv");
    if (accepts)
        ud_accept_peer(s, l, &k);
    else
        ud_connect_peer(s, l, &k);
    if (first) {
        good = forget(s, &k);
        must(link_say(l, "freed"), "the other process is gone");
        return ud_received(s, 1, BYTES) && good;
    }
    must(link_hear(l, "freed"), "the other process is gone");
    good = send_many(s, &k, BYTES, 1) == 1;
    return forget(s, &k) && good;
}

static int rounds;

/* If a reply is slow, the library opens some descriptors and keeps them. */
enum { SPARE_DESCRIPTORS = 4 };

/* Runs all rounds, in both processes. Stores the resources after four rounds in *before. */
static void free_all(struct side *s, struct link *l, bool accepts, int *good, struct level *before)
{
    for (int i = 0; i < rounds; i++) {
        if (i == 4) {
            *before = level();
            before->descriptors += SPARE_DESCRIPTORS;
        }
        *good += round_with(s, l, accepts, (i % 2 == 0) == accepts);
    }
}

static int freeing(struct link *up)
{
    struct side s;
    struct level before = { 0, 0 };
    int good = 0;

    open_side(&s);
    rounds = env_count(200, 40);
    free_all(&s, up, false, &good, &before);
    must(LINK_SEND(up, good) && link_hear(up, "bye"), "the first process is gone");
    /* Half of the time for which the first process waits for the end of this process. */
    must(wait_until(descriptors_at_most, &before.descriptors, SOON_MS / 2), "%d descriptors instead of %d",
         entries("/proc/self/fd"), before.descriptors);
    fx_close(&fx);
    return 0;
}

static void freed(void)
{
    struct peer p;
    struct side s;
    struct level before = { 0, 0 };
    int good = 0, there = 0;

    rounds = env_count(200, 40);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    peer_start(&p, "freeing");
    free_all(&s, &p.link, true, &good, &before);
    must(LINK_RECV(&p.link, there), "the other process is gone");
    is_int(good + there, 2 * rounds, FREE ": the peer has freed: it gets what is sent to it, %d times", rounds);
    ok(wait_until(descriptors_at_most, &before.descriptors, SOON_MS),
       FREE ": both ends, %d times: no descriptor stays", rounds);
    /* An emulated device frees memory late. */
    shrinks(&s, before.resident, BESIDE_KIB + (env_has_device() ? PEER_KIB / 2L : 8L) * rounds,
            FREE ": both ends, many times: no memory stays");
    ok(ud_quiet(&s), FREE ": both ends: no event");
    link_say(&p.link, "bye");
    peer_ok(&p, FREE ": both ends: the other process ends well, and has no more descriptors");
    side_free(&s);
}

/* ---- Numbers ---- */

/* Role: has an endpoint, whose number must differ from the numbers in the first process. */
static int numbered(struct link *up)
{
    struct side s;

    open_side(&s);
    ud_connect_peer(&s, up, NULL);
    must(link_hear(up, "bye"), "the first process is gone");
    fx_close(&fx);
    return 0;
}

static void numbers(void)
{
    enum { LIVING = 6, FREED = 1030 };
    struct side living[LIVING];
    struct known k[LIVING], own;
    struct peer p;
    DAT_EP_ATTR attr;
    int same = 0;

    ud_attr(&attr);
    peer_start(&p, "numbered");
    for (int i = 0; i < LIVING; i++) {
        ud_make(&living[i], &fx, DAT_HANDLE_NULL, NULL);
        if (i == 0)
            ud_accept_peer(&living[0], &p.link, &k[0]);
        else
            ud_meet(&living[0], &k[i], &living[i], i == 1 ? &own : NULL);
        /* After the second and the third endpoint, create and free a thousand others. */
        for (int j = 0; i >= 1 && i <= 2 && j < FREED; j++) {
            DAT_EP_HANDLE ep;

            must_rc(dat_ep_create(fx.ia, fx.pz, living[0].recv, living[0].req, living[0].conn, &attr, &ep), DAT_SUCCESS,
                    "dat_ep_create");
            must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
        }
    }
    for (int i = 0; i < LIVING; i++) {
        same += k[i].ah.qpn == own.ah.qpn;
        for (int j = 0; j < i; j++)
            same += k[i].ah.qpn == k[j].ah.qpn;
    }
    is_int(same, 0, "DAT_IB_ADDR_HANDLE: after %d endpoints: no qpn is that of another living endpoint", 2 * FREED);
    link_say(&p.link, "bye");
    peer_ok(&p, "DAT_IB_ADDR_HANDLE: the other process ends well");
    for (int i = 0; i < LIVING; i++)
        side_free(&living[i]);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {
        { "stopping", stopping }, { "freeing", freeing }, { "numbered", numbered }, { NULL, NULL }
    };
    struct side s;

    env_init(argc, argv, roles);
    open_side(&s);
    many();
    waiting();
    freed();
    numbers();
    side_free(&s);
    fx_close(&fx);
    return done_testing();
}
