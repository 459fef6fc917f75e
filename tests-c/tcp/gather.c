/*
 * gather.c - posts that wait for later posts: the program posts one message, polls once, and so on, and the raw peer
 * reports nothing. The waiting messages arrive without a further post, whatever the program does next.
 */
#define _DEFAULT_SOURCE
#include "tcp/raw.h"

#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The last of POSTS messages wait, because fewer than the outstanding ones wait for the group of a system call. */
enum { POSTS = 14, MANY = 120, MESSAGE = 64 };

static struct fx fx;
static struct region memory;
static DAT_EVD_HANDLE requests;
static DAT_CONN_QUAL port;

struct stream {
    struct side s;
    int fd;
};

static void stream_begin(struct stream *t)
{
    struct greeting g;
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_request_dtos = MANY + 1;
    side_make(&t->s, &fx, &attr);
    t->fd = raw_connect(&fx, port);
    greeting_make(&g, NULL, 0);
    raw_say(t->fd, g.bytes, g.len);
    must_rc(dat_cr_accept(next_request(requests), t->s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    must(raw_hear_greeting(t->fd, &g), "no reply to a valid greeting");
    RAW_RECORD(t->fd, .kind = KIND_HANDLED);
    must(wait_connection(t->s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
}

static void stream_end(struct stream *t)
{
    close(t->fd);
    if (t->s.ep != DAT_HANDLE_NULL)
        must(broken_or_disconnected(t->s.conn), "the connection has not ended");
    side_free(&t->s);
}

static void poll_once(struct stream *t)
{
    DAT_EVENT e;

    must(dat_evd_dequeue(t->s.recv, &e) != DAT_SUCCESS, "an unexpected message");
}

/* Polls for so long that the library knows that the program polls often. */
static void poll_often(struct stream *t)
{
    for (uint64_t end = now_ms() + 50; now_ms() < end;)
        poll_once(t);
}

static void post_and_poll(struct stream *t, int first, int end)
{
    for (int i = first; i < end; i++) {
        memset(memory.mem + i * MESSAGE, i, MESSAGE);
        must_rc(post_send(&t->s, &memory, (size_t)i * MESSAGE, MESSAGE, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_send");
        poll_once(t);
    }
}

/* Returns whether the messages arrive in order. */
static bool arrive(struct stream *t, int posts)
{
    unsigned char bytes[MESSAGE];
    struct heard h;

    for (int i = 0; i < posts; i++)
        if (!raw_hear_kind(t->fd, KIND_MESSAGE, &h, bytes, sizeof bytes) || h.len != MESSAGE ||
            !all_bytes(bytes, sizeof bytes, (unsigned char)i))
            return false;
    return true;
}

/* ---- What the program does after the last post ---- */

static void nothing(struct stream *t)
{
    (void)t;
}

static void polls(struct stream *t)
{
    for (int i = 0; i < 100; i++)
        poll_once(t);
}

static void waits(struct stream *t)
{
    DAT_EVENT e;
    DAT_COUNT more;

    must_rc(dat_evd_wait(t->s.recv, 100000, 1, &e, &more), DAT_TIMEOUT_EXPIRED, "dat_evd_wait");
}

static void reads(struct stream *t)
{
    DAT_RMR_TRIPLET from;

    memset(&from, 0, sizeof from);
    from.rmr_context = 1;
    from.segment_length = MESSAGE;
    must_rc(post_read(&t->s, &memory, 0, MESSAGE, from, 0), DAT_SUCCESS, "dat_ep_post_rdma_read");
}

static void disconnects(struct stream *t)
{
    must_rc(dat_ep_disconnect(t->s.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
}

static void aborts(struct stream *t)
{
    must_rc(dat_ep_disconnect(t->s.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
}

static void frees(struct stream *t)
{
    must_rc(dat_ep_free(t->s.ep), DAT_SUCCESS, "dat_ep_free");
    t->s.ep = DAT_HANDLE_NULL;
}

/* `next` is the kind of the record that follows the messages, unless 0. */
static void after(const char *what, void (*then)(struct stream *), unsigned next)
{
    struct stream t;
    struct heard h;

    stream_begin(&t);
    poll_often(&t);
    post_and_poll(&t, 0, POSTS);
    then(&t);
    ok(arrive(&t, POSTS), "the program %s: all messages arrive in order", what);
    if (next != 0)
        ok(raw_hear_record(t.fd, &h, NULL, 0) && h.kind == next, "the program %s: the next record follows", what);
    stream_end(&t);
}

/* ---- Groups ---- */

/* Returns the number of arrivals of MANY messages, one of which is posted before each poll. */
static int arrivals(struct stream *t)
{
    static unsigned char bytes[MANY * (RECORD_HEADER + MESSAGE)];
    size_t got = 0;
    int count = 0, on = 1;

    for (int i = 0; i < MANY; i++) {
        ssize_t n;

        post_and_poll(t, i, i + 1);
        n = recv(t->fd, bytes + got, sizeof bytes - got, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
        count += n > 0;
        /* A delayed acknowledgement would make the kernel of the sender group the messages. */
        setsockopt(t->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
    }
    must(raw_hear(t->fd, bytes + got, sizeof bytes - got), "a message is missing");
    for (int i = 0; i < MANY; i++)
        must(all_bytes(bytes + (size_t)i * (RECORD_HEADER + MESSAGE) + RECORD_HEADER, MESSAGE, (unsigned char)i),
             "message %d is wrong", i);
    return count;
}

/* Sends in groups, unless the system interrupts the program too often. */
static void groups(void)
{
    int count = MANY;

    if (env_valgrind()) {
        skip(1, "under valgrind, the program does not poll often");
        return;
    }
    for (int tries = 0; tries < 20 && count >= MANY / 2; tries++) {
        struct stream t;

        stream_begin(&t);
        poll_often(&t);
        count = arrivals(&t);
        stream_end(&t);
    }
    diag("%d messages: %d arrivals", MANY, count);
    ok(count < MANY / 2, "messages arrive in groups");
}

/* Both ends post and poll in turn, and nothing else makes the library send. */
static void both(void)
{
    struct pair p;
    DAT_EVENT e;
    bool good = true;

    pair_open(&p, &fx, NULL);
    for (int i = 0; i < POSTS; i++) {
        must_rc(post_recv(&p.a, &memory, 0, MESSAGE, 0), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_recv(&p.b, &memory, MESSAGE, MESSAGE, 0), DAT_SUCCESS, "dat_ep_post_recv");
    }
    for (int i = 0; i < POSTS; i++) {
        must_rc(post_send(&p.a, &memory, 0, MESSAGE, 0), DAT_SUCCESS, "dat_ep_post_send");
        (void)dat_evd_dequeue(p.a.conn, &e);
        must_rc(post_send(&p.b, &memory, 0, MESSAGE, 0), DAT_SUCCESS, "dat_ep_post_send");
        (void)dat_evd_dequeue(p.b.conn, &e);
    }
    for (int i = 0; i < POSTS; i++) {
        good = good && wait_number(p.a.recv, DAT_DTO_COMPLETION_EVENT, &e) &&
               wait_number(p.b.recv, DAT_DTO_COMPLETION_EVENT, &e);
        good = good && wait_number(p.a.req, DAT_DTO_COMPLETION_EVENT, &e) &&
               wait_number(p.b.req, DAT_DTO_COMPLETION_EVENT, &e);
    }
    ok(good, "both ends gather: all messages arrive, and all posts complete");
    pair_close(&p);
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    fx_open(&fx);
    if (fx.address.ss_family != AF_INET)
        skip_all("the sockets of this test use IPv4");
    region_make(&fx, &memory, MANY * MESSAGE, MEM_LOCAL);
    requests = fx_evd(&fx, 16, DAT_EVD_CR_FLAG);
    fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &port);
    after("makes no call", nothing, 0);
    after("polls", polls, 0);
    after("waits", waits, 0);
    after("posts a read", reads, KIND_READ);
    after("disconnects gracefully", disconnects, 0);
    after("disconnects abruptly", aborts, KIND_END);
    after("frees the endpoint", frees, KIND_END);
    groups();
    both();
    fx_close(&fx);
    return done_testing();
}
