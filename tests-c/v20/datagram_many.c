/*
 * datagram_many.c - one endpoint for unreliable datagrams with 1000 peers in other processes. It requests the address of
 * each and sends to each, and each replies.
 */
#define _DEFAULT_SOURCE
#include "v20/datagram.h"

#include "common/usage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Processes, maximum of outstanding requests and of outstanding datagrams, rounds of one datagram to each peer. */
enum { PROCESSES = 8, BURST = 100, WINDOW = 32, ROUNDS = 3, BYTES = 64 };

/* Timeout on a machine with more processes than CPUs. */
#define LATE_MS (3 * SOON_MS)

static struct fx fx;

/* Order to another process: its number, and the number of its endpoints. */
struct part {
    int number, endpoints;
};

/* First words of a datagram. */
struct words {
    DAT_UINT32 endpoint, round;
};

static void many_descriptors(void)
{
    struct rlimit limit;

    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

/* ---- The others ---- */

struct others {
    struct part part;
    struct side *side; /* endpoints, which share their EVDs */
    struct known *to;  /* for each endpoint, its address of the first process */
    struct region memory;
};

static void make_all(struct others *o)
{
    DAT_COUNT n = o->part.endpoints;
    DAT_EVD_HANDLE recv = fx_evd(&fx, 2 * n, DAT_EVD_DTO_FLAG), req = fx_evd(&fx, 2 * n, DAT_EVD_DTO_FLAG);
    DAT_EVD_HANDLE conn = fx_evd(&fx, 2 * n, DAT_EVD_CONNECTION_FLAG);
    DAT_EP_ATTR attr;

    o->side = calloc((size_t)n, sizeof *o->side);
    o->to = calloc((size_t)n, sizeof *o->to);
    must(o->side != NULL && o->to != NULL, "out of memory");
    ud_attr(&attr);
    attr.max_message_size = BYTES;
    attr.max_recv_dtos = attr.max_request_dtos = 2;
    attr.max_recv_iov = attr.max_request_iov = 1;
    region_make(&fx, &o->memory, (size_t)n * 256, MEM_LOCAL);
    for (int i = 0; i < n; i++) {
        struct side *s = &o->side[i];

        *s = (struct side){ &fx, DAT_HANDLE_NULL, recv, req, conn };
        must_rc(dat_ep_create(fx.ia, fx.pz, recv, req, conn, &attr, &s->ep), DAT_SUCCESS, "dat_ep_create");
        must_rc(ud_receive(s, &o->memory, (size_t)i * 256, BYTES, (DAT_UINT64)i), DAT_SUCCESS, "dat_ep_post_recv");
    }
}

/* Accepts a request for each endpoint, with its number as private data. */
static void accept_all(struct others *o, DAT_EVD_HANDLE requests)
{
    DAT_EVENT e;

    for (int i = 0; i < o->part.endpoints; i++) {
        struct words w = { (DAT_UINT32)(o->part.number * o->part.endpoints + i), 0 };

        must(wait_event_ms(requests, LATE_MS, &e) &&
                 e.event_number == (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT,
             "%d requests of %d", i, o->part.endpoints);
        must_rc(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle, o->side[i].ep, sizeof w, &w), DAT_SUCCESS,
                "dat_cr_accept");
    }
    for (int i = 0; i < o->part.endpoints; i++) {
        int k = 0;

        must(wait_event_ms(o->side->conn, LATE_MS, &e), "%d addresses of %d", i, o->part.endpoints);
        while (k < o->part.endpoints - 1 && o->side[k].ep != e.event_data.connect_event_data.ep_handle)
            k++;
        must(ud_tells(&e, &o->side[k], DAT_IB_UD_PASSIVE_REMOTE_AH, "you", 4, &o->to[k]), "address %d is wrong", i);
    }
}

/* Returns the next datagram to the sender. */
static void answer(struct others *o)
{
    DAT_EVENT e;
    struct words w;
    int i;

    must(wait_event_ms(o->side->recv, LATE_MS, &e), "no datagram");
    i = (int)e.event_data.dto_completion_event_data.user_cookie.as_64;
    must(i < o->part.endpoints && ud_is_datagram(&e, &o->side[i], (DAT_UINT64)i, BYTES), "a wrong datagram");
    memcpy(&w, o->memory.mem + i * 256 + GRH, sizeof w);
    must(w.endpoint == (DAT_UINT32)(o->part.number * o->part.endpoints + i), "a datagram of endpoint %u at %d",
         (unsigned)w.endpoint, i);
    memmove(o->memory.mem + i * 256 + 128, o->memory.mem + i * 256 + GRH, BYTES);
    must_rc(ud_receive(&o->side[i], &o->memory, (size_t)i * 256, BYTES, (DAT_UINT64)i), DAT_SUCCESS,
            "dat_ep_post_recv");
    must_rc(ud_send(&o->side[i], &o->memory, (size_t)i * 256 + 128, BYTES, &o->to[i], (DAT_UINT64)i), DAT_SUCCESS,
            "dat_ib_post_send_ud");
    must(ud_sent(&o->side[i], (DAT_UINT64)i, BYTES), "a send fails");
}

static int other(struct link *up)
{
    struct others o;
    DAT_EVD_HANDLE requests;
    DAT_CONN_QUAL qual = 0;

    memset(&o, 0, sizeof o);
    must(LINK_RECV(up, o.part), "no part");
    many_descriptors();
    ud_open(&fx);
    requests = fx_evd(&fx, 2 * BURST, DAT_EVD_CR_FLAG);
    make_all(&o);
    fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &qual);
    must(LINK_SEND(up, qual), "the first process is gone");
    accept_all(&o, requests);
    for (int i = 0; i < ROUNDS * o.part.endpoints; i++)
        answer(&o);
    must(link_recv(up, &qual, sizeof qual, LATE_MS), "the first process is gone");
    for (int i = 0; i < o.part.endpoints; i++)
        must_rc(dat_ep_free(o.side[i].ep), DAT_SUCCESS, "dat_ep_free");
    fx_close(&fx);
    free(o.side);
    free(o.to);
    return 0;
}

/* ---- The endpoint with many peers ---- */

static struct peer peers[PROCESSES];
static DAT_CONN_QUAL quals[PROCESSES];
static struct side one;
static struct region memory; /* WINDOW send buffers, then WINDOW receive buffers */

static void start_all(int each)
{
    for (int i = 0; i < PROCESSES; i++) {
        struct part part = { i, each };

        peer_start(&peers[i], "other");
        must(LINK_SEND(&peers[i].link, part), "process %d is gone", i);
    }
    for (int i = 0; i < PROCESSES; i++)
        must(link_recv(&peers[i].link, &quals[i], sizeof quals[i], LATE_MS), "process %d does not listen", i);
}

/* Requests all addresses. Returns the number of distinct addresses that arrived. */
static int meet_all(struct known *to, int each)
{
    int all = PROCESSES * each, asked = 0, told = 0;

    while (told < all) {
        struct words w;
        struct known k;
        DAT_EVENT e;

        for (; asked < all && asked - told < BURST; asked++)
            must_rc(ud_connect(&one, fx_address(&fx), quals[asked % PROCESSES], "you", 4), DAT_SUCCESS,
                    "dat_ep_connect");
        if (!wait_event_ms(one.conn, LATE_MS, &e) || !ud_tells(&e, &one, DAT_IB_UD_REMOTE_AH, NULL, 0, &k) ||
            e.event_data.connect_event_data.private_data_size < (DAT_COUNT)sizeof w)
            break;
        memcpy(&w, e.event_data.connect_event_data.private_data, sizeof w);
        if (w.endpoint >= (DAT_UINT32)all || to[w.endpoint].ah.ah != NULL)
            break;
        to[w.endpoint] = k;
        told++;
    }
    return told;
}

/* Dequeues a reply and reposts the receive. Returns whether the reply was expected. */
static bool take_answer(unsigned char *waiting, int all, DAT_UINT32 round)
{
    struct words w;
    DAT_EVENT e;
    DAT_UINT64 place;
    bool good;

    if (!wait_event_ms(one.recv, LATE_MS, &e))
        return false;
    place = e.event_data.dto_completion_event_data.user_cookie.as_64;
    if (place >= WINDOW || !ud_is_datagram(&e, &one, place, BYTES))
        return false;
    memcpy(&w, memory.mem + (WINDOW + place) * 256 + GRH, sizeof w);
    good = w.endpoint < (DAT_UINT32)all && waiting[w.endpoint] && w.round == round &&
           pattern_check(memory.mem + (WINDOW + place) * 256 + GRH + sizeof w, BYTES - sizeof w, w.endpoint) < 0;
    if (good)
        waiting[w.endpoint] = 0;
    must_rc(ud_receive(&one, &memory, (WINDOW + (size_t)place) * 256, BYTES, place), DAT_SUCCESS, "dat_ep_post_recv");
    return good;
}

/* Sends a datagram to each peer, with up to WINDOW outstanding. Returns the number of replies. */
static int talk_to_all(const struct known *to, int all, DAT_UINT32 round)
{
    unsigned char *waiting = calloc((size_t)all, 1);
    int sent = 0, answered = 0;

    must(waiting != NULL, "out of memory");
    while (answered < all) {
        for (; sent < all && sent - answered < WINDOW; sent++) {
            /* Consecutive datagrams go to different processes. */
            struct words w = { (DAT_UINT32)(sent % PROCESSES * (all / PROCESSES) + sent / PROCESSES), round };
            size_t place = (size_t)(sent % WINDOW) * 256;
            DAT_EVENT e;

            memcpy(memory.mem + place, &w, sizeof w);
            pattern_fill(memory.mem + place + sizeof w, BYTES - sizeof w, w.endpoint);
            waiting[w.endpoint] = 1;
            must_rc(ud_send(&one, &memory, place, BYTES, &to[w.endpoint], w.endpoint), DAT_SUCCESS,
                    "dat_ib_post_send_ud");
            must(wait_event(one.req, &e) && e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS,
                 "a send fails");
        }
        if (!take_answer(waiting, all, round))
            break;
        answered++;
    }
    free(waiting);
    return answered;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "other", other }, { NULL, NULL } };
    int each, all, told, files, good = 0, freed = 0;
    struct known *to;
    DAT_EP_ATTR attr;
    uint64_t start;
    long resident;

    env_init(argc, argv, roles);
    ud_open(&fx);
    each = env_count(125, 8);
    all = PROCESSES * each;
    many_descriptors();
    to = calloc((size_t)all, sizeof *to);
    must(to != NULL, "out of memory");
    ud_attr(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = WINDOW;
    ud_make(&one, &fx, DAT_HANDLE_NULL, &attr);
    region_make(&fx, &memory, 2 * WINDOW * 256, MEM_LOCAL);
    for (unsigned i = 0; i < WINDOW; i++)
        must_rc(ud_receive(&one, &memory, (WINDOW + i) * 256, BYTES, i), DAT_SUCCESS, "dat_ep_post_recv");
    start_all(each);
    files = entries("/proc/self/fd");
    resident = resident_kib();

    start = now_ms();
    told = meet_all(to, each);
    diag("%d addresses after %lu ms, with %d descriptors and %ld KiB more", told, (unsigned long)(now_ms() - start),
         entries("/proc/self/fd") - files, resident_kib() - resident);
    if (!is_int(told, all, "dat_ep_connect: datagrams, one endpoint, %d others: their addresses", all))
        return done_testing();
    start = now_ms();
    for (DAT_UINT32 round = 0; round < ROUNDS; round++)
        good += talk_to_all(to, all, round);
    diag("%d datagrams and answers after %lu ms", good, (unsigned long)(now_ms() - start));
    is_int(good, ROUNDS * all, "dat_ib_post_send_ud: %d peers, %d rounds: each gets its own and answers", all, ROUNDS);
    ok(ud_quiet(&one), "dat_ib_post_send_ud: %d peers: no other event", all);
    for (int i = 0; i < all; i++)
        freed += dat_ib_ud_cm_free(one.ep, to[i].cm) == DAT_SUCCESS && dat_ib_ud_ah_free(one.ep, &to[i].ah) == DAT_SUCCESS;
    is_int(freed, all, "dat_ib_ud_cm_free, dat_ib_ud_ah_free: %d peers: success", all);
    for (int i = 0; i < PROCESSES; i++)
        LINK_SEND(&peers[i].link, quals[i]);
    good = 0;
    for (int i = 0; i < PROCESSES; i++)
        good += peer_join(&peers[i], LATE_MS) == 0;
    is_int(good, PROCESSES, "dat_ep_free: %d peers: the other processes end well", all);
    ok(quiet(one.conn), "dat_ep_free: %d peers: the first process sees no event", all);
    side_free(&one);
    fx_close(&fx);
    free(to);
    return done_testing();
}
