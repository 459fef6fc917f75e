/*
 * strangers.c - raw peers that violate the protocol: garbage, incomplete and wrong greetings, invalid records, silence.
 *
 * A violation ends only the connection of the raw peer. The process continues to serve conforming peers, and loses no
 * descriptor and no buffer. A second process serves conforming peers and is the target of many raw peers. This process
 * has the endpoints whose events are checked.
 */
#define _DEFAULT_SOURCE
#include "common/chance.h"
#include "common/usage.h"
#include "srq/srq_common.h"
#include "tcp/raw.h"

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

/* ---- The second process ---- */

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

/*
 * Processes a completion: sends a received message back, or posts the buffer of a sent message again. Only this
 * thread frees endpoints, so the endpoint exists.
 */
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
            /* Return the messages of this endpoint before it is freed. */
            all_data(v);
            if (e.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
                must_rc(dat_ep_free(e.event_data.connect_event_data.ep_handle), DAT_SUCCESS, "dat_ep_free");
        }
        all_data(v);
    } while (dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &which) == DAT_SUCCESS);
    must(false, "dat_cno_wait");
    return NULL;
}

/* The second process: serves connections, and reports the number of posted buffers when it receives a word. */
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
    must(LINK_SEND(up, qual), "the other process has exited");
    while (link_recv(up, word, sizeof word, 30 * SOON_MS)) {
        DAT_COUNT posted = srq_param(v.q.handle).outstanding_dto_count;

        must(LINK_SEND(up, posted), "the other process has exited");
    }
    return 1;
}

/* ---- Conforming peers ---- */

static struct peer server;
static DAT_CONN_QUAL port;
static struct region memory;

/* Connects to the second process, exchanges messages and disconnects. Returns the time in ms, or -1 after a failure. */
static int exchange(int messages)
{
    uint64_t start = now_ms();
    struct side s;
    bool good;

    side_make(&s, &fx, NULL);
    good = side_connect(&s, fx_address(&fx), port) == DAT_SUCCESS &&
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

static void conforming(unsigned limit, const char *what)
{
    int took = exchange(3);

    ok(took >= 0 && took <= (int)env_ms(limit), "%s: a conforming peer is served", what);
    diag("in %d ms", took);
}

/* ---- Resources of the second process ---- */

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
    must(link_say(&server.link, "count") && LINK_RECV(&server.link, posted), "the process has exited");
    return posted == BUFFERS;
}

static void is_idle(const char *what)
{
    long used = cpu_ms(server.pid);

    poll(NULL, 0, 1000);
    used = cpu_ms(server.pid) - used;
    ok(used <= (long)env_ms(50), "%s: the process is idle", what);
    diag("%ld ms of 1000", used);
}

static void at_rest(int before, const char *what)
{
    char after[100];

    snprintf(after, sizeof after, "%s, afterwards", what);
    ok(wait_until(files_at_most, &before, SOON_MS), "%s: no descriptor more than before", after);
    ok(wait_until(all_posted, NULL, SOON_MS), "%s: every buffer is posted", after);
    is_idle(after);
}

/* ---- Raw peers of the second process ---- */

static struct greeting greeting;

/* Connects a raw peer to the second process, which must accept it. Returns the socket. */
static int stranger(void)
{
    struct greeting reply;
    int fd = raw_connect(&fx, port);

    raw_say(fd, greeting.bytes, greeting.len);
    must(raw_hear_greeting(fd, &reply) && reply.bytes[HELLO_KIND] == greeting.bytes[HELLO_KIND],
         "a valid greeting is not accepted");
    return fd;
}

/*
 * Checks that an endpoint sends the greeting of raw.c, that the second process accepts this greeting, and that the
 * first record of an endpoint is a report.
 */
static void greetings_match(void)
{
    struct greeting theirs, reply;
    struct heard first;
    DAT_CONN_QUAL at;
    struct side s;
    int door = raw_listen(&fx, &at), peer, there;

    greeting_make(&greeting, NULL, 0);
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), at), DAT_SUCCESS, "dat_ep_connect");
    peer = accept(door, NULL, NULL);
    must(raw_hear_greeting(peer, &theirs), "no greeting");
    theirs.bytes[HELLO_FLAGS] &= (unsigned char)~HELLO_EXTENDED;
    ok(theirs.len == greeting.len && memcmp(theirs.bytes, greeting.bytes, greeting.len) == 0,
       "an endpoint sends the greeting that this test sends");
    there = stranger();
    greeting_make(&reply, "welcome", 7);
    raw_say(peer, reply.bytes, reply.len);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "a raw peer accepts: ESTABLISHED");
    ok(raw_hear_record(peer, &first, NULL, 0) && first.kind == KIND_HANDLED && first.window == RECORD_MIN_WINDOW,
       "the first record of an endpoint only reports what was handled");
    close(there);
    close(peer);
    close(door);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "a raw peer closes its socket: DISCONNECTED");
    side_free(&s);
}

enum { MAX_BAD = 64 };
static struct {
    int fd;
    char what[80];
} bad_ones[MAX_BAD];
static int bad_count;

static void must_end(int fd, const char *what)
{
    must(bad_count < MAX_BAD, "too many connections");
    bad_ones[bad_count].fd = fd;
    snprintf(bad_ones[bad_count++].what, sizeof bad_ones[0].what, "%s", what);
}

static void all_end(void)
{
    for (int i = 0; i < bad_count; i++) {
        ok(raw_is_ended(bad_ones[i].fd), "%s: the connection ends", bad_ones[i].what);
        close(bad_ones[i].fd);
    }
    bad_count = 0;
}

/* Sends a greeting with one wrong byte. */
static void bad_greeting(const char *what, size_t at, unsigned byte)
{
    struct greeting other = greeting;
    int fd = raw_connect(&fx, port);

    other.bytes[at] = (unsigned char)byte;
    /* Sends 256 bytes of private data, enough for each length that the greeting can contain. */
    raw_say(fd, other.bytes, sizeof other.bytes);
    must_end(fd, what);
}

/* ---- Before the greeting ---- */

static void at_the_door(void)
{
    static unsigned char noise[65536];
    struct chance c;
    int fds[5], before = files();

    chance_begin(&c, 7);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)draw(&c, 256);
    for (int i = 0; i < 3; i++)
        fds[i] = raw_connect(&fx, port);
    raw_say(fds[0], "GET / HTTP/1.1\r\nHost: example\r\n\r\n", 33);
    raw_say(fds[1], noise, sizeof noise);
    memset(noise, 0, sizeof noise);
    raw_say(fds[2], noise, sizeof noise);
    must_end(fds[0], "a request for a page");
    must_end(fds[1], "random bytes");
    must_end(fds[2], "zeros");
    bad_greeting("a greeting of an older version", sizeof HELLO_MAGIC - 2, HELLO_MAGIC[sizeof HELLO_MAGIC - 2] - 1u);
    bad_greeting("a greeting of a newer version", sizeof HELLO_MAGIC - 2, HELLO_MAGIC[sizeof HELLO_MAGIC - 2] + 1u);
    bad_greeting("a greeting of another protocol", 0, 'x');
    bad_greeting("a rejection instead of a request", HELLO_KIND, HELLO_REJECTED);
    bad_greeting("a refusal instead of a request", HELLO_KIND, HELLO_REFUSED);
    bad_greeting("a request to connect again instead of a request", HELLO_KIND, HELLO_AGAIN);
    bad_greeting("a greeting of an unknown kind", HELLO_KIND, HELLO_AGAIN + 1);
    bad_greeting("a greeting with unknown flags", HELLO_FLAGS, HELLO_EXTENDED << 1);
    bad_greeting("private data of one byte too many", HELLO_LENGTH, HELLO_MAX_PRIVATE_DATA + 1);
    bad_greeting("private data of 255 bytes", HELLO_LENGTH, 255);
    for (size_t at = HELLO_RESERVED; at < HELLO_SIZE - sizeof(uint32_t); at++)
        bad_greeting("a greeting with a reserved byte", at, 1);
    all_end();
    conforming(5000, "garbage");

    for (int i = 0; i < 5; i++) {
        fds[i] = raw_connect(&fx, port);
        raw_say(fds[i], greeting.bytes, i == 0 ? greeting.len / 2 : greeting.len - 1);
    }
    for (int i = 0; i < 3; i++)
        conforming(10000, "five are silent after half a greeting");
    for (int i = 0; i < 5; i++)
        close(fds[i]);

    for (size_t len = 0; len <= greeting.len; len++) {
        int fd = raw_connect(&fx, port);

        raw_say(fd, greeting.bytes, len);
        if (len % 2 != 0)
            raw_reset(fd);
        else
            close(fd);
    }
    conforming(20000, "greetings of every length, and then the end of the stream");
    at_rest(before, "at the door");
}

/* ---- Endpoints of this process ---- */

static DAT_EVD_HANDLE requests;
static DAT_CONN_QUAL mine;
/* Memory with all remote rights, with only remote read, and without remote rights. */
static struct region granted, readable, closed;

enum { RECEIVES = 2, RECEIVE = 100, AT = 4 * SIZE };

/* An endpoint of this process and its raw peer. */
struct victim {
    struct side s;
    int fd, receives;
};

/* Connects a raw peer, which sends `first` before the endpoint accepts, or a report afterwards if `len` is 0. */
static void victim_begin_with(struct victim *v, int receives, const void *first, size_t len)
{
    struct greeting reply;
    unsigned char bytes[HELLO_SIZE + 256];

    must(greeting.len + len <= sizeof bytes, "too many bytes");
    memcpy(bytes, greeting.bytes, greeting.len);
    if (len > 0)
        memcpy(bytes + greeting.len, first, len);
    side_make(&v->s, &fx, NULL);
    v->receives = receives;
    for (int i = 0; i < receives; i++)
        must_rc(post_recv(&v->s, &memory, AT + (size_t)i * SIZE, SIZE, (DAT_UINT64)(RECEIVE + i)), DAT_SUCCESS,
                "dat_ep_post_recv");
    v->fd = raw_connect(&fx, mine);
    raw_say(v->fd, bytes, greeting.len + len);
    must_rc(dat_cr_accept(next_request(requests), v->s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    must(raw_hear_greeting(v->fd, &reply), "no reply to a valid greeting");
    if (len == 0)
        RAW_RECORD(v->fd, .kind = KIND_HANDLED);
    must(wait_connection(v->s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
}

static void victim_begin(struct victim *v)
{
    victim_begin_with(v, RECEIVES, NULL, 0);
}

/* Returns whether all receives from number `from` on complete exactly once, without success. */
static bool is_flushed(struct victim *v, int from)
{
    unsigned seen = 0;
    DAT_EVENT e;

    for (int i = from; i < v->receives; i++) {
        const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

        if (!wait_number(v->s.recv, DAT_DTO_COMPLETION_EVENT, &e) || d->status == DAT_DTO_SUCCESS ||
            d->user_cookie.as_64 < (DAT_UINT64)(RECEIVE + from) ||
            d->user_cookie.as_64 >= (DAT_UINT64)(RECEIVE + v->receives))
            return false;
        seen |= 1u << (d->user_cookie.as_64 - RECEIVE);
    }
    return seen == (1u << v->receives) - (1u << from) && dat_evd_dequeue(v->s.recv, &e) != DAT_SUCCESS;
}

/* Checks that the connection ends with `event`. The first `taken` receives have completed before. */
static void victim_ends_after(struct victim *v, int taken, DAT_EVENT_NUMBER event, const char *what)
{
    int took;

    /* Without the event, the next checks would wait for their deadlines. */
    if (ok(wait_connection(v->s.conn, event), "%s: %s", what, event_text(event))) {
        ok(is_flushed(v, taken), "%s: each posted buffer is returned once", what);
        ok(v->fd < 0 || raw_is_ended(v->fd), "%s: the peer receives the end of the stream", what);
    }
    if (v->fd >= 0)
        close(v->fd);
    side_free(&v->s);
    took = exchange(1);
    ok(took >= 0 && took < (int)env_ms(5000), "%s: a conforming peer is served afterwards", what);
}

static void victim_ends(struct victim *v, DAT_EVENT_NUMBER event, const char *what)
{
    victim_ends_after(v, 0, event, what);
}

/* ---- Records that violate the protocol ---- */

/* A record that ends a new connection, or two records if the kind of `then` is not 0. */
struct bad {
    const char *what;
    struct record r, then;
};

static void bad_all(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct victim v;

        victim_begin(&v);
        raw_record(v.fd, &cases[i].r);
        if (cases[i].then.kind != 0)
            raw_record(v.fd, &cases[i].then);
        victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, cases[i].what);
    }
}

#define BAD(cases) bad_all((cases), sizeof(cases) / sizeof((cases)[0]))
#define HEAD(h, size) .head = (h).bytes, .head_len = (size)

static uint64_t address_of(const struct region *r)
{
    return (uint64_t)(uintptr_t)r->mem;
}

static void forged_lengths(void)
{
    struct head to = head_target(address_of(&granted), 16, granted.rmr_context);
    struct head op = head_atomic(address_of(&granted), granted.rmr_context, RECORD_ADD, 1, 0);
    const struct bad cases[] = {
        { "a write shorter than its head", { .kind = KIND_WRITE, .aux = 16, HEAD(to, RECORD_TARGET - 1) }, { 0 } },
        { "a read shorter than its head", { .kind = KIND_READ, HEAD(to, RECORD_TARGET - 1) }, { 0 } },
        { "an atomic operation shorter than its head", { .kind = KIND_ATOMIC, HEAD(op, RECORD_ATOMIC - 1) }, { 0 } },
        { "an immediate value of three bytes", { .kind = KIND_IMMEDIATE, HEAD(to, 3) }, { 0 } },
        { "a key of three bytes", { .kind = KIND_INVALIDATE, HEAD(to, 3) }, { 0 } },
        { "a read with a payload", { .kind = KIND_READ, HEAD(to, RECORD_TARGET), .payload_len = 1 }, { 0 } },
        { "an atomic operation with a payload", { .kind = KIND_ATOMIC, HEAD(op, RECORD_ATOMIC), .payload_len = 1 }, { 0 } },
        { "an immediate value with a payload", { .kind = KIND_IMMEDIATE, HEAD(to, 4), .payload_len = 1 }, { 0 } },
        { "a key with a payload", { .kind = KIND_INVALIDATE, HEAD(to, 4), .payload_len = 1 }, { 0 } },
        { "a report with a payload", { .kind = KIND_HANDLED, .payload_len = 1 }, { 0 } },
        { "an end with a payload", { .kind = KIND_END, .payload_len = 1 }, { 0 } },
        { "a payload above the maximum", { .kind = KIND_MESSAGE, .aux = RECORD_MAX_PAYLOAD + 1,
                                           .len_error = RECORD_MAX_PAYLOAD + 1 }, { 0 } },
        { "a write payload above the maximum", { .kind = KIND_WRITE, .aux = RECORD_MAX_PAYLOAD + 1,
                                                 HEAD(to, RECORD_TARGET), .len_error = RECORD_MAX_PAYLOAD + 1 }, { 0 } },
        { "the largest length", { .kind = KIND_MESSAGE, .aux = UINT32_MAX, .len_error = UINT32_MAX }, { 0 } },
        { "a message longer than announced", { .kind = KIND_MESSAGE, .aux = 3, .payload_len = 8 }, { 0 } },
        { "an empty part of a message", { .kind = KIND_MESSAGE, .aux = 8 }, { 0 } },
        { "two parts that exceed the message", { .kind = KIND_MESSAGE, .aux = 8, .payload_len = 5 },
          { .kind = KIND_MESSAGE, .aux = 8, .payload_len = 5 } },
        { "two parts that announce different lengths", { .kind = KIND_MESSAGE, .aux = 8, .payload_len = 4 },
          { .kind = KIND_MESSAGE, .aux = 9, .payload_len = 5 } },
        { "a message longer than its buffer", { .kind = KIND_MESSAGE, .aux = SIZE + 1, .payload_len = SIZE + 1 }, { 0 } },
        { "a message above the largest transfer", { .kind = KIND_MESSAGE, .aux = RECORD_LARGEST + 1, .payload_len = 8 },
          { 0 } },
        { "a message of 2^64 - 1 bytes", { .kind = KIND_MESSAGE, .aux = UINT64_MAX, .payload_len = 8 }, { 0 } },
    };

    BAD(cases);
}

static void wrong_order(void)
{
    struct head to = head_target(address_of(&granted), 16, granted.rmr_context);
    struct head op = head_atomic(address_of(&granted), granted.rmr_context, RECORD_ADD, 1, 0);
    struct head wide = head_target(address_of(&granted), RECORD_LARGEST + 1, granted.rmr_context);
    struct head unknown = head_atomic(address_of(&granted), granted.rmr_context, RECORD_SWAP + 1, 1, 0);
    struct head second = head_atomic(address_of(&granted), granted.rmr_context, RECORD_ADD, 1, 1);
    const struct record half_write = { .kind = KIND_WRITE, .aux = 16, HEAD(to, RECORD_TARGET), .payload_len = 8 };
    const struct record half_message = { .kind = KIND_MESSAGE, .aux = 8, .payload_len = 4 };
    const struct bad cases[] = {
        { "a part of a write without a write", { .kind = KIND_WRITE_PART, .aux = 16, .payload_len = 8 }, { 0 } },
        { "an empty part of a write", half_write, { .kind = KIND_WRITE_PART, .aux = 16 } },
        { "a part that exceeds the write", half_write, { .kind = KIND_WRITE_PART, .aux = 16, .payload_len = 9 } },
        { "a part of a complete write", { .kind = KIND_WRITE, .aux = 16, HEAD(to, RECORD_TARGET), .payload_len = 16 },
          { .kind = KIND_WRITE_PART, .aux = 16, .payload_len = 1 } },
        { "a write of another length than its target", { .kind = KIND_WRITE, .aux = 15, HEAD(to, RECORD_TARGET),
                                                         .payload_len = 15 }, { 0 } },
        { "a write longer than its target", { .kind = KIND_WRITE, .aux = 16, HEAD(to, RECORD_TARGET), .payload_len = 17 },
          { 0 } },
        { "a write above the largest transfer", { .kind = KIND_WRITE, .aux = RECORD_LARGEST + 1, HEAD(wide, RECORD_TARGET),
                                                  .payload_len = 16 }, { 0 } },
        { "a read above the largest transfer", { .kind = KIND_READ, .aux = 16, HEAD(wide, RECORD_TARGET) }, { 0 } },
        { "a message inside a write", half_write, { .kind = KIND_MESSAGE, .aux = 4, .payload_len = 4 } },
        { "a write inside a write", half_write, half_write },
        { "an immediate value longer than its write", { .kind = KIND_IMMEDIATE, .aux = 16, HEAD(to, 4) }, { 0 } },
        { "an immediate value inside a write", half_write, { .kind = KIND_IMMEDIATE, .aux = 16, HEAD(to, 4) } },
        { "a read inside a write", half_write, { .kind = KIND_READ, HEAD(to, RECORD_TARGET) } },
        { "a read inside a message", half_message, { .kind = KIND_READ, HEAD(to, RECORD_TARGET) } },
        { "a write inside a message", half_message, half_write },
        { "a part of a write inside a message", half_message, { .kind = KIND_WRITE_PART, .aux = 8, .payload_len = 4 } },
        { "an atomic operation inside a message", half_message, { .kind = KIND_ATOMIC, HEAD(op, RECORD_ATOMIC) } },
        { "a key inside a message", half_message, { .kind = KIND_INVALIDATE, HEAD(to, 4) } },
        { "an unknown atomic operation", { .kind = KIND_ATOMIC, HEAD(unknown, RECORD_ATOMIC) }, { 0 } },
        { "an addition with two operands", { .kind = KIND_ATOMIC, HEAD(second, RECORD_ATOMIC) }, { 0 } },
    };

    BAD(cases);
}

static void bad_headers(void)
{
    static const unsigned reserved[] = { RESERVED_LOW, RESERVED_LOW + 1, RESERVED_HIGH, RESERVED_HIGH + 1,
                                         RESERVED_HIGH + 2, RESERVED_HIGH + 3 };
    const struct bad cases[] = {
        { "the kind 0", { .kind = 0 }, { 0 } },
        { "a kind after the last request", { .kind = KIND_LAST_REQUEST + 1 }, { 0 } },
        { "a kind before the first report", { .kind = KIND_HANDLED - 1 }, { 0 } },
        { "a kind after the last one", { .kind = KIND_END + 1 }, { 0 } },
        { "the kind 255", { .kind = 255 }, { 0 } },
        { "an unknown flag", { .kind = KIND_HANDLED, .flags = RECORD_WAITED << 1 }, { 0 } },
        { "all flags", { .kind = KIND_MESSAGE, .flags = 255 }, { 0 } },
        { "a window of 0", { .kind = KIND_HANDLED, .no_window = true }, { 0 } },
        { "a window below the minimum", { .kind = KIND_HANDLED, .window = RECORD_MIN_WINDOW - 1 }, { 0 } },
        { "a window above the maximum", { .kind = KIND_HANDLED, .window = RECORD_MAX_WINDOW + 1 }, { 0 } },
        { "a window of 2^32 - 1 bytes", { .kind = KIND_HANDLED, .window = UINT32_MAX }, { 0 } },
        { "a window that shrinks", { .kind = KIND_HANDLED, .window = RECORD_MAX_WINDOW },
          { .kind = KIND_HANDLED, .window = RECORD_MAX_WINDOW - 1 } },
        { "more is handled than was sent", { .kind = KIND_HANDLED, .handled = 1 }, { 0 } },
        { "2^64 - 1 bytes are handled", { .kind = KIND_HANDLED, .handled = UINT64_MAX }, { 0 } },
        { "a message reports more than was sent", { .kind = KIND_MESSAGE, .handled = 32, .aux = 4, .payload_len = 4 },
          { 0 } },
        { "an empty response without a request", { .kind = KIND_RESPONSE }, { 0 } },
        { "a response without a request", { .kind = KIND_RESPONSE, .aux = 8, .payload_len = 8 }, { 0 } },
        { "an end with an unknown reason", { .kind = KIND_END, .aux = RECORD_ENDS }, { 0 } },
        { "an end with the largest reason", { .kind = KIND_END, .aux = UINT64_MAX }, { 0 } },
    };

    BAD(cases);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        struct bad one = { "a reserved byte of a header", { .kind = KIND_HANDLED, .reserved = reserved[i] }, { 0 } };

        bad_all(&one, 1);
    }
}

/* ---- Rights ---- */

static void without_rights(void)
{
    struct head none = head_target(address_of(&granted), 16, 0x12345);
    struct head zero = head_target(address_of(&granted), 16, 0);
    struct head theirs = head_target(address_of(&closed), 16, closed.lmr_context);
    struct head read_only = head_target(address_of(&readable), 16, readable.rmr_context);
    struct head after = head_target(address_of(&granted) + granted.size - 15, 16, granted.rmr_context);
    struct head before = head_target(address_of(&granted) - 1, 16, granted.rmr_context);
    struct head around = head_target(UINT64_MAX - 7, 16, granted.rmr_context);
    struct head swap = head_atomic(address_of(&readable), readable.rmr_context, RECORD_SWAP, 0, 1);
    struct head end = head_atomic(address_of(&granted) + granted.size - 4, granted.rmr_context, RECORD_ADD, 1, 0);
    const struct bad cases[] = {
        { "a write with an unknown key", { .kind = KIND_WRITE, .aux = 16, HEAD(none, RECORD_TARGET), .payload_len = 16 }, { 0 } },
        { "a write with the key 0", { .kind = KIND_WRITE, .aux = 16, HEAD(zero, RECORD_TARGET), .payload_len = 16 }, { 0 } },
        { "a write to local memory", { .kind = KIND_WRITE, .aux = 16, HEAD(theirs, RECORD_TARGET), .payload_len = 16 }, { 0 } },
        { "a write to memory for reads", { .kind = KIND_WRITE, .aux = 16, HEAD(read_only, RECORD_TARGET),
                                           .payload_len = 16 }, { 0 } },
        { "a write past the end of a region", { .kind = KIND_WRITE, .aux = 16, HEAD(after, RECORD_TARGET),
                                                .payload_len = 16 }, { 0 } },
        { "a write before a region", { .kind = KIND_WRITE, .aux = 16, HEAD(before, RECORD_TARGET), .payload_len = 16 }, { 0 } },
        { "a write around the end of all addresses", { .kind = KIND_WRITE, .aux = 16, HEAD(around, RECORD_TARGET),
                                                       .payload_len = 16 }, { 0 } },
        { "a read with an unknown key", { .kind = KIND_READ, .aux = 16, HEAD(none, RECORD_TARGET) }, { 0 } },
        { "a read of local memory", { .kind = KIND_READ, .aux = 16, HEAD(theirs, RECORD_TARGET) }, { 0 } },
        { "a read past the end of a region", { .kind = KIND_READ, .aux = 16, HEAD(after, RECORD_TARGET) }, { 0 } },
        { "an atomic operation on memory for reads", { .kind = KIND_ATOMIC, .aux = 8, HEAD(swap, RECORD_ATOMIC) }, { 0 } },
        { "an atomic operation past the end of a region", { .kind = KIND_ATOMIC, .aux = 8, HEAD(end, RECORD_ATOMIC) }, { 0 } },
        { "an unknown window is invalidated", { .kind = KIND_INVALIDATE, .aux = 16, HEAD(none, 4) }, { 0 } },
        { "a region is invalidated", { .kind = KIND_INVALIDATE, .aux = 16, .head = &granted.rmr_context, .head_len = 4 },
          { 0 } },
    };
    struct victim v;
    struct heard h;
    unsigned char got[16];

    BAD(cases);
    ok(all_bytes(closed.mem, closed.size, 0x5a) && all_bytes(readable.mem, readable.size, 0x5b) &&
           all_bytes(granted.mem, granted.size, 0),
       "requests without rights: no memory has changed");

    /* The record that ends the connection contains the reason. With the right, a read returns the bytes. */
    victim_begin(&v);
    RAW_RECORD(v.fd, .kind = KIND_READ, .aux = 16, HEAD(theirs, RECORD_TARGET));
    ok(raw_hear_kind(v.fd, KIND_END, &h, NULL, 0) && h.aux >= 2 && h.aux < RECORD_ENDS,
       "a read of local memory: the end contains a status");
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "a read of local memory, once more");
    victim_begin(&v);
    RAW_RECORD(v.fd, .kind = KIND_READ, .aux = 16, HEAD(read_only, RECORD_TARGET));
    ok(raw_hear_kind(v.fd, KIND_RESPONSE, &h, got, sizeof got) && h.len == 16 && all_bytes(got, 16, 0x5b),
       "a read with the right: the response contains the bytes");
    shutdown(v.fd, SHUT_WR);
    victim_ends(&v, DAT_CONNECTION_EVENT_DISCONNECTED, "a read with the right, then the end of the stream");
}

/* ---- Regions that are freed while they are used ---- */

static volatile unsigned char *watched;

static bool has_changed(void *unused)
{
    DAT_EVENT e;

    (void)unused;
    /* Polls, so that the library processes received bytes. */
    (void)dat_evd_dequeue(requests, &e);
    return *watched != 0;
}

/* Frees the target of a write, or the buffer of a message, of which `late` bytes are missing. */
static void freed_target(bool message, size_t late)
{
    enum { LEN = 200000 };
    static unsigned char bytes[LEN];
    const char *what = message ? "the buffer of a message is freed" : "the target of a write is freed";
    struct region r;
    struct victim v;
    struct head to;

    memset(bytes, 7, sizeof bytes);
    region_make(&fx, &r, LEN, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    to = head_target(address_of(&r), LEN, r.rmr_context);
    victim_begin_with(&v, message ? 0 : RECEIVES, NULL, 0);
    if (message) {
        must_rc(post_recv(&v.s, &r, 0, LEN, RECEIVE), DAT_SUCCESS, "dat_ep_post_recv");
        v.receives = 1;
        RAW_RECORD(v.fd, .kind = KIND_MESSAGE, .aux = LEN, .payload = bytes, .payload_len = LEN - late,
                   .len_error = (int64_t)late);
    } else {
        RAW_RECORD(v.fd, .kind = KIND_WRITE, .aux = LEN, HEAD(to, RECORD_TARGET), .payload = bytes,
                   .payload_len = LEN - late, .len_error = (int64_t)late);
    }
    watched = r.mem + LEN - late - 1;
    ok(wait_until(has_changed, NULL, SOON_MS), "%s: all but %zu bytes of the payload have arrived", what, late);
    must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
    r.lmr = DAT_HANDLE_NULL;
    memset(r.mem, 0xee, LEN);
    raw_say(v.fd, bytes, late);
    if (message)
        ok(wait_dto(v.s.recv, RECEIVE, DAT_DTO_ERR_LOCAL_PROTECTION, NULL), "%s: the receive fails", what);
    victim_ends_after(&v, message ? 1 : 0, DAT_CONNECTION_EVENT_BROKEN, what);
    ok(all_bytes(r.mem, LEN, 0xee), "%s: no byte is written afterwards", what);
    region_free(&r);
}

enum { READ_COOKIE = 40 };

/* Posts a read of len bytes, and waits until the raw peer has received the request. */
static void victim_reads(struct victim *v, size_t len)
{
    DAT_RMR_TRIPLET from;
    struct heard h;

    memset(&from, 0, sizeof from);
    from.rmr_context = 1;
    from.segment_length = len;
    memset(memory.mem + AT + RECEIVES * SIZE, 0, len + 64);
    must_rc(post_read(&v->s, &memory, AT + RECEIVES * SIZE, len, from, READ_COOKIE), DAT_SUCCESS, "dat_ep_post_rdma_read");
    must(raw_hear_kind(v->fd, KIND_READ, &h, NULL, 0), "no request of a read");
}

/* Frees the source of responses while their bytes wait for the socket. */
static void freed_response_source(void)
{
    enum { LEN = 32 << 20, PART = 16 };
    const char *what = "the source of a response is freed";
    struct region r;
    struct victim v;
    struct head from;

    region_make(&fx, &r, LEN, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    from = head_target(address_of(&r), LEN, r.rmr_context);
    victim_begin(&v);
    for (int i = 0; i < PART; i++)
        RAW_RECORD(v.fd, .kind = KIND_READ, .aux = LEN, HEAD(from, RECORD_TARGET));
    /* Wait until the socket is full. */
    must(quiet(requests), "an unexpected request");
    must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
    r.lmr = DAT_HANDLE_NULL;
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, what);
    region_free(&r);
}

/*
 * Frees the source of `sends` messages of `len` bytes while a part of one waits for the socket. Only the oldest request
 * can fail: the peer has handled no request, so none succeeds. With `read`, a read without a response is the oldest.
 */
static void freed_message_source(bool read, int sends, size_t len)
{
    const char *what = read        ? "the source of a message after a read is freed"
                       : sends > 1 ? "the source of messages is freed"
                                   : "the source of the oldest message is freed";
    DAT_DTO_COMPLETION_STATUS status = read || sends > 1 ? DAT_DTO_ERR_FLUSHED : DAT_DTO_ERR_LOCAL_PROTECTION;
    struct region r;
    struct victim v;
    DAT_LMR_TRIPLET t;
    bool good;

    region_make(&fx, &r, len, MEM_LOCAL);
    victim_begin(&v);
    if (read)
        victim_reads(&v, 16);
    /* The largest window permits complete messages. */
    RAW_RECORD(v.fd, .kind = KIND_HANDLED, .window = RECORD_MAX_WINDOW);
    for (int i = 0; i < sends; i++) {
        /* The socket has room for the first of several messages. */
        t = segment(&r, 0, sends > 1 && i == 0 ? 4096 : len);
        must_rc(dat_ep_post_send(v.s.ep, 1, &t, cookie((DAT_UINT64)i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                "dat_ep_post_send");
    }
    /* Wait until the socket is full. */
    must(quiet(requests), "an unexpected request");
    must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
    r.lmr = DAT_HANDLE_NULL;
    good = !read || wait_dto(v.s.req, READ_COOKIE, status, NULL);
    for (int i = 0; good && i < sends; i++)
        good = wait_dto(v.s.req, (DAT_UINT64)i, status, NULL);
    ok(good, "%s: no request succeeds, and only the oldest one can fail", what);
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, what);
    region_free(&r);
}

/* ---- Windows ---- */

/*
 * Sends messages to an endpoint without receives until the connection ends. If `wide`, first makes the endpoint
 * enlarge the window to its maximum.
 */
static void ignores_window(bool wide)
{
    enum { PAYLOAD = 16384 };
    const char *what = wide ? "a peer ignores the largest window" : "a peer ignores its window";
    unsigned char *messages = calloc(1, RECORD_HEADER + PAYLOAD);
    long used = resident_kib();
    size_t total = 0, sent;
    struct victim v;

    must(messages != NULL, "out of memory");
    victim_begin_with(&v, 0, NULL, 0);
    if (wide)
        for (uint64_t window = RECORD_MIN_WINDOW; window < RECORD_MAX_WINDOW; window *= 2)
            RAW_RECORD(v.fd, .kind = KIND_HANDLED, .flags = RECORD_WAITED);
    messages[0] = KIND_MESSAGE;
    messages[4] = PAYLOAD & 255;
    messages[5] = PAYLOAD >> 8;
    messages[16 + 2] = RECORD_MIN_WINDOW >> 16;
    messages[24] = PAYLOAD & 255;
    messages[25] = PAYLOAD >> 8;
    do {
        DAT_EVENT e;

        sent = raw_say(v.fd, messages, RECORD_HEADER + PAYLOAD);
        total += sent;
        (void)dat_evd_dequeue(requests, &e);
    } while (sent == RECORD_HEADER + PAYLOAD && total < 16 * RECORD_MAX_WINDOW &&
             ep_state(v.s.ep) == DAT_EP_STATE_CONNECTED);
    used = resident_kib() - used;
    /* The sent bytes exceed the window by the sizes of the socket buffers, some megabytes. */
    ok(total < 8 * RECORD_MAX_WINDOW, "%s: the connection ends", what);
    ok(used <= (long)((wide ? 4 * RECORD_MAX_WINDOW : 64 * RECORD_MIN_WINDOW) >> 10), "%s: memory is bounded", what);
    diag("%zu KiB sent, %ld KiB resident", total >> 10, used);
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, what);
    free(messages);
}

/* Sends messages that fit into the window, before receives are posted. */
static void uses_window(void)
{
    enum { COUNT = 24, PAYLOAD = 4000 };
    struct victim v;
    bool good = true;

    victim_begin_with(&v, 0, NULL, 0);
    for (int i = 0; i < COUNT; i++)
        RAW_RECORD(v.fd, .kind = KIND_MESSAGE, .aux = PAYLOAD, .payload_len = PAYLOAD);
    must(quiet(v.s.recv), "a receive completes that was not posted");
    for (int i = 0; i < COUNT; i++)
        must_rc(post_recv(&v.s, &memory, AT + (size_t)i * PAYLOAD, PAYLOAD, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    for (int i = 0; good && i < COUNT; i++)
        good = wait_dto(v.s.recv, (DAT_UINT64)i, DAT_DTO_SUCCESS, NULL);
    ok(good, "messages within the window wait for receives, and arrive in order");
    shutdown(v.fd, SHUT_WR);
    victim_ends(&v, DAT_CONNECTION_EVENT_DISCONNECTED, "a peer uses its window");
}

static volatile int sender_stops;

/* Posts sends until sender_stops. */
static void *sender(void *argument)
{
    struct victim *v = argument;
    int outstanding = 0;
    DAT_EVENT e;

    while (!sender_stops) {
        if (outstanding < 16 && post_send(&v->s, &memory, 0, 1000, 1) == DAT_SUCCESS)
            outstanding++;
        while (dat_evd_dequeue(v->s.req, &e) == DAT_SUCCESS)
            outstanding--;
    }
    return NULL;
}

static void *poller(void *unused)
{
    DAT_EVENT e;

    (void)unused;
    while (!sender_stops)
        (void)dat_evd_dequeue(requests, &e);
    return NULL;
}

/*
 * A waiting peer makes the endpoint enlarge the window. Several threads report the window. A report must not be
 * smaller than an earlier report: that would violate the protocol.
 */
static void windows_grow(void)
{
    struct head none = head_target(0, 0, 0);
    int count = env_count(40, 10), shrunk = 0, grown = 0;

    for (int i = 0; i < count; i++) {
        uint32_t window = RECORD_MIN_WINDOW;
        uint64_t handled = 0;
        pthread_t threads[2];
        struct victim v;
        struct heard h;

        victim_begin(&v);
        sender_stops = 0;
        must(pthread_create(&threads[0], NULL, sender, &v) == 0 && pthread_create(&threads[1], NULL, poller, NULL) == 0,
             "pthread_create");
        while (window < RECORD_MAX_WINDOW && raw_hear_record(v.fd, &h, NULL, 0)) {
            shrunk += h.window < window;
            window = h.window;
            handled += h.kind <= KIND_LAST_REQUEST ? RECORD_HEADER + h.len : 0;
            RAW_RECORD(v.fd, .kind = KIND_WRITE, .flags = RECORD_WAITED, .handled = handled, HEAD(none, RECORD_TARGET));
        }
        grown += window == RECORD_MAX_WINDOW;
        sender_stops = 1;
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        close(v.fd);
        side_free(&v.s);
    }
    is_int(grown, count, "a peer waits for the window: the window grows to its maximum");
    is_int(shrunk, 0, "a peer waits for the window: no report is smaller than one before");
}

static void handled_backwards(void)
{
    struct victim v;
    struct heard h;
    uint64_t sent = 0;

    victim_begin(&v);
    must_rc(post_send(&v.s, &memory, 0, 100, 7), DAT_SUCCESS, "dat_ep_post_send");
    must(raw_hear_kind(v.fd, KIND_MESSAGE, &h, NULL, 0), "no message");
    sent = RECORD_HEADER + h.len;
    RAW_RECORD(v.fd, .kind = KIND_HANDLED, .handled = sent);
    ok(wait_dto(v.s.req, 7, DAT_DTO_SUCCESS, NULL), "a report completes a send");
    RAW_RECORD(v.fd, .kind = KIND_HANDLED, .handled = 0);
    must_rc(post_send(&v.s, &memory, 0, 100, 8), DAT_SUCCESS, "dat_ep_post_send");
    RAW_RECORD(v.fd, .kind = KIND_HANDLED, .handled = 1);
    must(raw_hear_kind(v.fd, KIND_MESSAGE, &h, NULL, 0), "no message");
    ok(quiet(v.s.req), "the number of handled bytes goes backwards: no send completes");
    RAW_RECORD(v.fd, .kind = KIND_HANDLED, .handled = 2 * sent + 1);
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "one byte more is handled than was sent");
}

/*
 * The raw peer does not read, and reports more bytes as handled than it has received. Bytes that the program writes
 * after the completion of a send must not reach the raw peer.
 */
static void handled_too_early(void)
{
    enum { LEN = 1 << 20, COUNT = 16, STEP_MS = 20 };
    static unsigned char bytes[1 << 16];
    DAT_LMR_TRIPLET t;
    struct region r;
    struct victim v;
    DAT_EVENT e;
    size_t wrong = 0;
    ssize_t len;

    region_make(&fx, &r, (size_t)LEN * COUNT, MEM_LOCAL);
    memset(r.mem, 0xaa, (size_t)LEN * COUNT);
    victim_begin(&v);
    RAW_RECORD(v.fd, .kind = KIND_HANDLED, .window = RECORD_MAX_WINDOW);
    for (int i = 0; i < COUNT; i++) {
        t = segment(&r, (size_t)i * LEN, LEN);
        must_rc(dat_ep_post_send(v.s.ep, 1, &t, cookie((DAT_UINT64)i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
                "dat_ep_post_send");
    }
    must(quiet(v.s.req), "a send completes that no peer has handled");
    for (uint64_t handled = 0; ep_state(v.s.ep) == DAT_EP_STATE_CONNECTED && handled <= (uint64_t)COUNT * 2 * LEN;
         handled += RECORD_HEADER + RECORD_MAX_PAYLOAD) {
        const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

        RAW_RECORD(v.fd, .kind = KIND_HANDLED, .handled = handled, .window = RECORD_MAX_WINDOW);
        while (wait_event_ms(v.s.req, STEP_MS, &e))
            if (d->status == DAT_DTO_SUCCESS)
                memset(r.mem + d->user_cookie.as_64 * LEN, 0xbb, LEN);
    }
    while ((len = recv(v.fd, bytes, sizeof bytes, 0)) > 0)
        for (ssize_t i = 0; i < len; i++)
            wrong += bytes[i] == 0xbb;
    ok(wrong == 0, "a peer reports bytes as handled too early: it receives no byte of a later use of the memory");
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "a peer reports bytes as handled too early");
    region_free(&r);
}

/* ---- Responses ---- */

/* Sends bytes in two parts, which the endpoint receives separately. */
static void in_two(int fd, const unsigned char *bytes, size_t len)
{
    DAT_EVENT e;

    raw_say(fd, bytes, len / 2);
    for (int i = 0; i < 50; i++) {
        (void)dat_evd_dequeue(requests, &e);
        poll(NULL, 0, 1);
    }
    raw_say(fd, bytes + len / 2, len - len / 2);
}

static void responses(void)
{
    enum { LEN = 9000 };
    static unsigned char bytes[LEN];
    uint64_t handled = RECORD_HEADER + RECORD_TARGET;
    unsigned char *into = memory.mem + AT + RECEIVES * SIZE;
    struct victim v;

    pattern_fill(bytes, LEN, 3);
    victim_begin(&v);
    victim_reads(&v, 16);
    RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = 17, .payload = bytes, .payload_len = 17);
    ok(wait_dto(v.s.req, READ_COOKIE, DAT_DTO_ERR_FLUSHED, NULL), "a response longer than requested: the read is flushed");
    ok(all_bytes(into, 64, 0), "a response longer than requested: no byte is stored");
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "a response longer than requested");

    victim_begin(&v);
    victim_reads(&v, 16);
    RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = 16, .payload = bytes, .payload_len = 10);
    RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = 16, .payload = bytes, .payload_len = 7);
    ok(wait_dto(v.s.req, READ_COOKIE, DAT_DTO_ERR_FLUSHED, NULL), "pieces longer than requested: the read is flushed");
    ok(all_bytes(into + 16, 48, 0), "pieces longer than requested: no byte is stored after the buffer");
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "pieces of a response longer than requested");

    victim_begin(&v);
    victim_reads(&v, 16);
    RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = 16, .payload_len = 0);
    ok(wait_dto(v.s.req, READ_COOKIE, DAT_DTO_ERR_FLUSHED, NULL), "an empty piece of a response: the read is flushed");
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "an empty piece of a response");

    victim_begin(&v);
    victim_reads(&v, LEN);
    for (size_t at = 0; at < LEN;) {
        size_t part = at + 700 < LEN ? 700 : LEN - at;

        RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = LEN, .payload = bytes + at, .payload_len = part);
        at += part;
    }
    ok(wait_dto(v.s.req, READ_COOKIE, DAT_DTO_SUCCESS, NULL) && memcmp(into, bytes, LEN) == 0,
       "a response in pieces: the read succeeds");
    RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = LEN, .payload_len = 1);
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "a second response to a read");

    victim_begin(&v);
    must_rc(post_send(&v.s, &memory, 0, 100, READ_COOKIE - 1), DAT_SUCCESS, "dat_ep_post_send");
    victim_reads(&v, 16);
    RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .aux = 16, .payload = bytes, .payload_len = 16);
    ok(wait_dto(v.s.req, READ_COOKIE - 1, DAT_DTO_ERR_FLUSHED, NULL) &&
           wait_dto(v.s.req, READ_COOKIE, DAT_DTO_ERR_FLUSHED, NULL),
       "a response before an earlier send is acknowledged: send and read are flushed");
    ok(all_bytes(into, 64, 0), "a response before an earlier send is acknowledged: no byte is stored");
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "a response before an earlier send is acknowledged");

    /* The last part is shorter than a word, and arrives in two pieces. */
    for (size_t last = 1; last < RECORD_WORD; last++) {
        victim_begin(&v);
        victim_reads(&v, 4096 + last);
        RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = 4096 + last, .payload = bytes,
                   .payload_len = 4096);
        RAW_RECORD(v.fd, .kind = KIND_RESPONSE, .handled = handled, .aux = 4096 + last, .len_error = (int64_t)last);
        in_two(v.fd, bytes + 4096, last);
        ok(wait_dto(v.s.req, READ_COOKIE, DAT_DTO_SUCCESS, NULL), "a last piece of %zu bytes, in two: the read succeeds", last);
        is_int(memcmp(into, bytes, 4096 + last), 0, "a last piece of %zu bytes, in two: the bytes are right", last);
        ok(all_bytes(into + 4096 + last, 48, 0), "a last piece of %zu bytes, in two: no byte after the buffer changes", last);
        shutdown(v.fd, SHUT_WR);
        victim_ends(&v, DAT_CONNECTION_EVENT_DISCONNECTED, "a response whose last piece is short");
    }
}

/* Tests messages and writes whose last part is shorter than a word. */
static void short_last_parts(void)
{
    enum { LEN = 16384 };
    static unsigned char bytes[LEN + RECORD_WORD];
    DAT_EVENT e;
    struct victim v;

    pattern_fill(bytes, sizeof bytes, 5);
    for (size_t last = 1; last < RECORD_WORD; last++) {
        struct head to = head_target(address_of(&granted), LEN + last, granted.rmr_context);
        struct heard h;

        victim_begin(&v);
        memset(memory.mem + AT, 0, SIZE);
        /* The header first, so that the endpoint receives the payload directly into the buffer. */
        RAW_RECORD(v.fd, .kind = KIND_MESSAGE, .aux = LEN + last, .len_error = LEN);
        in_two(v.fd, bytes, LEN);
        RAW_RECORD(v.fd, .kind = KIND_MESSAGE, .aux = LEN + last, .len_error = (int64_t)last);
        in_two(v.fd, bytes + LEN, last);
        ok(wait_dto(v.s.recv, RECEIVE, DAT_DTO_SUCCESS, &e) &&
               e.event_data.dto_completion_event_data.transfered_length == LEN + last &&
               memcmp(memory.mem + AT, bytes, LEN + last) == 0,
           "a message whose last part has %zu bytes, in two: the bytes are right", last);
        memset(granted.mem, 0, granted.size);
        RAW_RECORD(v.fd, .kind = KIND_WRITE, .aux = LEN + last, HEAD(to, RECORD_TARGET), .len_error = LEN);
        in_two(v.fd, bytes, LEN);
        RAW_RECORD(v.fd, .kind = KIND_WRITE_PART, .aux = LEN + last, .len_error = (int64_t)last);
        in_two(v.fd, bytes + LEN, last);
        /* The response proves that the write is complete. */
        RAW_RECORD(v.fd, .kind = KIND_READ, .aux = LEN + last, HEAD(to, RECORD_TARGET));
        ok(raw_hear_kind(v.fd, KIND_RESPONSE, &h, NULL, 0) && memcmp(granted.mem, bytes, LEN + last) == 0,
           "a write whose last part has %zu bytes, in two: the bytes are right", last);
        ok(all_bytes(granted.mem + LEN + last, 64, 0), "a write whose last part has %zu bytes: no byte after it changes", last);
        shutdown(v.fd, SHUT_WR);
        victim_ends_after(&v, 1, DAT_CONNECTION_EVENT_DISCONNECTED, "a transfer whose last part is short");
    }
    memset(granted.mem, 0, granted.size);
}

/* ---- Ends ---- */

static void ends(void)
{
    static const unsigned char half[100];
    static const int statuses[RECORD_ENDS] = { DAT_DTO_ERR_FLUSHED, DAT_DTO_ERR_FLUSHED, DAT_DTO_ERR_REMOTE_ACCESS,
                                               DAT_DTO_ERR_REMOTE_RESPONDER, DAT_DTO_ERR_TRANSPORT };
    struct victim v;
    char what[80];

    for (uint64_t reason = 0; reason < RECORD_ENDS; reason++) {
        snprintf(what, sizeof what, "an end with the reason %u", (unsigned)reason);
        victim_begin(&v);
        victim_reads(&v, 16);
        RAW_RECORD(v.fd, .kind = KIND_END, .aux = reason);
        ok(wait_dto(v.s.req, READ_COOKIE, statuses[reason], NULL), "%s: the status of the oldest request", what);
        victim_ends(&v, reason == 0 ? DAT_CONNECTION_EVENT_DISCONNECTED : DAT_CONNECTION_EVENT_BROKEN, what);
    }
    victim_begin(&v);
    RAW_RECORD(v.fd, .kind = KIND_END);
    RAW_RECORD(v.fd, .kind = KIND_MESSAGE, .aux = 8, .payload_len = 8);
    RAW_RECORD(v.fd, .kind = 255);
    victim_ends(&v, DAT_CONNECTION_EVENT_DISCONNECTED, "bytes after the end");

    victim_begin(&v);
    shutdown(v.fd, SHUT_WR);
    victim_ends(&v, DAT_CONNECTION_EVENT_DISCONNECTED, "the stream ends between records");
    victim_begin(&v);
    raw_reset(v.fd);
    v.fd = -1;
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "an RST between records");
    for (int reset = 0; reset < 2; reset++) {
        for (int place = 0; place < 3; place++) {
            static const char *const places[] = { "inside a header", "inside a head", "inside a payload" };
            struct head to = head_target(address_of(&granted), 16, granted.rmr_context);

            snprintf(what, sizeof what, "%s %s", reset ? "an RST" : "the stream ends", places[place]);
            victim_begin(&v);
            if (place == 0)
                raw_say(v.fd, half, RECORD_HEADER - 1);
            else if (place == 1)
                RAW_RECORD(v.fd, .kind = KIND_WRITE, .aux = 16, HEAD(to, 5), .len_error = RECORD_TARGET + 16 - 5);
            else
                RAW_RECORD(v.fd, .kind = KIND_MESSAGE, .aux = 20000, .payload_len = 6000, .len_error = 14000);
            if (reset) {
                raw_reset(v.fd);
                v.fd = -1;
            } else {
                shutdown(v.fd, SHUT_WR);
            }
            victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, what);
        }
    }
}

/* Sends records before the endpoint accepts. */
static void before_acceptance(void)
{
    unsigned char record[RECORD_HEADER + 4];
    struct victim v;

    memset(record, 0, sizeof record);
    record[0] = KIND_MESSAGE;
    record[4] = record[24] = 4;
    record[16 + 2] = RECORD_MIN_WINDOW >> 16;
    record[RECORD_HEADER] = 9;
    victim_begin_with(&v, RECEIVES, record, sizeof record);
    ok(wait_dto(v.s.recv, RECEIVE, DAT_DTO_SUCCESS, NULL) && memory.mem[AT] == 9,
       "a message before the acceptance: it arrives after the acceptance");
    shutdown(v.fd, SHUT_WR);
    victim_ends_after(&v, 1, DAT_CONNECTION_EVENT_DISCONNECTED, "a message before the acceptance");
    record[0] = 255;
    victim_begin_with(&v, RECEIVES, record, sizeof record);
    victim_ends(&v, DAT_CONNECTION_EVENT_BROKEN, "an unknown kind before the acceptance");
    record[0] = KIND_END;
    record[4] = record[24] = 0;
    victim_begin_with(&v, RECEIVES, record, RECORD_HEADER);
    victim_ends(&v, DAT_CONNECTION_EVENT_DISCONNECTED, "an end before the acceptance");
}

/* ---- Replies to an endpoint that connects ---- */

static void reply(const char *what, const void *bytes, size_t len, DAT_EVENT_NUMBER event)
{
    struct greeting theirs;
    DAT_CONN_QUAL at;
    struct side s;
    int door = raw_listen(&fx, &at), fd, took;

    side_make(&s, &fx, NULL);
    must_rc(post_recv(&s, &memory, AT, SIZE, RECEIVE), DAT_SUCCESS, "dat_ep_post_recv");
    must_rc(side_connect(&s, fx_address(&fx), at), DAT_SUCCESS, "dat_ep_connect");
    fd = accept(door, NULL, NULL);
    must(fd >= 0 && raw_hear_greeting(fd, &theirs), "no greeting");
    raw_say(fd, bytes, len);
    shutdown(fd, SHUT_WR);
    ok(wait_connection(s.conn, event), "%s as a reply: %s", what, event_text(event));
    close(fd);
    close(door);
    side_free(&s);
    took = exchange(1);
    ok(took >= 0, "%s as a reply: a conforming peer is served afterwards", what);
}

/* An endpoint connects again as often as the peer requests it, with the same greeting. */
static void again(void)
{
    struct greeting first, theirs, g;
    DAT_CONN_QUAL at;
    struct side s;
    int door = raw_listen(&fx, &at), fd = -1;
    bool same = true;

    greeting_make(&g, NULL, 0);
    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), at), DAT_SUCCESS, "dat_ep_connect");
    for (int i = 0; i < 20; i++) {
        fd = accept(door, NULL, NULL);
        must(fd >= 0 && raw_hear_greeting(fd, &theirs), "no greeting");
        if (i == 0)
            first = theirs;
        same = same && theirs.len == first.len && memcmp(theirs.bytes, first.bytes, first.len) == 0;
        g.bytes[HELLO_KIND] = HELLO_AGAIN;
        g.bytes[HELLO_READS_IN] = g.bytes[HELLO_READS_OUT] = 0;
        raw_say(fd, g.bytes, g.len);
        shutdown(fd, SHUT_WR);
        close(fd);
    }
    fd = accept(door, NULL, NULL);
    must(fd >= 0 && raw_hear_greeting(fd, &theirs), "no greeting");
    greeting_make(&g, NULL, 0);
    raw_say(fd, g.bytes, g.len);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "20 requests to connect again, and an acceptance");
    ok(same, "20 requests to connect again: the same greeting each time");
    close(fd);
    close(door);
    side_free(&s);
}

static void replies(void)
{
    struct greeting g, bad;

    again();

    greeting_make(&g, "no", 2);
    g.bytes[HELLO_READS_IN] = g.bytes[HELLO_READS_OUT] = 0;
    reply("no byte", g.bytes, 0, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    reply("half a greeting", g.bytes, g.len / 2, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    reply("a greeting without its private data", g.bytes, g.len - 1, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    bad = g;
    bad.bytes[HELLO_KIND] = HELLO_REJECTED;
    reply("a rejection", bad.bytes, bad.len, DAT_CONNECTION_EVENT_PEER_REJECTED);
    bad.bytes[HELLO_READS_IN] = 1;
    reply("a rejection with terms", bad.bytes, bad.len, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    bad = g;
    bad.bytes[HELLO_KIND] = HELLO_REFUSED;
    reply("a refusal", bad.bytes, bad.len, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    bad.bytes[HELLO_KIND] = HELLO_AGAIN + 1;
    reply("a greeting of an unknown kind", bad.bytes, bad.len, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    bad = g;
    bad.bytes[sizeof HELLO_MAGIC - 2]++;
    reply("a greeting of a newer version", bad.bytes, bad.len, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    bad = g;
    bad.bytes[HELLO_RESERVED]++;
    reply("a greeting with a reserved byte", bad.bytes, bad.len, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    bad = g;
    bad.bytes[HELLO_LENGTH] = HELLO_MAX_PRIVATE_DATA + 1;
    reply("a greeting with too much private data", bad.bytes, sizeof bad.bytes, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

static void violations(void)
{
    int before = entries("/proc/self/fd");

    forged_lengths();
    wrong_order();
    bad_headers();
    without_rights();
    freed_target(false, 100000);
    /* Received directly, and through a buffer. */
    freed_target(true, 100000);
    freed_target(true, 2000);
    freed_response_source();
    freed_message_source(false, 1, 32 << 20);
    freed_message_source(false, 16, 1 << 20);
    freed_message_source(true, 16, 1 << 20);
    ignores_window(false);
    ignores_window(true);
    uses_window();
    windows_grow();
    handled_backwards();
    handled_too_early();
    responses();
    short_last_parts();
    ends();
    before_acceptance();
    replies();
    ok(wait_until(descriptors_at_most, &before, SOON_MS), "endpoints of raw peers, afterwards: no descriptor more than before");
}

/* ---- Random records ---- */

static void random_records(void)
{
    static const unsigned char kinds[] = { KIND_MESSAGE, KIND_WRITE,   KIND_WRITE_PART, KIND_IMMEDIATE, KIND_INVALIDATE,
                                           KIND_READ,    KIND_ATOMIC,  KIND_HANDLED,    KIND_RESPONSE,  KIND_END };
    static unsigned char bytes[32768];
    struct chance c;
    int before = files();

    chance_begin(&c, 11);
    for (int n = 0; n < env_count(RANDOM, 40); n++) {
        int fd = stranger();

        for (int k = 0; k < 4; k++) {
            size_t len = draw_size(&c, 1, k == 3 ? sizeof bytes : 200);
            /* Most headers are valid, so that the endpoint processes the record. */
            bool valid = draw(&c, 8) != 0;
            struct record r = { .kind = kinds[draw(&c, sizeof kinds)], .payload = bytes, .payload_len = len };

            for (size_t i = 0; i < len; i++)
                bytes[i] = (unsigned char)draw(&c, 256);
            r.aux = draw(&c, 2) == 0 ? len : draw(&c, 1 << 20);
            if (!valid) {
                r.flags = draw(&c, 256);
                r.window = draw(&c, 1 << 30);
                r.len_error = (int)draw(&c, 64) - 32;
            }
            raw_record(fd, &r);
        }
        close(fd);
    }
    conforming(5000, "random records");
    for (int n = 0; n < env_count(RANDOM, 40); n++) {
        int fd = stranger();
        size_t len = RECORD_HEADER + draw(&c, 64);

        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)draw(&c, 256);
        raw_say(fd, bytes, len);
        close(fd);
    }
    conforming(5000, "random headers");
    at_rest(before, "random bytes");
}

/* ---- A peer that always sends ---- */

static volatile int flood_stops;

static void *flood(void *argument)
{
    enum { RECORDS = 500, LEN = RECORD_HEADER + RECORD_TARGET };
    static unsigned char bytes[RECORDS * LEN];
    int fd = *(int *)argument;

    /* Zero-length writes need no rights. */
    for (size_t at = 0; at < sizeof bytes; at += LEN) {
        bytes[at] = KIND_WRITE;
        bytes[at + 4] = RECORD_TARGET;
        bytes[at + 16 + 2] = RECORD_MIN_WINDOW >> 16;
    }
    while (!flood_stops && raw_say(fd, bytes, sizeof bytes) == sizeof bytes) {
        unsigned char reply[4096];

        while (recv(fd, reply, sizeof reply, MSG_DONTWAIT) > 0)
            ;
    }
    return NULL;
}

static void always_sends(void)
{
    struct greeting reply;
    pthread_t thread;
    int before = files(), fd = raw_connect(&fx, port);

    raw_say(fd, greeting.bytes, greeting.len);
    must(raw_hear_greeting(fd, &reply), "no reply to a valid greeting");
    must(pthread_create(&thread, NULL, flood, &fd) == 0, "pthread_create");
    for (int i = 0; i < 5; i++)
        conforming(5000, "a peer always sends");
    flood_stops = 1;
    pthread_join(thread, NULL);
    close(fd);
    at_rest(before, "a peer always sends");
}

/* ---- Silence ---- */

static void silent(void)
{
    static int fds[SILENT];
    int before = files(), with, most, count = env_count(SILENT, 200);
    int limit = (int)CM_MAX_GREETINGS / 2; /* maximum of pending greetings from one address */
    int held = count < limit ? count : limit;

    for (int i = 0; i < count; i++)
        fds[i] = raw_connect(&fx, port);
    with = before + held;
    ok(wait_until(files_at_least, &with, SOON_MS), "%d peers are silent: the process holds %d", count, held);
    /* The process accepts the next connection before it closes the oldest. */
    most = with + 1;
    ok(wait_until(files_at_most, &most, SOON_MS), "%d peers are silent: the process holds no more", count);
    conforming(10000, "silent peers");
    is_idle("silent peers");
    ok(wait_until(files_at_most, &before, 2000 * (unsigned)CM_GREETING_TIMEOUT),
       "silent peers: their connections end after %u s", (unsigned)CM_GREETING_TIMEOUT);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    at_rest(before, "silent peers");
}

/* ---- A peer that stops reading ---- */

/* A thread that relays bytes between a conforming peer and the second process, except while `hold` is set. */
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
    raw_say(to, bytes, (size_t)len);
    r->carried += (size_t)len;
    return true;
}

static void *relay(void *argument)
{
    struct relay *r = argument;
    int ends[2];
    bool open = true;

    ends[0] = accept(r->door, NULL, NULL);
    ends[1] = raw_connect(&fx, port);
    while (open) {
        struct pollfd f[2] = { { ends[0], POLLIN, 0 }, { ends[1], POLLIN, 0 } };

        poll(f, 2, 50);
        for (int i = 0; i < 2 && !r->hold; i++)
            open = open && (f[i].revents == 0 || carry(r, ends[i], ends[1 - i]));
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

    r.door = raw_listen(&fx, &at);
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
    must(wait_until(has_moved, &r, SOON_MS), "no byte is carried");
    r.hold = 1;
    for (int i = 0; i < 3; i++)
        conforming(5000, "another peer does not read");
    r.hold = 0;
    for (DAT_UINT64 i = 0; i < MANY; i++)
        good = good && wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL);
    for (DAT_UINT64 i = 0; i < MANY; i++)
        good = good && wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL) &&
               pattern_check(memory.mem + (2 + MANY + i) * SIZE, SIZE, (unsigned)i) < 0;
    ok(good, "a peer reads again: all messages arrive in order, there and back");
    must_rc(dat_ep_disconnect(s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_DISCONNECTED), "no DISCONNECTED");
    side_free(&s);
    pthread_join(thread, NULL);
    close(r.door);
    at_rest(before, "a peer reads again");
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
        skip_all("the sockets of this test use IPv4");
    region_make(&fx, &memory, 64 * SIZE, MEM_LOCAL);
    region_make(&fx, &granted, SIZE, MEM_LOCAL | DAT_MEM_PRIV_ALL_FLAG);
    region_make(&fx, &readable, 4096, MEM_LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    region_make(&fx, &closed, 4096, MEM_LOCAL);
    memset(closed.mem, 0x5a, closed.size);
    memset(readable.mem, 0x5b, readable.size);
    requests = fx_evd(&fx, 16, DAT_EVD_CR_FLAG);
    fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &mine);
    peer_start(&server, "echo");
    must(LINK_RECV(&server.link, port), "no process that listens");
    conforming(5000, "no raw peer");
    greetings_match();
    at_the_door();
    violations();
    random_records();
    stops_reading();
    always_sends();
    silent();
    conforming(5000, "after all of it");
    is_int(peer_join(&server, 0), -1, "the process has not exited");
    peer_kill(&server);
    fx_close(&fx);
    return done_testing();
}
