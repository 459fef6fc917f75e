/*
 * datagram_loss.c - lost unreliable datagrams: the peer has no receive or a short one, is stopped or killed, or has freed
 * its endpoint. The sender gets no error, and its other peers are not affected.
 *
 * One endpoint of the first process has the addresses of all peers.
 */
#define _POSIX_C_SOURCE 200809L
#include "v20/datagram.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define NAME "dat_ib_post_send_ud"
#define UNTOUCHED_BYTE 0xee

/* Bytes of a datagram, bytes of a buffer, maximum of outstanding sends, number of buffers. */
enum { BYTES = 64, PLACE = 2048, WINDOW = 32, DEPTH = 64 };

/* First word of a datagram that must arrive, and of the last datagram to a process. Other datagrams have a number. */
#define MARKED 0x6d61726b6564u
#define END 0x656e64u

static struct fx fx;
static struct side s;
static struct region memory; /* DEPTH receive buffers, and as many send buffers, which are used in turn */

static void open_side(void)
{
    ud_open(&fx);
    region_make(&fx, &memory, 2 * DEPTH * PLACE, MEM_LOCAL);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
}

/* Posts a datagram that begins with word. */
static DAT_RETURN send_word(const struct known *to, DAT_UINT64 word, size_t len)
{
    static size_t turn;
    size_t at = (DEPTH + turn++ % DEPTH) * PLACE;

    memcpy(memory.mem + at, &word, sizeof word);
    return ud_send(&s, &memory, at, len, to, word);
}

/* Returns the first word of the datagram in that buffer. */
static DAT_UINT64 word_at(DAT_UINT64 place)
{
    DAT_UINT64 word;

    memcpy(&word, memory.mem + place * PLACE + GRH, sizeof word);
    return word;
}

/* ---- A process that executes orders ---- */

enum deed { POST, NEXT, QUIET, FREE, MEET, LEAVE };

struct order {
    enum deed deed;
    int first; /* of POST: first buffer, */
    int count; /* number of buffers, */
    int bytes; /* length of each receive */
};

/* Reply to NEXT and QUIET: the completed receive. clean: no byte after its buffer has changed. */
struct report {
    bool came, clean;
    int number, status;
    DAT_UINT64 place, length, word;
};

static void post_places(const struct order *o)
{
    memset(memory.mem + (size_t)o->first * PLACE, UNTOUCHED_BYTE, (size_t)o->count * PLACE);
    for (int i = o->first; i < o->first + o->count; i++)
        must_rc(post_recv(&s, &memory, (size_t)i * PLACE, (size_t)o->bytes, (DAT_UINT64)i), DAT_SUCCESS,
                "dat_ep_post_recv");
}

/* Waits up to ms (scaled) for the completion of a receive of `bytes` bytes, and describes it in *r. */
static void await(struct report *r, unsigned ms, int bytes)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;

    r->came = wait_event_ms(s.recv, ms, &e);
    if (!r->came)
        return;
    r->number = (int)e.event_number;
    r->status = (int)d->status;
    r->place = d->user_cookie.as_64;
    r->length = d->transfered_length;
    must(r->place < DEPTH && d->ep_handle == s.ep, "a receive that nobody has posted");
    r->word = word_at(r->place);
    r->clean = all_bytes(memory.mem + r->place * PLACE + bytes, PLACE - (size_t)bytes, UNTOUCHED_BYTE);
}

static int obedient(struct link *up)
{
    struct order o = { MEET, 0, 0, 0 };
    int bytes = 0;

    open_side();
    ud_connect_peer(&s, up, NULL);
    while (o.deed != LEAVE) {
        struct report r;

        must(LINK_RECV(up, o), "no order");
        memset(&r, 0, sizeof r);
        switch (o.deed) {
        case POST:
            post_places(&o);
            bytes = o.bytes;
            break;
        case NEXT: await(&r, SOON_MS, bytes); break;
        case QUIET: await(&r, QUIET_MS, bytes); break;
        case FREE: side_free(&s); break;
        case MEET:
            ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
            ud_connect_peer(&s, up, NULL);
            break;
        case LEAVE: break;
        }
        must(LINK_SEND(up, r), "the first process is gone");
    }
    fx_close(&fx);
    return 0;
}

/* Address of the peer's endpoint after MEET. */
static struct known met;

static struct report has(struct peer *p, enum deed deed, int first, int count, int bytes)
{
    struct order o = { deed, first, count, bytes };
    struct report r;

    must(LINK_SEND(&p->link, o), "the other process is gone");
    if (deed == MEET)
        ud_accept_peer(&s, &p->link, &met);
    must(LINK_RECV(&p->link, r), "no answer of the other process");
    return r;
}

/* Returns whether the peer completes no receive within QUIET_MS. */
static bool silent(struct peer *p)
{
    struct report r = has(p, QUIET, 0, 0, 0);

    if (r.came)
        diag("the other process: %s, %s, place %d length %llu", event_text(r.number), status_text(r.status),
             (int)r.place, (unsigned long long)r.length);
    return !r.came;
}

/*
 * Returns whether the peer's next completed receive has the buffer `place`, and contains len bytes that begin with
 * word.
 */
static bool gets(struct peer *p, DAT_UINT64 word, int place, size_t len)
{
    struct report r = has(p, NEXT, 0, 0, 0);

    if (r.came && r.clean && r.number == (int)DAT_IB_DTO_EVENT && r.status == DAT_DTO_SUCCESS && r.place == (DAT_UINT64)place &&
        r.length == len + GRH && (len < sizeof word || r.word == word))
        return true;
    diag("the other process: %s, %s, place %d length %llu word %llu, expected place %d length %zu word %llu",
         event_text(r.number), status_text(r.status), (int)r.place, (unsigned long long)r.length,
         (unsigned long long)r.word, place, len + GRH, (unsigned long long)word);
    return false;
}

/* ---- The first process ---- */

/* Waits for n sends in any order, and returns the number of successful ones. */
static int ends(int n)
{
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
    int good = 0;

    for (int i = 0; i < n && wait_number(s.req, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &e); i++)
        good += d->ep_handle == s.ep && d->status == DAT_DTO_SUCCESS && (int)d->operation == DAT_IB_DTO_SEND_UD;
    return good;
}

/* Sends n datagrams with words from first, and returns the number of successful sends. */
static int send_many(const struct known *to, int n, DAT_UINT64 first, size_t len)
{
    int good = 0, under_way = 0;

    for (int i = 0; i < n; i++) {
        if (under_way == WINDOW)
            good += ends(under_way), under_way = 0;
        if (send_word(to, first + (DAT_UINT64)i, len) != DAT_SUCCESS)
            break;
        under_way++;
    }
    return good + ends(under_way);
}

/* A process that returns each datagram. */
static int echoing(struct link *up)
{
    struct known to;
    DAT_UINT64 word;

    open_side();
    for (unsigned i = 0; i < 8; i++)
        must_rc(ud_receive(&s, &memory, i * PLACE, BYTES, i), DAT_SUCCESS, "dat_ep_post_recv");
    ud_connect_peer(&s, up, &to);
    for (DAT_UINT64 i = 0;; i = (i + 1) % 8) {
        DAT_EVENT e;

        must(wait_event_ms(s.recv, 3 * SOON_MS, &e) && ud_is_datagram(&e, &s, i, BYTES), "no datagram to send back");
        word = word_at(i);
        must_rc(ud_receive(&s, &memory, (size_t)i * PLACE, BYTES, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(send_word(&to, word, BYTES), DAT_SUCCESS, NAME);
        must(ends(1) == 1, "a send fails");
        if (word == END)
            break;
    }
    must(link_hear(up, "bye"), "the first process is gone");
    fx_close(&fx);
    return 0;
}

static struct peer echo;
static struct known to_echo;

/* Sends a datagram to the process echo, and returns whether the reply has the same word. */
static bool echoes(DAT_UINT64 word)
{
    DAT_UINT64 got;

    if (ud_receive(&s, &memory, 0, BYTES, 1) != DAT_SUCCESS || send_word(&to_echo, word, BYTES) != DAT_SUCCESS ||
        ends(1) != 1 || !ud_received(&s, 1, BYTES))
        return false;
    got = word_at(0);
    return got == word;
}

/* Checks that there is no other event, and that the process echo is reachable. */
static void unmoved(const char *what)
{
    ok(quiet(s.conn) && quiet(s.req) && drain(fx.async) == 0, NAME ": %s: no event", what);
    ok(echoes(MARKED), NAME ": %s: another peer sends back", what);
}

static void start(struct peer *p, const char *role, struct known *to)
{
    peer_start(p, role);
    ud_accept_peer(&s, &p->link, to);
}

/* Sends datagrams until the peer receives the latest one, because earlier ones may still take its receives. */
static bool reaches(struct peer *p, const struct known *to)
{
    uint64_t late = now_ms() + env_ms(SOON_MS);
    struct report r;

    for (DAT_UINT64 word = MARKED; now_ms() < late; word++) {
        has(p, POST, 5, 1, GRH + BYTES);
        must(send_many(to, 1, word, BYTES) == 1, "a send fails");
        r = has(p, NEXT, 0, 0, 0);
        if (!r.came || !r.clean || r.place != 5 || r.word == word)
            return r.came && r.clean && r.place == 5;
    }
    return false;
}

/* Datagrams without a receive are lost: a receive takes only datagrams that arrive after it was posted. */
static void no_receive(struct peer *p, const struct known *to)
{
    int n = env_count(2000, 200);
    bool good = true;

    is_int(send_many(to, n, 0, BYTES), n, NAME ": the peer has no receives: %d sends end", n);
    ok(silent(p), NAME ": the peer has no receives: it is told nothing");
    ok(reaches(p, to), "dat_ep_post_recv: datagrams, after some were lost: the next one comes");

    has(p, POST, 0, 10, GRH + BYTES);
    is_int(send_many(to, WINDOW, 0, BYTES), WINDOW, NAME ": the peer has receives for some: all sends end");
    for (int i = 0; i < 10; i++)
        good = good && gets(p, (DAT_UINT64)i, i, BYTES);
    ok(good, NAME ": the peer has receives for some: the first ones come, in order");
    ok(silent(p), NAME ": the peer has receives for some: the others are lost");
    must(reaches(p, to), "the peer cannot be reached");
    has(p, POST, 0, 10, GRH + BYTES);
    must(send_many(to, 10, 100, BYTES) == 10, "sends fail");
    for (int i = 0; i < 10; i++)
        good = good && gets(p, 100 + (DAT_UINT64)i, i, BYTES);
    ok(good, NAME ": the peer has receives again: all come");
    unmoved("the peer has no receives");
}

/* Sends a datagram longer than the receive, which completes with LOCAL_LENGTH or takes the next datagram. */
static void short_receive(struct peer *p, const struct known *to, int room)
{
    struct report r;
    bool good;

    has(p, POST, 0, 1, GRH + room);
    must(send_many(to, 1, 1, BYTES) == 1, "a send fails");
    must(send_many(to, 1, MARKED, (size_t)room) == 1, "a send fails");
    r = has(p, NEXT, 0, 0, 0);
    good = r.came && r.clean && r.place == 0;
    if (r.status == DAT_DTO_ERR_LOCAL_LENGTH) {
        good = good && silent(p);
        has(p, POST, 1, 1, GRH + BYTES);
        must(send_many(to, 1, MARKED, BYTES) == 1, "a send fails");
        good = good && gets(p, MARKED, 1, BYTES);
    } else {
        good = good && r.status == DAT_DTO_SUCCESS && r.length == (DAT_UINT64)(GRH + room) &&
               (room < (int)sizeof r.word || r.word == MARKED);
    }
    ok(good, "dat_ep_post_recv: room for %d bytes, a datagram of %d: it is lost, the next one comes", room, BYTES);
}

/* Sends datagrams to a receive that is shorter than the GRH. */
static void shorter_than_none(struct peer *p, const struct known *to)
{
    struct report r;

    has(p, POST, 0, 1, GRH - 1);
    is_int(send_many(to, 3, 1, 8), 3, NAME ": the peer has a receive of %d bytes: the sends end", GRH - 1);
    r = has(p, QUIET, 0, 0, 0);
    ok(!r.came || (r.status == DAT_DTO_ERR_LOCAL_LENGTH && r.clean),
       "dat_ep_post_recv: %d bytes: the datagrams are lost, and the receive stays, or ends as too short", GRH - 1);
    /* Frees the short receive, which would take the next datagram. */
    has(p, FREE, 0, 0, 0);
    has(p, MEET, 0, 0, 0);
    has(p, POST, 0, 1, GRH + 8);
    must(send_many(&met, 1, MARKED, 8) == 1, "a send fails");
    ok(gets(p, MARKED, 0, 8), "dat_ep_free: datagrams, a receive that is too short: the next endpoint is reached");
    unmoved("the peer has a receive that is too short");
}

/* ---- Freed ---- */

static void freed(struct peer *p, const struct known *to)
{
    DAT_IB_ADDR_HANDLE old = to->ah;
    struct known anew;

    has(p, POST, 0, 4, GRH + BYTES);
    must(send_many(to, 1, 7, BYTES) == 1 && gets(p, 7, 0, BYTES), "a datagram does not come");
    has(p, FREE, 0, 0, 0);
    is_int(send_many(to, 200, 0, BYTES), 200, NAME ": the peer has freed its endpoint: the sends end");
    unmoved("the peer has freed its endpoint");
    has(p, MEET, 0, 0, 0);
    anew = met;
    has(p, POST, 0, 4, GRH + BYTES);
    is_int(send_many(to, 20, 0, BYTES), 20, NAME ": the peer has another endpoint: sends to the freed one end");
    ok(silent(p), NAME ": the peer has another endpoint: it gets nothing of what is for the freed one");
    must(send_many(&anew, 1, MARKED, BYTES) == 1, "a send fails");
    ok(gets(p, MARKED, 0, BYTES), NAME ": the peer has another endpoint: it is reached by its own address");
    is_success(dat_ib_ud_ah_free(s.ep, &old),
               "dat_ib_ud_ah_free: of an endpoint that is freed: success");
}

/* dat_ep_free flushes receives. */
static void own_receives(void)
{
    enum { N = 8 };
    struct side own;
    struct known to_s, to_own;
    DAT_EVENT e;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &e.event_data.dto_completion_event_data;
    DAT_EP_HANDLE ep;
    int good = 0;

    ud_make(&own, &fx, DAT_HANDLE_NULL, NULL);
    ud_meet(&own, &to_s, &s, &to_own);
    for (unsigned i = 0; i < N; i++)
        must_rc(ud_receive(&own, &memory, i * PLACE, BYTES, i), DAT_SUCCESS, "dat_ep_post_recv");
    ep = own.ep;
    is_success(dat_ep_free(own.ep), "dat_ep_free: datagrams, receives posted: success");
    own.ep = DAT_HANDLE_NULL;
    for (unsigned i = 0; i < N && wait_event(own.recv, &e); i++)
        good += (e.event_number == (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT || e.event_number == DAT_DTO_COMPLETION_EVENT) &&
                d->status == DAT_DTO_ERR_FLUSHED && d->ep_handle == ep && d->user_cookie.as_64 == i;
    is_int(good, N, "dat_ep_free: datagrams, receives posted: they come back, in order");
    is_int(send_many(&to_own, 20, 0, BYTES), 20, NAME ": the endpoint of this process is freed: the sends end");
    unmoved("an endpoint of this process is freed");
    side_free(&own);
}

/* ---- Stopped and killed ---- */

/* Number of datagrams that a stopped process received, and of those out of order. */
struct got {
    int count, wrong;
};

/* Receives ascending numbers up to END, and reposts each receive. */
static int counting(struct link *up)
{
    struct got got = { 0, 0 };
    DAT_UINT64 last = 0, word;
    DAT_EVENT e;

    open_side();
    for (unsigned i = 0; i < DEPTH; i++)
        must_rc(ud_receive(&s, &memory, i * PLACE, 1000, i), DAT_SUCCESS, "dat_ep_post_recv");
    ud_connect_peer(&s, up, NULL);
    for (DAT_UINT64 i = 0;; i = (i + 1) % DEPTH) {
        must(wait_event_ms(s.recv, 3 * SOON_MS, &e) && ud_is_datagram(&e, &s, i, 1000), "no datagram");
        word = word_at(i);
        if (word == END)
            break;
        got.count++;
        got.wrong += word <= last;
        last = word;
        must_rc(ud_receive(&s, &memory, (size_t)i * PLACE, 1000, i), DAT_SUCCESS, "dat_ep_post_recv");
    }
    must(LINK_SEND(up, got) && link_hear(up, "bye"), "the first process is gone");
    fx_close(&fx);
    return 0;
}

static void stopped(void)
{
    struct peer p;
    struct known to;
    struct got got;
    uint64_t late;
    int n = env_count(4000, 400), status, good = 0, echoed = 0, rounds = 0;

    start(&p, "counting", &to);
    must(kill(p.pid, SIGSTOP) == 0 && waitpid(p.pid, &status, WUNTRACED) == p.pid && WIFSTOPPED(status), "SIGSTOP");
    for (int i = 0; i < n; i += 20, rounds++) {
        good += send_many(&to, 20, 1 + (DAT_UINT64)i, 1000);
        echoed += echoes((DAT_UINT64)i);
    }
    is_int(good, n, NAME ": the peer is stopped: %d sends end", n);
    is_int(echoed, rounds, NAME ": the peer is stopped: another one sends back meanwhile");
    ok(quiet(s.conn) && quiet(s.req), NAME ": the peer is stopped: no event");
    must(kill(p.pid, SIGCONT) == 0, "SIGCONT");
    /* END may be lost, too. */
    late = now_ms() + env_ms(SOON_MS);
    do
        must(send_many(&to, 1, END, 1000) == 1, "a send fails");
    while (!link_recv(&p.link, &got, sizeof got, 5) && now_ms() < late);
    if (ok(now_ms() < late, NAME ": the peer goes on: it is reached again")) {
        diag("of %d datagrams, %d have come", n, got.count);
        ok(got.wrong == 0 && got.count > 0, NAME ": the peer goes on: it gets some, in order");
    }
    link_say(&p.link, "bye");
    peer_ok(&p, NAME ": the peer goes on: it ends well");
}

static void killed(void)
{
    struct peer p, next;
    struct known to, anew;
    int good = 0, echoed = 0;

    start(&p, "obedient", &to);
    has(&p, POST, 0, 4, GRH + BYTES);
    must(send_many(&to, 1, 7, BYTES) == 1 && gets(&p, 7, 0, BYTES), "a datagram does not come");
    peer_kill(&p);
    for (int i = 0; i < 20; i++) {
        good += send_many(&to, 20, 0, BYTES);
        echoed += echoes((DAT_UINT64)i);
    }
    is_int(good, 400, NAME ": the peer is killed: the sends end");
    is_int(echoed, 20, NAME ": the peer is killed: another one sends back meanwhile");
    unmoved("the peer is killed");
    start(&next, "obedient", &anew);
    has(&next, POST, 0, 4, GRH + BYTES);
    is_int(send_many(&to, 20, 0, BYTES), 20, NAME ": the peer is killed, there is another: sends to the dead end");
    must(send_many(&anew, 1, MARKED, BYTES) == 1, "a send fails");
    ok(gets(&next, MARKED, 0, BYTES), NAME ": the peer is killed, there is another: it gets what is its own");
    is_success(dat_ib_ud_ah_free(s.ep, &to.ah), "dat_ib_ud_ah_free: of a peer that is killed: success");
    is_success(dat_ib_ud_cm_free(s.ep, to.cm), "dat_ib_ud_cm_free: of a peer that is killed: success");
    has(&next, LEAVE, 0, 0, 0);
    peer_ok(&next, NAME ": the peer is killed, there is another: it ends well");
    is_int(send_many(&anew, 20, 0, BYTES), 20, NAME ": the peer has ended: the sends end");
    unmoved("the peer has ended");
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {
        { "obedient", obedient }, { "echoing", echoing }, { "counting", counting }, { NULL, NULL }
    };
    struct peer p, q;
    struct known to;

    env_init(argc, argv, roles);
    open_side();
    start(&echo, "echoing", &to_echo);
    ok(echoes(1), NAME ": two processes: there and back");
    start(&p, "obedient", &to);
    no_receive(&p, &to);
    short_receive(&p, &to, BYTES - 1);
    short_receive(&p, &to, 0);
    shorter_than_none(&p, &to);
    has(&p, LEAVE, 0, 0, 0);
    peer_ok(&p, NAME ": datagrams were lost: the peer ends well");
    start(&q, "obedient", &to);
    freed(&q, &to);
    has(&q, LEAVE, 0, 0, 0);
    peer_ok(&q, NAME ": the peer has freed its endpoint: it ends well");
    own_receives();
    stopped();
    killed();
    ok(echoes(END), NAME ": the other peer is there to the end");
    link_say(&echo.link, "bye");
    peer_ok(&echo, NAME ": the other peer ends well");
    fx_close(&fx);
    return done_testing();
}
