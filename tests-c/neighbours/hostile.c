/*
 * hostile.c - a process of the same user violates the protocol, while two other processes exchange messages.
 *
 * The hostile process opens an adapter to get valid shared memory, sockets and a name, and then sends its own bytes.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "common/fixture.h"
#include "common/place.h"
#include "neighbours/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Packets of the hostile process ---- */

/* Begins a packet with its kind and the connection. */
static void about(struct packet *p, int kind, int active, unsigned index, unsigned long long attempt)
{
    p->len = 0;
    put(p, (unsigned)kind, 1);
    put(p, (unsigned)active, 1);
    put(p, index, 4);
    put(p, attempt, 8);
}

static void request(struct packet *p, int active, unsigned index, unsigned long long attempt, DAT_CONN_QUAL qual)
{
    about(p, 5, active, index, attempt);
    put(p, qual, 8);
    put(p, 0, 4);
    put(p, 1, 8);
    put(p, 0, 1);
    put(p, 0, 4);
    put(p, 0, 4);
}

/* Returns whether the other end closes the socket before the deadline. Discards what it receives. */
static bool is_closed(int fd)
{
    char bytes[2048];
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (now_ms() < end) {
        struct pollfd p = { fd, POLLIN, 0 };
        ssize_t got = poll(&p, 1, 100) > 0 ? recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) : 1;

        if (got == 0 || (got < 0 && errno != EAGAIN))
            return true;
    }
    return false;
}

/* Performs the handshake with `victim`, with the name `own` of this process. Returns the socket. */
static int raw_link(const char *victim, const char *own)
{
    struct packet p;
    int files[FILES], fd = raw_connect(victim);
    char bytes[2048];
    struct pollfd poller = { fd, POLLIN, 0 };

    must(fd >= 0, "the hostile process cannot connect");
    hello_files(files);
    hello(&p, own);
    must(raw_send(fd, &p, files, FILES), "the hello");
    must(poll(&poller, 1, (int)env_ms(SOON_MS)) > 0 && recv(fd, bytes, sizeof bytes, 0) > 0, "no welcome");
    return fd;
}

/* ---- Attacks ---- */

struct order {
    pid_t victim;
    pid_t other;
    DAT_CONN_QUAL qual; /* a service point whose requests no thread accepts */
};

struct culprit {
    struct fx fx;
    struct order order;
    char victim[NAME];
    char own[NAME];
};

static void culprit_start(struct culprit *c, struct link *up)
{
    must(LINK_RECV(up, c->order), "the other process is gone");
    fx_open(&c->fx);
    must(find_name(c->order.victim, c->victim) && find_name(getpid(), c->own), "no names");
}

/* Connects correctly, then fills or blocks all eventfds and sockets that it shares with other processes. */
static int bells(struct link *up)
{
    struct fx fx;
    struct side s;
    char text[256], byte[8] = { RING };
    unsigned long long full = ~0ull - 1;
    int flags;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    side_connect_peer(&s, up);
    for (int fd = 3; fd < MAX_FILES; fd++) {
        bool event = strncmp(file_text(fd, text, sizeof text), "anon_inode:[eventfd]", 20) == 0;
        bool link = option(fd, SO_TYPE) == SOCK_SEQPACKET && option(fd, SO_ACCEPTCONN) == 0;

        if (!event && !link)
            continue;
            /* Half of the eventfds stay full, the others are read. All become blocking for their next user. */
        if (event && write(fd, &full, sizeof full) > 0 && fd % 2 == 0)
            (void)!read(fd, text, sizeof full);
        for (int rings = 0; link && rings < 100000; rings++)
            send(fd, byte, 1, MSG_DONTWAIT);
        flags = fcntl(fd, F_GETFL);
        must(fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0, "fcntl");
    }
    link_say(up, "spoilt");
    raise(SIGSTOP);
    return 0;
}

/* Sends requests that need a response, and never reads. */
static int deaf(struct link *up)
{
    struct culprit c;
    struct packet p;
    unsigned long long sent = 0;
    uint64_t end;
    bool ended = false;
    int fd;

    culprit_start(&c, up);
    fd = raw_link(c.victim, c.own);
    about(&p, 6, 1, 1, 1);
    put(&p, 0, 4);
    put(&p, 0, 8);
    put(&p, 0, 1);
    put(&p, 0, 4);
    put(&p, 0, 4);
    end = now_ms() + env_ms(2 * SOON_MS);
    while (!ended && now_ms() < end) {
        if (raw_send(fd, &p, NULL, 0))
            sent++;
        else if (errno == EAGAIN)
            poll(NULL, 0, 1);
        else
            ended = true;
    }
    link_say(up, ended ? "ended" : "goes on");
    close(fd);
    fx_close(&c.fx);
    return 0;
}

static int impostor(struct link *up)
{
    struct culprit c;
    struct packet p;
    int files[FILES];
    char other[NAME];

    culprit_start(&c, up);
    must(find_name(c.order.other, other), "no name of the other process");
    hello_files(files);
    hello(&p, other);
    for (int i = 0; i < 20; i++) {
        int fd = raw_connect(c.victim);

        /* The connection stays open. */
        must(fd >= 0 && raw_send(fd, &p, files, FILES), "the hello");
    }
    link_say(up, "done");
    link_hear(up, "bye");
    fx_close(&c.fx);
    return 0;
}

/* Connects repeatedly and sends nothing, until it has 800 connections or a connect fails. */
static int silent(struct link *up)
{
    struct culprit c;
    int count = 0;

    culprit_start(&c, up);
    while (count < 800 && raw_connect(c.victim) >= 0)
        count++;
    link_say(up, "done");
    /* Connect again after the victim has closed connections. */
    for (int i = 0; i < 2000; i++) {
        raw_connect(c.victim);
        poll(NULL, 0, 1);
    }
    link_hear(up, "bye");
    return 0;
}

/* Sends invalid packets and descriptors. The victim must close the connection of each. */
static int garbage(struct link *up)
{
    struct culprit c;
    struct packet p;
    int files[FILES], wrong[FILES], fd, kept = 0;
    FILE *file = tmpfile();

    culprit_start(&c, up);
    hello_files(files);
    /* Send packets without a hello. */
    for (int kind = 0; kind < 256; kind++) {
        if (kind == 1)
            continue;
        fd = raw_connect(c.victim);
        memset(p.bytes, kind * 37, sizeof p.bytes);
        p.bytes[0] = (unsigned char)kind;
        p.len = (size_t)kind % 60 + 1;
        raw_send(fd, &p, files, kind % (FILES + 1));
        kept += !is_closed(fd);
        close(fd);
    }
    /* Send a packet that is too long, and a packet with too many descriptors. */
    for (int i = 0; i < 2; i++) {
        int many[16];

        fd = raw_connect(c.victim);
        hello(&p, c.own);
        for (int k = 0; k < 16; k++)
            many[k] = fileno(file);
        p.len = i == 0 ? sizeof p.bytes : p.len;
        raw_send(fd, &p, many, 16);
        kept += !is_closed(fd);
        close(fd);
    }
    /* Send hellos with a wrong or missing descriptor, or with an invalid name. */
    for (int i = 0; i < FILES + 2; i++) {
        fd = raw_connect(c.victim);
        memcpy(wrong, files, sizeof wrong);
        hello(&p, i <= FILES ? c.own : "../../etc");
        if (i < FILES)
            wrong[i] = i % 2 ? fileno(file) : fd;
        raw_send(fd, &p, wrong, i == FILES ? FILES - 1 : FILES);
        kept += !is_closed(fd);
        close(fd);
    }
    /* Send invalid packets after the handshake. */
    for (int i = 0; i < 8; i++) {
        fd = raw_link(c.victim, c.own);
        switch (i) {
        case 0: hello(&p, c.own); break;
        case 1: request(&p, 0, 4096, 1, c.order.qual); break;
        case 2: request(&p, 1, 1, 1, c.order.qual); break;
        case 3: request(&p, 0, 1, ~0ull, c.order.qual); break;
        case 4: request(&p, 7, 0, 1, c.order.qual); break;
        case 5: p.len = 0; put(&p, 3, 1); break;
        case 6: p.len = 0; put(&p, 200, 1); break;
        case 7: about(&p, 9, 0, 0, 1); put(&p, 9, 1); break;
        }
        raw_send(fd, &p, files, i % 4);
        kept += !is_closed(fd);
        close(fd);
    }
    fclose(file);
    must(kept == 0, "%d connections were not ended", kept);
    link_say(up, "done");
    fx_close(&c.fx);
    return 0;
}

/* Sends requests for all connection numbers to a service point that no thread serves, several times. */
static int flood(struct link *up)
{
    struct culprit c;
    struct packet p;
    char bytes[2048];
    unsigned long long attempt = 0;

    culprit_start(&c, up);
    for (int round = 0; round < 8; round++) {
        int fd = raw_link(c.victim, c.own);

        for (unsigned index = 0; index < 4096; index += 2) {
            request(&p, 0, index, ++attempt, c.order.qual);
            while (!raw_send(fd, &p, NULL, 0) && errno == EAGAIN)
                poll(NULL, 0, 1);
            while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
                continue;
        }
        close(fd);
    }
    link_say(up, "done");
    fx_close(&c.fx);
    return 0;
}

/* ---- Correct processes ---- */

/* Sends each message back, and accepts each request. */
static int honest(struct link *up)
{
    struct fx fx;
    struct side s, more;
    struct region r;
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;

    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    side_make(&s, &fx, NULL);
    must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    must_rc(dat_cr_accept(next_request(fx.cr), s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    while (ep_state(s.ep) != DAT_EP_STATE_DISCONNECTED) {
        if (dat_evd_dequeue(fx.cr, &event) == DAT_SUCCESS) {
            side_make(&more, &fx, NULL);
            dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, more.ep, 0, NULL);
        }
        if (!wait_event_ms(s.recv, 5, &event) ||
            event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
            continue;
        must_rc(post_recv(&s, &r, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&s, &r, 0, 64, 2), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL), "no completion");
    }
    return 0;
}

/* A process with at most 64 descriptors, which accepts all requests. */
static int small(struct link *up)
{
    struct fx fx;
    struct side s;
    struct rlimit files = { 64, 64 };
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;

    must(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
    fx_open(&fx);
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    while (wait_event(fx.cr, &event)) {
        side_make(&s, &fx, NULL);
        dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, s.ep, 0, NULL);
    }
    return 0;
}

/* ---- The victim ---- */

static struct fx fx;
static struct region memory;
static struct side talker;

/* Exchanges messages with the correct process. Returns the longest round trip in ms, or -1 after an error. */
static long talk(int rounds)
{
    uint64_t longest = 0;

    for (int i = 0; i < rounds; i++) {
        uint64_t start = now_ms();

        if (post_recv(&talker, &memory, 0, 64, 1) != DAT_SUCCESS ||
            post_send(&talker, &memory, 64, 64, 2) != DAT_SUCCESS ||
            !wait_dto(talker.req, 2, DAT_DTO_SUCCESS, NULL) || !wait_dto(talker.recv, 1, DAT_DTO_SUCCESS, NULL))
            return -1;
        longest = now_ms() - start > longest ? now_ms() - start : longest;
    }
    return (long)longest;
}

static void still_talks(const char *what)
{
    long longest = talk(200);

    ok(longest >= 0 && longest < (long)env_ms(4000), "%s: the honest pair goes on, the longest round trip takes %ld ms", what,
       longest);
}

static long resident_kib(void)
{
    long pages = -1, size;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2)
        pages = -1;
    if (file != NULL)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static int files_now(void)
{
    char text[256];
    int count = 0;

    for (int fd = 0; fd < MAX_FILES; fd++)
        count += file_text(fd, text, sizeof text)[0] != '\0';
    return count;
}

static bool files_are(void *most)
{
    return files_now() <= *(int *)most;
}

static bool connects(DAT_CONN_QUAL qual, unsigned ms)
{
    struct side s;
    DAT_EVENT event;
    bool up;

    side_make(&s, &fx, NULL);
    up = side_connect(&s, fx_address(&fx), qual) == DAT_SUCCESS && wait_event_ms(s.conn, ms, &event) &&
         event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
    side_free(&s);
    return up;
}

static void order(struct peer *p, const char *role, struct order *o)
{
    peer_start(p, role);
    LINK_SEND(&p->link, *o);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {
        { "bells", bells },     { "deaf", deaf },   { "impostor", impostor }, { "silent", silent },
        { "garbage", garbage }, { "flood", flood }, { "honest", honest },     { "small", small },
        { NULL, NULL }
    };
    struct peer pal, other, target, bad;
    struct order o = { 0 };
    struct side s;
    DAT_CONN_QUAL qual = 0, other_qual = 0, small_qual = 0;
    DAT_EVENT event;
    uint64_t start;
    long before;
    int files;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("the messages are those of the adapter shm");
    if (env_valgrind())
        skip_all("valgrind has descriptors of its own");
    place_make();
    fx_open(&fx);
    region_make(&fx, &memory, 4096, MEM_LOCAL);
    fx_listen_on(&fx, fx_evd(&fx, 8192, DAT_EVD_CR_FLAG), DAT_PSP_CONSUMER_FLAG, &o.qual);
    peer_start(&pal, "honest");
    side_make(&talker, &fx, NULL);
    must(LINK_RECV(&pal.link, qual), "no honest process");
    must_rc(side_connect(&talker, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(talker.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    o.victim = getpid();
    still_talks("nobody is hostile");

    side_make(&s, &fx, NULL);
    peer_start(&bad, "bells");
    side_accept_peer(&s, &bad.link);
    must(link_hear(&bad.link, "spoilt"), "the hostile process fails");
    start = now_ms();
    alarm(env_ms(30000) / 1000); /* ends the process if a call blocks */
    for (int i = 0; i < 20; i++) {
        must_rc(post_send(&s, &memory, 0, 64, 1), DAT_SUCCESS, "dat_ep_post_send");
        dat_evd_wait(s.recv, 10000, 1, &event, &(DAT_COUNT){ 0 });
    }
    ok(now_ms() - start < env_ms(10000), "dat_evd_wait: a peer has spoilt all bells: waits end in time, %lu ms",
       (unsigned long)(now_ms() - start));
    still_talks("bells are spoilt");
    alarm(0);
    kill(bad.pid, SIGCONT);
    peer_kill(&bad);
    side_free(&s);

    before = resident_kib();
    order(&bad, "deaf", &o);
    ok(link_hear(&bad.link, "ended"), "a process that does not read its messages is left");
    ok(resident_kib() - before < 32 << 10, "its messages take %ld KiB", resident_kib() - before);
    peer_join(&bad, SOON_MS);
    still_talks("a process does not read");

    /* The impostor uses the name of a process that has a link to this process, then of a process without a link. */
    peer_start(&other, "honest");
    must(LINK_RECV(&other.link, other_qual), "no honest process");
    o.other = pal.pid;
    order(&bad, "impostor", &o);
    must(link_hear(&bad.link, "done"), "the hostile process fails");
    still_talks("a hello under the name of a process with a link");
    ok(connects(qual, SOON_MS), "a hello under the name of a process with a link: another connect arrives there");
    link_say(&bad.link, "bye");
    peer_join(&bad, SOON_MS);
    o.other = other.pid;
    order(&bad, "impostor", &o);
    must(link_hear(&bad.link, "done"), "the hostile process fails");
    ok(connects(other_qual, SOON_MS), "a hello under the name of a process without a link: a connect arrives there");
    link_say(&bad.link, "bye");
    peer_join(&bad, SOON_MS);
    peer_kill(&other);

    peer_start(&target, "small");
    must(LINK_RECV(&target.link, small_qual), "no process");
    o.victim = target.pid;
    order(&bad, "silent", &o);
    must(link_hear(&bad.link, "done"), "the hostile process fails");
    ok(connects(small_qual, SOON_MS), "a small table of descriptors, and many that say nothing: a connect arrives");
    peer_kill(&bad);
    peer_kill(&target);
    o.victim = getpid();

    files = files_now();
    order(&bad, "garbage", &o);
    ok(link_hear(&bad.link, "done"), "messages and descriptors that make no sense end their connections");
    peer_ok(&bad, "the process that sent them has seen it");
    ok(wait_until(files_are, &files, SOON_MS), "they leave no descriptor: %d, %d before", files_now(), files);
    still_talks("messages make no sense");

    order(&bad, "flood", &o);
    while (!link_hear(&bad.link, "done") && tap_failures() == 0)
        fail("the hostile process fails");
    peer_ok(&bad, "the process that sends many requests ends");
    still_talks("there are many requests");
    ok(wait_until(files_are, &files, SOON_MS), "they leave no descriptor");
    dat_ep_disconnect(talker.ep, DAT_CLOSE_ABRUPT_FLAG);
    peer_kill(&pal);
    fx_close(&fx);
    place_end();
    return done_testing();
}
