/*
 * datagram_close.c - an adapter is closed while it has endpoints for unreliable datagrams. Datagrams whose sends have
 * completed arrive. Peers that do not receive delay the close only briefly, regardless of the number of endpoints.
 */
#define _POSIX_C_SOURCE 200809L
#include "v20/datagram.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define NAME "dat_ia_close"

/*
 * Bytes of a datagram and of its buffer, number of datagrams. Endpoints that send to a stopped process, datagrams of
 * each.
 */
enum { BYTES = 1000, PLACE = 1100, COUNT = 800, ENDPOINTS = 30, EACH = 300 };

/* Maximum time of a close. A close that waits for one endpoint after the other takes ENDPOINTS times 500 ms. */
#define CLOSE_MS (ENDPOINTS * 500u / 2)

static struct fx fx;
static struct region memory;

/* Waits for n send completions. */
static void end_all(DAT_EVD_HANDLE evd, int n)
{
    for (int i = 0; i < n; i++) {
        DAT_EVENT e;

        must(wait_number(evd, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &e) &&
                 e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS,
             "send %d does not end", i);
    }
}

/* Role: sends all datagrams, and closes the adapter after the last send has completed. */
static int sending(struct link *up)
{
    struct side s;
    struct known to;

    ud_open(&fx);
    region_make(&fx, &memory, BYTES, MEM_LOCAL);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    ud_connect_peer(&s, up, &to);
    for (int i = 0; i < COUNT; i++) {
        memset(memory.mem, i & 0xff, BYTES);
        must_rc(ud_send(&s, &memory, 0, BYTES, &to, (DAT_UINT64)i), DAT_SUCCESS, "dat_ib_post_send_ud");
        end_all(s.req, 1);
    }
    must_rc(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    return 0;
}

static void comes(int round)
{
    struct peer p;
    struct side s;
    DAT_EP_ATTR attr;
    int good = 0;

    ud_attr(&attr);
    attr.max_recv_dtos = COUNT;
    ud_make(&s, &fx, DAT_HANDLE_NULL, &attr);
    must_rc(dat_evd_resize(s.recv, COUNT + UD_EVENTS), DAT_SUCCESS, "dat_evd_resize");
    for (unsigned i = 0; i < COUNT; i++)
        must_rc(ud_receive(&s, &memory, (size_t)i * PLACE, BYTES, i), DAT_SUCCESS, "dat_ep_post_recv");
    peer_start(&p, "sending");
    ud_accept_peer(&s, &p.link, NULL);
    for (unsigned i = 0; i < COUNT && ud_received(&s, i, BYTES); i++)
        good += all_bytes(memory.mem + (size_t)i * PLACE + GRH, BYTES, (unsigned char)i);
    is_int(good, COUNT, NAME ": datagrams, round %d: all whose sends have ended come", round);
    peer_ok(&p, NAME ": datagrams, round %d: the process that closes ends well", round);
    side_free(&s);
}

/* Role: exchanges addresses with all endpoints, and receives nothing. */
static int stopping(struct link *up)
{
    struct side s;

    ud_open(&fx);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    for (int i = 0; i < ENDPOINTS; i++)
        ud_connect_peer(&s, up, NULL);
    must(link_say(up, "ready"), "the first process is gone");
    link_hear(up, "bye");
    return 0;
}

static void together(void)
{
    struct peer p;
    struct side s[ENDPOINTS];
    struct known to[ENDPOINTS];
    size_t bytes = ud_mtu() < 4000 ? ud_mtu() : 4000;
    struct region from;
    uint64_t begin;
    DAT_EP_ATTR attr;
    int status, good = 0;

    region_make(&fx, &from, bytes, MEM_LOCAL);
    ud_attr(&attr);
    attr.max_request_dtos = EACH;
    peer_start(&p, "stopping");
    for (int i = 0; i < ENDPOINTS; i++) {
        ud_make(&s[i], &fx, DAT_HANDLE_NULL, &attr);
        must_rc(dat_evd_resize(s[i].req, EACH + UD_EVENTS), DAT_SUCCESS, "dat_evd_resize");
        ud_accept_peer(&s[i], &p.link, &to[i]);
    }
    must(link_hear(&p.link, "ready"), "the other process is gone");
    must(kill(p.pid, SIGSTOP) == 0 && waitpid(p.pid, &status, WUNTRACED) == p.pid && WIFSTOPPED(status), "SIGSTOP");
    for (int i = 0; i < ENDPOINTS; i++)
        for (int j = 0; j < EACH; j++)
            good += ud_send(&s[i], &from, 0, bytes, &to[i], (DAT_UINT64)j) == DAT_SUCCESS;
    must(good == ENDPOINTS * EACH, "only %d sends are taken", good);
    begin = now_ms();
    is_success(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG), NAME ": %d endpoints, the peer is stopped: success", ENDPOINTS);
    begin = now_ms() - begin;
    diag("%d ms", (int)begin);
    ok(begin <= CLOSE_MS, NAME ": %d endpoints, the peer is stopped: they end together", ENDPOINTS);
    must(kill(p.pid, SIGCONT) == 0, "SIGCONT");
    link_say(&p.link, "bye");
    peer_ok(&p, NAME ": %d endpoints, the peer is stopped: it ends well", ENDPOINTS);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "sending", sending }, { "stopping", stopping }, { NULL, NULL } };

    env_init(argc, argv, roles);
    ud_open(&fx);
    region_make(&fx, &memory, (size_t)COUNT * PLACE, MEM_LOCAL);
    for (int round = 0; round < env_count(5, 2); round++)
        comes(round);
    together();
    return done_testing();
}
