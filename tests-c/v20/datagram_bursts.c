/*
 * datagram_bursts.c - concurrent unreliable datagrams between two processes, with enough receives. Each process posts
 * all of its sends before it receives. Its request queue has room for them, as the adapter may send them only later. No
 * datagram is lost, because the transport buffers this number for a busy receiver.
 */
#define _POSIX_C_SOURCE 200809L
#include "v20/datagram.h"

#include <string.h>

#define NAME "dat_ib_post_send_ud"

/* Time of polling before the sends. */
#define LOOKING_MS 50

/* Bytes of a datagram, if the adapter allows so many, and of a buffer. */
enum { BYTES = 4000, PLACE = GRH + BYTES };

static struct fx fx;
static struct side s;
static struct region memory; /* places for receives, then for sends */
static int count;
static size_t bytes;

static void open_side(void)
{
    DAT_EP_ATTR attr;

    count = env_count(1000, 300);
    ud_open(&fx);
    bytes = ud_mtu() < BYTES ? ud_mtu() : BYTES;
    region_make(&fx, &memory, 2 * (size_t)count * PLACE, MEM_LOCAL);
    ud_attr(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = count;
    ud_make(&s, &fx, DAT_HANDLE_NULL, &attr);
    must_rc(dat_evd_resize(s.recv, count + UD_EVENTS), DAT_SUCCESS, "dat_evd_resize");
    for (int i = 0; i < count; i++)
        must_rc(ud_receive(&s, &memory, (size_t)i * PLACE, bytes, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
}

/* Posts all sends, and returns the number of successful posts. Only the last send has a completion. */
static int send_all(const struct known *to)
{
    int good = 0;
    DAT_EVENT event;

    /* After this polling, no other thread of the process receives for some time: the peer's datagrams must wait. */
    for (uint64_t until = now_ms() + LOOKING_MS; now_ms() < until;)
        must(dat_evd_dequeue(s.req, &event) != DAT_SUCCESS, "an event that nobody waits for");
    for (int i = 0; i < count; i++) {
        DAT_COMPLETION_FLAGS flags = i == count - 1 ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG;
        size_t at = (size_t)(count + i) * PLACE;
        DAT_LMR_TRIPLET part = segment(&memory, at, bytes);
        DAT_IB_ADDR_HANDLE ah = to->ah;
        unsigned char *place = memory.mem + at;

        memset(place, i & 0xff, bytes);
        memcpy(place, &i, sizeof i);
        good += dat_ib_post_send_ud(s.ep, 1, &part, &ah, cookie((DAT_UINT64)i), flags) == DAT_SUCCESS;
    }
    return good;
}

/* Receives the peer's datagrams, and returns the number that arrived intact and in order. */
static int take_all(void)
{
    int good = 0;

    for (int i = 0; i < count; i++) {
        const unsigned char *place = memory.mem + (size_t)i * PLACE + GRH;
        DAT_EVENT event;
        int word;

        if (!wait_event(s.recv, &event))
            break;
        memcpy(&word, place, sizeof word);
        good += ud_is_datagram(&event, &s, (DAT_UINT64)i, bytes) && word == i &&
                all_bytes(place + sizeof word, bytes - sizeof word, (unsigned char)i);
    }
    return good;
}

static int other(struct link *up)
{
    struct known to;
    int sent, taken;

    open_side();
    ud_connect_peer(&s, up, &to);
    must(link_say(up, "ready") && link_hear(up, "go"), "the first process is gone");
    sent = send_all(&to);
    must(ud_sent(&s, (DAT_UINT64)count - 1, bytes), "the last send does not end");
    taken = take_all();
    must(LINK_SEND(up, sent) && LINK_SEND(up, taken) && link_hear(up, "bye"), "the first process is gone");
    side_free(&s);
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "other", other }, { NULL, NULL } };
    struct peer p;
    struct known to;
    int sent = 0, taken = 0;

    env_init(argc, argv, roles);
    open_side();
    peer_start(&p, "other");
    ud_accept_peer(&s, &p.link, &to);
    must(link_hear(&p.link, "ready") && link_say(&p.link, "go"), "no second process");
    is_int(send_all(&to), count, NAME ": to each other: all %d sends are taken", count);
    ok(ud_sent(&s, (DAT_UINT64)count - 1, bytes), NAME ": to each other: the last one ends");
    is_int(take_all(), count, NAME ": to each other: all come, in order");
    must(LINK_RECV(&p.link, sent) && LINK_RECV(&p.link, taken), "the second process is gone");
    is_int(sent, count, NAME ": to each other: all sends of the other process are taken");
    is_int(taken, count, NAME ": to each other: all come to the other process, in order");
    ok(ud_quiet(&s), NAME ": to each other: no other event");
    link_say(&p.link, "bye");
    peer_ok(&p, NAME ": to each other: the other process ends well");
    side_free(&s);
    fx_close(&fx);
    return done_testing();
}
