/*
 * strangers.c - what anybody may say at the port of a service point, and what one may say who was accepted, past the
 * library: garbage, half of a greeting, greetings of other versions, records that break the rules, nothing at all. The
 * process that listens stays, serves honest peers meanwhile, and has no more descriptors afterwards than before.
 */
#define _DEFAULT_SOURCE
#include "common/chance.h"
#include "common/usage.h"
#include "srq/srq_common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFERS = 32, SIZE = 30000, SILENT = 2000, RANDOM = 300 };

/* Of libfabric: the header of a message, whose last eight bytes are the length of all of it. */
enum { HEAD = 16 };
/* Of a record: its header, the most bytes behind it, the kinds, the range of memory that some name. */
enum { HEADER = 24, PAYLOAD = (16 << 10) - HEADER, TARGET = 24 };
enum { MESSAGE = 1, WRITE, WRITE_PART, IMMEDIATE, INVALIDATE, READ, ATOMIC, HANDLED = 16, ANSWER, END };

/* ---- The process that listens ---- */

static struct fx fx;

struct service {
    struct srq q;
    DAT_EVD_HANDLE data, conn, requests;
    int ready;
};

static DAT_EVD_HANDLE evd_of(DAT_CNO_HANDLE cno, DAT_COUNT length, unsigned flags)
{
    DAT_EVD_HANDLE evd;

    must_rc(dat_evd_create(fx.ia, length, cno, (DAT_EVD_FLAGS)flags, &evd), DAT_SUCCESS, "dat_evd_create");
    return evd;
}

static void accept_it(struct service *v, DAT_CR_HANDLE cr)
{
    DAT_EP_ATTR attr;
    DAT_EP_HANDLE ep;

    attr_default(&attr);
    attr.max_recv_dtos = DAT_HW_DEFAULT;
    must_rc(dat_ep_create_with_srq(fx.ia, fx.pz, v->data, v->data, v->conn, v->q.handle, &attr, &ep), DAT_SUCCESS,
            "dat_ep_create_with_srq");
    if (dat_cr_accept(cr, ep, 0, NULL) != DAT_SUCCESS)
        must_rc(dat_ep_free(ep), DAT_SUCCESS, "dat_ep_free");
}

/* What has come goes back, and its buffer into the queue. The endpoint is there, since this thread alone frees it. */
static void data(struct service *v, const DAT_DTO_COMPLETION_EVENT_DATA *d)
{
    DAT_UINT64 mine = d->user_cookie.as_64;
    DAT_COUNT at = srq_buffer(&v->q, mine);
    DAT_LMR_TRIPLET t;

    if (at < 0) {
        must_rc(srq_post(&v->q, (DAT_COUNT)mine), DAT_SUCCESS, "dat_srq_post_recv");
        return;
    }
    t = segment(&v->q.mem, (size_t)at * SIZE, (size_t)d->transfered_length);
    if (d->status != DAT_DTO_SUCCESS ||
        dat_ep_post_send(d->ep_handle, 1, &t, cookie((DAT_UINT64)at), DAT_COMPLETION_DEFAULT_FLAG) != DAT_SUCCESS)
        must_rc(srq_post(&v->q, at), DAT_SUCCESS, "dat_srq_post_recv");
}

static void all_data(struct service *v)
{
    DAT_EVENT e;

    while (dat_evd_dequeue(v->data, &e) == DAT_SUCCESS)
        data(v, &e.event_data.dto_completion_event_data);
}

static void *serve(void *argument)
{
    struct service *v = argument;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE which;
    DAT_EVENT e;

    must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
    v->data = evd_of(cno, 4 * BUFFERS, DAT_EVD_DTO_FLAG);
    v->conn = evd_of(cno, 4 * SILENT, DAT_EVD_CONNECTION_FLAG);
    v->requests = evd_of(cno, 1024, DAT_EVD_CR_FLAG);
    __atomic_store_n(&v->ready, 1, __ATOMIC_RELEASE);
    do {
        while (dat_evd_dequeue(v->requests, &e) == DAT_SUCCESS)
            accept_it(v, e.event_data.cr_arrival_event_data.cr_handle);
        while (dat_evd_dequeue(v->conn, &e) == DAT_SUCCESS) {
            /* What has come from this endpoint is answered before it goes. */
            all_data(v);
            if (e.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
                must_rc(dat_ep_free(e.event_data.connect_event_data.ep_handle), DAT_SUCCESS, "dat_ep_free");
        }
        all_data(v);
    } while (dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &which) == DAT_SUCCESS);
    must(false, "dat_cno_wait");
    return NULL;
}

/* A process that sends back what comes, from whomever. Asked for it, it tells how many of its buffers are posted. */
static int echo(struct link *up)
{
    static struct service v;
    pthread_t thread;
    DAT_CONN_QUAL qual = 0;
    char word[32];

    fx_open(&fx);
    srq_open(&v.q, &fx, BUFFERS, BUFFERS, SIZE);
    srq_fill(&v.q, 0, BUFFERS);
    must(pthread_create(&thread, NULL, serve, &v) == 0, "pthread_create");
    while (!__atomic_load_n(&v.ready, __ATOMIC_ACQUIRE))
        breathe();
    fx_listen_on(&fx, v.requests, DAT_PSP_CONSUMER_FLAG, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    while (link_recv(up, word, sizeof word, 30 * SOON_MS)) {
        DAT_COUNT posted = srq_param(v.q.handle).outstanding_dto_count;

        must(LINK_SEND(up, posted), "the other process is gone");
    }
    return 1;
}

/* ---- Honest peers ---- */

static struct peer server;
static DAT_CONN_QUAL port;
static struct region memory;

/* Connects to that port, exchanges some messages and leaves; the time of all that in ms, or -1. */
static int honest_at(DAT_CONN_QUAL at, int messages)
{
    uint64_t start = now_ms();
    struct side s;
    bool good;

    side_make(&s, &fx, NULL);
    good = side_connect(&s, fx_address(&fx), at) == DAT_SUCCESS &&
           wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (int i = 0; good && i < messages; i++) {
        pattern_fill(memory.mem, SIZE, (unsigned)i);
        good = post_recv(&s, &memory, SIZE, SIZE, 1) == DAT_SUCCESS &&
               post_send(&s, &memory, 0, SIZE, 2) == DAT_SUCCESS && wait_dto(s.req, 2, DAT_DTO_SUCCESS, NULL) &&
               wait_dto(s.recv, 1, DAT_DTO_SUCCESS, NULL) && pattern_check(memory.mem + SIZE, SIZE, (unsigned)i) < 0;
    }
    if (good)
        good = dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG) == DAT_SUCCESS &&
               wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    side_free(&s);
    return good ? (int)(now_ms() - start) : -1;
}

static void honest(unsigned limit, const char *what)
{
    int took = honest_at(port, 3);

    ok(took >= 0 && took <= (int)env_ms(limit), "%s: an honest peer is served", what);
    diag("in %d ms", took);
}

/* ---- What the process holds ---- */

static int files(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/fd", (long)server.pid);
    return entries(path);
}

static bool files_at_most(void *count)
{
    return files() <= *(int *)count;
}

static bool files_at_least(void *count)
{
    return files() >= *(int *)count;
}

static bool all_posted(void *unused)
{
    DAT_COUNT posted = 0;

    (void)unused;
    must(link_say(&server.link, "count") && LINK_RECV(&server.link, posted), "the process is gone");
    return posted == BUFFERS;
}

/* It is as it was before. */
static void at_rest(int before, const char *what)
{
    long used;

    ok(wait_until(files_at_most, &before, SOON_MS), "%s, afterwards: no descriptor more than before", what);
    ok(wait_until(all_posted, NULL, SOON_MS), "%s, afterwards: every buffer is posted", what);
    used = cpu_ms(server.pid);
    poll(NULL, 0, 1000);
    used = cpu_ms(server.pid) - used;
    ok(used <= (long)env_ms(50), "%s, afterwards: the process is idle", what);
    diag("%ld ms of 1000", used);
}

/* ---- What is said past the library ---- */

static int raw(DAT_CONN_QUAL at)
{
    struct sockaddr_in to = *(struct sockaddr_in *)&fx.address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)at);
    must(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect: %s", strerror(errno));
    return fd;
}

/* Sends so much as the other side still takes. */
static void say(int fd, const void *bytes, size_t len)
{
    struct pollfd f = { fd, POLLOUT, 0 };

    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent > 0) {
            bytes = (const char *)bytes + sent;
            len -= (size_t)sent;
        } else if (errno != EAGAIN || poll(&f, 1, (int)env_ms(1000)) <= 0) {
            return;
        }
    }
}

/* Reads exactly so much, in time. */
static bool hear(int fd, void *bytes, size_t len)
{
    struct pollfd f = { fd, POLLIN, 0 };

    while (len > 0) {
        ssize_t got = poll(&f, 1, (int)env_ms(SOON_MS)) > 0 ? recv(fd, bytes, len, 0) : -1;

        if (got <= 0)
            return false;
        bytes = (char *)bytes + got;
        len -= (size_t)got;
    }
    return true;
}

/* Whether the other side ends the connection in time. */
static bool is_ended(int fd)
{
    char bytes[4096];

    while (hear(fd, bytes, 1))
        while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            ;
    return poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) > 0;
}

/* What libfabric says to connect with the bytes of a program's library, of which the first are "dat\1". */
struct greeting {
    unsigned char bytes[512];
    size_t len, hello;
};

/* Bytes of a library's own before its private data, and where it says how many these are. */
enum { HELLO = 16, PRIVATE = 8 };

static struct greeting greeting;
static unsigned char head[HEAD];

static bool read_greeting(int fd, struct greeting *g)
{
    memset(g, 0, sizeof *g);
    while (g->len < sizeof g->bytes && hear(fd, g->bytes + g->len, 1)) {
        g->len++;
        if (g->hello == 0 && g->len >= 4 && memcmp(g->bytes + g->len - 4, "dat\1", 4) == 0)
            g->hello = g->len - 4;
        if (g->hello != 0 && g->len >= g->hello + HELLO &&
            g->len == g->hello + HELLO + g->bytes[g->hello + PRIVATE])
            return true;
    }
    return false;
}

/* A socket of this process that listens, at the address of the adapter. */
static int listener(DAT_CONN_QUAL *at)
{
    struct sockaddr_in here = *(struct sockaddr_in *)&fx.address;
    socklen_t len = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    here.sin_port = 0;
    must(fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 8) == 0 &&
             getsockname(fd, (struct sockaddr *)&here, &len) == 0,
         "no socket that listens");
    *at = ntohs(here.sin_port);
    return fd;
}

/* Learns from an honest peer what it says to connect, and what goes before a record. */
static void learn(void)
{
    struct greeting answer;
    unsigned char first[HEAD + HEADER];
    uint64_t len;
    DAT_CONN_QUAL at;
    struct side s;
    int door = listener(&at), peer, there;

    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), at), DAT_SUCCESS, "dat_ep_connect");
    peer = accept(door, NULL, NULL);
    there = raw(port);
    must(read_greeting(peer, &greeting), "no greeting");
    say(there, greeting.bytes, greeting.len);
    must(read_greeting(there, &answer), "no answer to a greeting that was heard");
    say(peer, answer.bytes, answer.len);
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    must(hear(peer, first, sizeof first), "no record");
    memcpy(&len, first + 8, sizeof len);
    must(len == sizeof first && first[HEAD] == HANDLED, "libfabric puts something else before a message");
    memcpy(head, first, HEAD);
    close(there);
    close(peer);
    close(door);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "who is on the way ends a connection: DISCONNECTED");
    side_free(&s);
}

/* A message of libfabric with these bytes. */
static void message(int fd, const void *bytes, size_t len)
{
    unsigned char all[HEAD + 32768];
    uint64_t size = HEAD + len;

    memcpy(all, head, HEAD);
    memcpy(all + 8, &size, sizeof size);
    memcpy(all + HEAD, bytes, len);
    say(fd, all, HEAD + len);
}

/* A connection that is accepted, which the library did not make. */
static int stranger(void)
{
    struct greeting answer;
    int fd = raw(port);

    say(fd, greeting.bytes, greeting.len);
    must(read_greeting(fd, &answer), "a good greeting has no answer");
    return fd;
}

/* Connections that have to end, since something was said on them. */
enum { MOST_BAD = 40 };
static struct {
    int fd;
    char what[80];
} bad_ones[MOST_BAD];
static int bad_count;

static void has_to_end(int fd, const char *what)
{
    must(bad_count < MOST_BAD, "too many at a time");
    bad_ones[bad_count].fd = fd;
    snprintf(bad_ones[bad_count++].what, sizeof bad_ones[0].what, "%s", what);
}

static void all_end(void)
{
    for (int i = 0; i < bad_count; i++) {
        ok(is_ended(bad_ones[i].fd), "%s: the connection ends", bad_ones[i].what);
        close(bad_ones[i].fd);
    }
    bad_count = 0;
}

/* One record; the connection has to end, and no other. */
static void bad(const char *what, const void *record, size_t len)
{
    int fd = stranger();

    message(fd, record, len);
    has_to_end(fd, what);
}

static void bad_record(const char *what, unsigned kind, unsigned flags, uint64_t handled, uint64_t aux, const void *payload,
                       size_t len)
{
    unsigned char record[HEADER + PAYLOAD];

    memset(record, 0, sizeof record);
    record[0] = (unsigned char)kind;
    record[1] = (unsigned char)flags;
    memcpy(record + 8, &handled, 8);
    memcpy(record + 16, &aux, 8);
    if (payload != NULL)
        memcpy(record + HEADER, payload, len);
    bad(what, record, HEADER + len);
}

/* ---- The tests ---- */

/* Who never gets so far as to be a peer. */
static void at_the_door(void)
{
    static unsigned char noise[65536];
    struct greeting other = greeting;
    struct linger abrupt = { 1, 0 };
    struct chance c;
    int fds[5], before = files();

    chance_begin(&c, 7);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)draw(&c, 256);
    for (int i = 0; i < 5; i++)
        fds[i] = raw(port);
    say(fds[0], "GET / HTTP/1.1\r\nHost: somebody\r\n\r\n", 36);
    say(fds[1], noise, sizeof noise);
    memset(noise, 0, sizeof noise);
    say(fds[2], noise, sizeof noise);
    other.bytes[other.hello + 3] = 2;
    say(fds[3], other.bytes, other.len);
    memset(other.bytes, 0xff, other.hello);
    say(fds[4], other.bytes, other.len);
    has_to_end(fds[0], "a request for a page");
    has_to_end(fds[1], "random bytes");
    has_to_end(fds[2], "zeros");
    has_to_end(fds[3], "a greeting of another version of the library");
    has_to_end(fds[4], "a greeting of another version of libfabric");
    all_end();
    honest(5000, "garbage");

    for (int i = 0; i < 5; i++) {
        fds[i] = raw(port);
        say(fds[i], greeting.bytes, i == 0 ? greeting.len / 2 : greeting.hello);
    }
    for (int i = 0; i < 3; i++)
        honest(10000, "five are silent after half of a greeting");
    for (int i = 0; i < 5; i++)
        close(fds[i]);

    for (size_t len = 0; len <= greeting.len; len++) {
        int fd = raw(port);

        say(fd, greeting.bytes, len);
        if (len % 2 != 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
        close(fd);
    }
    honest(20000, "greetings of every length, and gone");
    at_rest(before, "at the door");
}

/* Who was accepted, and says what no library does. */
static void records(void)
{
    static const unsigned kinds[] = { 0, 8, 15, 19, 255 };
    static const unsigned char zeros[HEADER];
    unsigned char bytes[PAYLOAD], target[TARGET + 16], long_target[TARGET];
    uint64_t much = 1ull << 40;
    uint32_t key = 0x12345;
    char what[64];
    int before = files();

    memset(bytes, 7, sizeof bytes);
    memset(target, 0, sizeof target);
    memcpy(target + 8, &(uint64_t){ 16 }, 8);
    memcpy(target + 16, &key, 4);
    memset(long_target, 0, sizeof long_target);
    memcpy(long_target + 8, &much, 8);
    bad("a record of no byte", "", 0);
    bad("a record of too few bytes", zeros, HEADER - 1);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        snprintf(what, sizeof what, "a record of kind %u", kinds[i]);
        bad_record(what, kinds[i], 0, 0, 0, NULL, 0);
    }
    bad_record("unknown flags", MESSAGE, 2, 0, 0, NULL, 0);
    bad_record("more is handled than was sent", HANDLED, 0, 1, 0, NULL, 0);
    bad_record("all is handled that there can be", HANDLED, 0, UINT64_MAX, 0, NULL, 0);
    bad_record("a word about what is handled, with bytes", HANDLED, 0, 0, 0, bytes, 1);
    bad_record("an answer that was not asked for", ANSWER, 0, 0, 8, bytes, 8);
    bad_record("an end of an unknown kind", END, 0, 0, 77, NULL, 0);
    bad_record("a message longer than it says", MESSAGE, 0, 0, 3, bytes, 8);
    bad_record("a part of a message without bytes", MESSAGE, 0, 0, SIZE, bytes, 0);
    bad_record("a message longer than the buffer", MESSAGE, 0, 0, much, bytes, sizeof bytes);
    bad_record("a message of the greatest length", MESSAGE, 0, 0, UINT64_MAX, bytes, sizeof bytes);
    bad_record("a write without a target", WRITE, 0, 0, 16, target, TARGET - 1);
    bad_record("a write that is not allowed", WRITE, 0, 0, 16, target, sizeof target);
    bad_record("a write of another length than it says", WRITE, 0, 0, 15, target, sizeof target);
    bad_record("a write that is too long", WRITE, 0, 0, much, long_target, sizeof long_target);
    bad_record("the second part of a write", WRITE_PART, 0, 0, 16, bytes, 16);
    bad_record("a value of three bytes", IMMEDIATE, 0, 0, 16, bytes, 3);
    bad_record("a window that is not there is revoked", INVALIDATE, 0, 0, 16, &key, 4);
    bad_record("a read that is not allowed", READ, 0, 0, 16, target, TARGET);
    bad_record("a read with more than a target", READ, 0, 0, 16, target, TARGET + 1);
    bad_record("an operation that there is not", ATOMIC, 0, 0, 8, bytes, 32);
    honest(5000, "bad records");
    all_end();
    at_rest(before, "bad records");
}

/* Random bytes in the places of records, and in those of libfabric's headers. */
static void random_records(void)
{
    unsigned char bytes[2 * 16384];
    struct chance c;
    int before = files();

    chance_begin(&c, 11);
    for (int n = 0; n < env_count(RANDOM, 40); n++) {
        int fd = stranger();

        for (int k = 0; k < 4; k++) {
            size_t len = draw_size(&c, 1, k == 3 ? sizeof bytes : 200);

            for (size_t i = 0; i < len; i++)
                bytes[i] = (unsigned char)draw(&c, 256);
            if (len >= HEADER) {
                static const unsigned char kinds[] = { MESSAGE, WRITE, WRITE_PART, IMMEDIATE, INVALIDATE, READ, ATOMIC,
                                                       HANDLED, ANSWER, END };

                /* Most are of the right form, so that they get further. */
                bytes[0] = kinds[draw(&c, sizeof kinds)];
                memset(bytes + 1, 0, draw(&c, 8) == 0 ? 0 : 15);
                if (draw(&c, 2) == 0)
                    memcpy(bytes + 16, &(uint64_t){ len - HEADER }, 8);
            }
            message(fd, bytes, len);
        }
        close(fd);
    }
    honest(5000, "random records");
    for (int n = 0; n < env_count(RANDOM, 40); n++) {
        int fd = stranger();
        size_t len = HEAD + draw(&c, 64);

        memcpy(bytes, head, HEAD);
        for (size_t i = n % 2 == 0 ? 0 : draw(&c, HEAD); i < len; i++)
            bytes[i] = (unsigned char)draw(&c, 256);
        say(fd, bytes, len);
        close(fd);
    }
    honest(5000, "random headers of libfabric");
    at_rest(before, "random bytes");
}

/* Who connects and says nothing. */
static void silent(void)
{
    static int fds[SILENT];
    int before = files(), with, count = env_count(SILENT, 200);
    long used;

    for (int i = 0; i < count; i++)
        fds[i] = raw(port);
    with = before + count;
    ok(wait_until(files_at_least, &with, SOON_MS), "%d say nothing: the process has them all", count);
    honest(10000, "they say nothing");
    used = cpu_ms(server.pid);
    poll(NULL, 0, 1000);
    used = cpu_ms(server.pid) - used;
    ok(used <= (long)env_ms(50), "they say nothing: the process is idle");
    diag("%ld ms of 1000", used);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    at_rest(before, "they say nothing");
}

/* ---- Who stops reading ---- */

/* Carries the bytes between an honest peer and the process, and stops for a while. */
struct relay {
    int door;
    volatile size_t carried;
    volatile int hold;
};

static bool carry(struct relay *r, int from, int to)
{
    char bytes[8192];
    ssize_t len = recv(from, bytes, sizeof bytes, 0);

    if (len <= 0)
        return false;
    say(to, bytes, (size_t)len);
    r->carried += (size_t)len;
    return true;
}

static void *relay(void *argument)
{
    struct relay *r = argument;
    int ends[2];
    bool goes_on = true;

    ends[0] = accept(r->door, NULL, NULL);
    ends[1] = raw(port);
    while (goes_on) {
        struct pollfd f[2] = { { ends[0], POLLIN, 0 }, { ends[1], POLLIN, 0 } };

        poll(f, 2, 50);
        for (int i = 0; i < 2 && !r->hold; i++)
            goes_on = goes_on && (f[i].revents == 0 || carry(r, ends[i], ends[1 - i]));
    }
    close(ends[0]);
    close(ends[1]);
    return NULL;
}

static bool has_moved(void *argument)
{
    return ((struct relay *)argument)->carried > 0;
}

static void stops_reading(void)
{
    enum { MANY = 24 };
    struct relay r = { 0, 0, 0 };
    pthread_t thread;
    DAT_CONN_QUAL at;
    struct side s;
    int before = files();
    bool good = true;

    r.door = listener(&at);
    must(pthread_create(&thread, NULL, relay, &r) == 0, "pthread_create");
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), at), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    for (DAT_UINT64 i = 0; i < MANY; i++)
        must_rc(post_recv(&s, &memory, (2 + MANY + i) * SIZE, SIZE, i), DAT_SUCCESS, "dat_ep_post_recv");
    r.carried = 0;
    for (DAT_UINT64 i = 0; i < MANY; i++) {
        pattern_fill(memory.mem + (2 + i) * SIZE, SIZE, (unsigned)i);
        must_rc(post_send(&s, &memory, (2 + i) * SIZE, SIZE, i), DAT_SUCCESS, "dat_ep_post_send");
    }
    must(wait_until(has_moved, &r, SOON_MS), "nothing is carried");
    r.hold = 1;
    for (int i = 0; i < 3; i++)
        honest(5000, "another peer does not read");
    r.hold = 0;
    for (DAT_UINT64 i = 0; i < MANY; i++)
        good = good && wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL);
    for (DAT_UINT64 i = 0; i < MANY; i++)
        good = good && wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL) &&
               pattern_check(memory.mem + (2 + MANY + i) * SIZE, SIZE, (unsigned)i) < 0;
    ok(good, "it reads again: all arrives there and back, in order");
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    side_free(&s);
    pthread_join(thread, NULL);
    close(r.door);
    at_rest(before, "it reads again");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "echo", echo }, { NULL, NULL } };
    struct rlimit limit;

    env_init(argc, argv, roles);
    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > SILENT + 200, "a limit of %lu descriptors is too low",
         (unsigned long)limit.rlim_max);
    fx_open(&fx);
    if (fx.address.ss_family != AF_INET)
        skip_all("the sockets of this test are those of IPv4");
    region_make(&fx, &memory, 64 * SIZE, MEM_LOCAL);
    peer_start(&server, "echo");
    must(LINK_RECV(&server.link, port), "no process that listens");
    honest(5000, "nobody else");
    learn();
    at_the_door();
    records();
    random_records();
    stops_reading();
    silent();
    honest(5000, "after all of it");
    is_int(peer_join(&server, 0), -1, "the process has not ended");
    peer_kill(&server);
    fx_close(&fx);
    return done_testing();
}
