/*
 * reach.c - connections to hosts that do not exist, to ports that no socket uses or a firewall closes, and over a wire
 * that is cut: before the connection is established, while it is idle, and under load.
 */
#define _DEFAULT_SOURCE
#include "world.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 30000, RECEIVES = 8, OUT_AT = RECEIVES * SIZE };
/* The kernel of these hosts ends a connection 3 to 6.2 s after the first lost byte, an idle connection after 25 s. */
#define RETRIES "3"
#define GIVE_UP_MS 60000u
/* Limit of a connect, not scaled: the kernel gives up after 2 s. */
#define LIMIT_MS 1000u

static struct fx fx;
static struct wire *wire;

/* Returns the number of listening sockets of this host. */
static int listening(void)
{
    static const char *const tables[] = { "/proc/self/net/tcp", "/proc/self/net/tcp6" };
    char line[256];
    int count = 0;

    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(tables[i], "r");
        unsigned state;

        while (f != NULL && fgets(line, sizeof line, f) != NULL)
            count += sscanf(line, "%*s %*s %*s %x", &state) == 1 && state == 10;
        if (f != NULL)
            fclose(f);
    }
    return count;
}

/* The far host: accepts one connection, and returns each message until the near host sends a word. */
static int far(struct link *up)
{
    struct side s;
    struct region r;
    DAT_EVENT event;
    DAT_COUNT more;
    struct pollfd word = { up->in, POLLIN, 0 };
    int before, count;

    world_enter();
    world_set("net/ipv4/tcp_retries2", RETRIES);
    fx_open(&fx);
    before = listening();
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, OUT_AT, DAT_MEM_PRIV_ALL_FLAG);
    for (DAT_UINT64 i = 0; i < RECEIVES; i++)
        must_rc(post_recv(&s, &r, i * SIZE, SIZE, i), DAT_SUCCESS, "dat_ep_post_recv");
    {
        struct {
            struct sockaddr_storage address;
            DAT_CONN_QUAL qual;
        } card; /* what side_accept_peer() sends */
        DAT_PSP_HANDLE psp;

        memset(&card, 0, sizeof card);
        psp = fx_listen(&fx, &card.qual);
        card.address = fx.address;
        count = before * 100 + listening();
        must(LINK_SEND(up, count) && LINK_SEND(up, card), "the near host is gone");
        must_rc(dat_cr_accept(next_request(fx.cr), s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
        must(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
        must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    }
    while (poll(&word, 1, 0) == 0) {
        const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
        DAT_UINT64 at;

        if (dat_evd_wait(s.recv, 20000, 1, &event, &more) != DAT_SUCCESS || d->status != DAT_DTO_SUCCESS)
            continue;
        at = d->user_cookie.as_64;
        must_rc(post_send(&s, &r, at * SIZE, (size_t)d->transfered_length, at), DAT_SUCCESS, "dat_ep_post_send");
        if (wait_dto(s.req, at, DAT_DTO_SUCCESS, NULL))
            must_rc(post_recv(&s, &r, at * SIZE, SIZE, at), DAT_SUCCESS, "dat_ep_post_recv");
    }
    must(link_hear(up, "bye"), "the near host is gone");
    fx_close(&fx);
    return 0;
}

static DAT_RETURN try(struct side *s, const char *host, DAT_CONN_QUAL qual, DAT_TIMEOUT limit)
{
    struct sockaddr_in to;

    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    must(inet_pton(AF_INET, host, &to.sin_addr) == 1, "no address");
    return dat_ep_connect(s->ep, (DAT_IA_ADDRESS_PTR)&to, qual, limit, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

/* Checks that a connect fails with this event after `least` to `least` + 5000 ms. */
static void ends(const char *host, DAT_CONN_QUAL qual, DAT_TIMEOUT limit, DAT_EVENT_NUMBER number, unsigned least,
                 const char *what)
{
    uint64_t start = now_ms(), took;
    struct side s;
    DAT_EVENT event;

    side_make(&s, &fx, NULL);
    must_rc(try(&s, host, qual, limit), DAT_SUCCESS, "dat_ep_connect");
    ok(wait_event_ms(s.conn, GIVE_UP_MS, &event) && event.event_number == number, "dat_ep_connect: %s: %s", what,
       event_text(number) + strlen("DAT_CONNECTION_EVENT_"));
    took = now_ms() - start;
    ok(took >= least && took < least + env_ms(5000), "dat_ep_connect: %s: after some %u ms", what, least);
    diag("%llu ms, %s", (unsigned long long)took, event_text(event.event_number));
    is_state(ep_state(s.ep), DAT_EP_STATE_DISCONNECTED, "dat_ep_connect: %s: the endpoint is DISCONNECTED", what);
    side_free(&s);
}

struct call {
    struct peer p;
    struct side s;
    struct region r;
    DAT_CONN_QUAL qual;
    unsigned seq;
};

static void call_start(struct call *c, bool firewall)
{
    struct {
        struct sockaddr_storage address;
        DAT_CONN_QUAL qual;
    } card;
    int count;

    memset(c, 0, sizeof *c);
    peer_start(&c->p, "far");
    must(LINK_RECV(&c->p.link, count) && LINK_RECV(&c->p.link, card), "no far host");
    c->qual = card.qual;
    side_make(&c->s, &fx, NULL);
    region_make(&fx, &c->r, OUT_AT + SIZE, DAT_MEM_PRIV_ALL_FLAG);
    for (DAT_UINT64 i = 0; i < RECEIVES; i++)
        must_rc(post_recv(&c->s, &c->r, i * SIZE, SIZE, i), DAT_SUCCESS, "dat_ep_post_recv");
    if (firewall) {
        is_int(count, 1, "dat_psp_create: one port is listened on, and none before");
        is_int(listening(), 0, "a host without a service point listens nowhere");
        wire->port = (int)card.qual + 1;
        ends(FAR, card.qual, LIMIT_MS * 1000, DAT_CONNECTION_EVENT_TIMED_OUT, LIMIT_MS, "a firewall closes the port");
        wire->port = (int)card.qual;
        wire->refused = 0;
    }
    must_rc(side_connect(&c->s, (DAT_IA_ADDRESS_PTR)&card.address, card.qual), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(c->s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
}

/* Sends a message and checks the reply. */
static bool talks(struct call *c)
{
    DAT_EVENT event;
    DAT_UINT64 at;
    unsigned seed = ++c->seq;

    pattern_fill(c->r.mem + OUT_AT, SIZE, seed);
    if (post_send(&c->s, &c->r, OUT_AT, SIZE, seed) != DAT_SUCCESS ||
        !wait_dto(c->s.req, seed, DAT_DTO_SUCCESS, NULL) ||
        !wait_number(c->s.recv, DAT_DTO_COMPLETION_EVENT, &event) ||
        event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
        return false;
    at = event.event_data.dto_completion_event_data.user_cookie.as_64;
    return at < RECEIVES && pattern_check(c->r.mem + at * SIZE, SIZE, seed) < 0 &&
           post_recv(&c->s, &c->r, at * SIZE, SIZE, at) == DAT_SUCCESS;
}

static void call_end(struct call *c)
{
    must(link_say(&c->p.link, "bye"), "the far host is gone");
    peer_ok(&c->p, "the far host ends in good order");
    side_free(&c->s);
    region_free(&c->r);
}

/* Tests a connection through a firewall that permits only the port of the service point. */
static void firewall(void)
{
    struct call c;

    call_start(&c, true);
    ok(talks(&c), "a firewall lets the port of the service point through: messages arrive");
    is_int(wire->refused, 0, "nothing was asked of another port");
    wire->port = 0;
    call_end(&c);
}

/* Checks that no message is lost if the wire is cut for a short time. */
static void rejoined(void)
{
    struct call c;

    call_start(&c, false);
    ok(talks(&c), "connected: messages arrive");
    wire->cut = 1;
    ok(quiet(c.s.conn), "the wire is cut, and nothing is sent: no event");
    must_rc(post_send(&c.s, &c.r, OUT_AT, 1, 1), DAT_SUCCESS, "dat_ep_post_send");
    ok(quiet(c.s.req) && quiet(c.s.conn), "the wire is cut: what is sent is not done");
    wire->cut = 0;
    ok(wait_dto(c.s.req, 1, DAT_DTO_SUCCESS, NULL), "the wire is joined: what was sent arrives");
    ok(drain_dtos(c.s.recv, 1) == 1 && talks(&c), "the wire is joined: messages arrive");
    call_end(&c);
}

/* Returns whether all requests and receives are flushed, except the first request, which can have failed earlier. */
static bool are_returned(struct call *c, int sends)
{
    DAT_EVENT event;
    const DAT_DTO_COMPLETION_EVENT_DATA *d = &event.event_data.dto_completion_event_data;
    int bad = 0;

    for (int i = 0; i < sends + RECEIVES; i++) {
        if (!wait_number(i < sends ? c->s.req : c->s.recv, DAT_DTO_COMPLETION_EVENT, &event))
            return false;
        bad += d->status != DAT_DTO_ERR_FLUSHED && !(i == 0 && d->status != DAT_DTO_SUCCESS);
    }
    return bad == 0;
}

/*
 * Cuts the wire under load, and checks that the connection breaks. If `stopped`, first stops the far process, and
 * cuts the wire when the far kernel has received all bytes.
 */
static void cut(bool stopped, const char *what)
{
    enum { SENDS = 4 };
    struct call c;
    DAT_EVENT event;
    uint64_t start;

    call_start(&c, false);
    must(talks(&c), "no traffic");
    if (stopped)
        must(kill(c.p.pid, SIGSTOP) == 0 && waitpid(c.p.pid, NULL, WUNTRACED) == c.p.pid, "SIGSTOP");
    else
        wire->cut = 1;
    for (DAT_UINT64 i = 0; i < SENDS; i++)
        must_rc(post_send(&c.s, &c.r, OUT_AT, 100, i), DAT_SUCCESS, "dat_ep_post_send");
    if (stopped) {
        unsigned before;

        do {
            before = wire->carried;
            must(quiet(c.s.req), "what nobody has answered is done");
        } while (wire->carried != before);
        wire->cut = 1;
    }
    start = now_ms();
    ok(wait_event_ms(c.s.conn, GIVE_UP_MS, &event) && event.event_number == DAT_CONNECTION_EVENT_BROKEN, "%s: BROKEN",
       what);
    diag("%s after %llu ms", event_text(event.event_number), (unsigned long long)(now_ms() - start));
    is_state(ep_state(c.s.ep), DAT_EP_STATE_DISCONNECTED, "%s: the endpoint is DISCONNECTED", what);
    ok(are_returned(&c, SENDS), "%s: every buffer comes back", what);
    ok(quiet(c.s.conn), "%s: one event and no more", what);
    peer_kill(&c.p);
    wire->cut = 0;
    side_free(&c.s);
    region_free(&c.r);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "far", far }, { NULL, NULL } };

    wire = world_make(argc, argv, roles);
    world_set("net/ipv4/tcp_syn_retries", "1");
    fx_open(&fx);
    ends(FAR, 20000, env_us(SOON_MS), DAT_CONNECTION_EVENT_NON_PEER_REJECTED, 0, "nobody listens");
    ends("10.98.0.1", 20000, env_us(SOON_MS), DAT_CONNECTION_EVENT_UNREACHABLE, 0, "no route");
    ends("10.99.0.77", 20000, DAT_TIMEOUT_INFINITE, DAT_CONNECTION_EVENT_UNREACHABLE, 1000, "no host there");
    firewall();
    rejoined();
    wire->cut = 1;
    ends(FAR, 20000, LIMIT_MS * 1000, DAT_CONNECTION_EVENT_TIMED_OUT, LIMIT_MS, "the wire is cut");
    ends(FAR, 20000, DAT_TIMEOUT_INFINITE, DAT_CONNECTION_EVENT_UNREACHABLE, 1000, "the wire is cut, without a limit");
    wire->cut = 0;
    world_set("net/ipv4/tcp_retries2", RETRIES);
    cut(false, "the wire is cut under load");
    cut(true, "the wire is cut when the far host has all");
    fx_close(&fx);
    return done_testing();
}
