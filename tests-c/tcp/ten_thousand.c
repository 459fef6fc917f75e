/*
 * ten_thousand.c - time, memory and idle CPU time of 10,000 connections between two processes; fewer if the limit on
 * descriptors is lower.
 *
 *   DAT_TEST_CONNECTIONS=N   sets the number of connections
 */
#define _DEFAULT_SOURCE
#include "common/fixture.h"
#include "common/usage.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BURST = 50, SIZE = 64, REST_MS = 5000, MAX_PERCENT = 2, ESTABLISHED_MS = 6000, CLOSED_MS = 3000, MAX_KIB = 8,
       OTHERS = 100 };

struct invitation {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    uint32_t n;
};

static struct fx fx;
static uint32_t n;
static DAT_EP_HANDLE *ep;
static DAT_EVD_HANDLE data, conn;
static struct region memory;

static void many_descriptors(void)
{
    struct rlimit limit;

    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    if (n > limit.rlim_cur - OTHERS)
        n = (uint32_t)limit.rlim_cur - OTHERS;
}

static void make(uint32_t i)
{
    DAT_EP_ATTR attr;

    attr_default(&attr);
    attr.max_recv_dtos = attr.max_request_dtos = 2;
    attr.max_recv_iov = attr.max_request_iov = 1;
    must_rc(dat_ep_create(fx.ia, fx.pz, data, data, conn, &attr, &ep[i]), DAT_SUCCESS, "dat_ep_create");
}

static void open_all(void)
{
    many_descriptors();
    data = fx_evd(&fx, 2 * (DAT_COUNT)n, DAT_EVD_DTO_FLAG);
    conn = fx_evd(&fx, 2 * (DAT_COUNT)n, DAT_EVD_CONNECTION_FLAG);
    region_make(&fx, &memory, (size_t)n * SIZE, MEM_LOCAL);
    ep = calloc(n, sizeof(DAT_EP_HANDLE));
    must(ep != NULL, "out of memory");
}

static bool all(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, uint32_t count)
{
    DAT_EVENT event;

    for (; count > 0; count--)
        if (!wait_number(evd, number, &event) ||
            (number == DAT_DTO_COMPLETION_EVENT && event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS))
            return false;
    return true;
}

/* The second process: connects each endpoint and sends a message. */
static int crowd(struct link *up)
{
    struct invitation card;
    long used;

    fx_open(&fx);
    must(LINK_RECV(up, card), "no invitation");
    n = card.n;
    open_all();
    used = resident_kib();
    for (uint32_t i = 0; i < n;) {
        uint32_t burst = n - i < BURST ? n - i : BURST;

        for (uint32_t k = i; k < i + burst; k++) {
            make(k);
            must_rc(dat_ep_connect(ep[k], (DAT_IA_ADDRESS_PTR)&card.address, card.qual, env_us(3 * SOON_MS), 0, NULL,
                                   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
                    DAT_SUCCESS, "dat_ep_connect");
        }
        must(all(conn, DAT_CONNECTION_EVENT_ESTABLISHED, burst), "no ESTABLISHED");
        i += burst;
    }
    must(link_hear(up, "send"), "no start");
    for (uint32_t i = 0; i < n; i++) {
        DAT_LMR_TRIPLET t = segment(&memory, (size_t)i * SIZE, SIZE);

        must_rc(dat_ep_post_send(ep[i], 1, &t, cookie(i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS, "dat_ep_post_send");
    }
    must(all(data, DAT_DTO_COMPLETION_EVENT, n), "a Send fails");
    used = resident_kib() - used;
    must(LINK_SEND(up, used) && link_hear(up, "end"), "the other process is gone");
    for (uint32_t i = 0; i < n; i++)
        must_rc(dat_ep_disconnect(ep[i], DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ep_disconnect");
    must(all(conn, DAT_CONNECTION_EVENT_DISCONNECTED, n), "no DISCONNECTED");
    must(link_hear(up, "bye"), "the other process is gone");
    fx_close(&fx);
    free(ep);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "crowd", crowd }, { NULL, NULL } };
    const char *wanted = getenv("DAT_TEST_CONNECTIONS");
    struct invitation card;
    DAT_EVD_HANDLE requests;
    struct peer p;
    uint64_t start, took;
    long resident, theirs, used[2];
    int files;

    env_init(argc, argv, roles);
    n = wanted != NULL ? (uint32_t)atoi(wanted) : (uint32_t)env_count(10000, 100);
    fx_open(&fx);
    open_all();
    requests = fx_evd(&fx, 2 * BURST, DAT_EVD_CR_FLAG);
    peer_start(&p, "crowd");
    /* The first wait on an EVD allocates a descriptor, which `files` must include. */
    must(quiet(data) && quiet(conn) && quiet(requests), "more events than expected");
    files = entries("/proc/self/fd");
    resident = resident_kib();
    memset(&card, 0, sizeof card);
    fx_listen_on(&fx, requests, DAT_PSP_CONSUMER_FLAG, &card.qual);
    card.address = fx.address;
    card.n = n;

    start = now_ms();
    must(LINK_SEND(&p.link, card), "the crowd is gone");
    for (uint32_t i = 0; i < n; i++) {
        DAT_LMR_TRIPLET t = segment(&memory, (size_t)i * SIZE, SIZE);

        make(i);
        must_rc(dat_ep_post_recv(ep[i], 1, &t, cookie(i), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(dat_cr_accept(next_request(requests), ep[i], 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    }
    ok(all(conn, DAT_CONNECTION_EVENT_ESTABLISHED, n), "%u connections are established", n);
    took = now_ms() - start;
    ok(took <= env_ms(ESTABLISHED_MS), "within %d ms", ESTABLISHED_MS);
    diag("in %llu ms", (unsigned long long)took);
    must(link_say(&p.link, "send"), "the crowd is gone");
    ok(all(data, DAT_DTO_COMPLETION_EVENT, n), "a message arrives on each");
    resident = resident_kib() - resident;
    must(LINK_RECV(&p.link, theirs), "the crowd is gone");
    ok(resident <= MAX_KIB * (long)n && theirs <= MAX_KIB * (long)n, "at most %d KiB for each connection", MAX_KIB);
    diag("%ld KiB a connection on the passive side, %ld KiB on the active side", resident / (long)n, theirs / (long)n);

    used[0] = cpu_ms(getpid());
    used[1] = cpu_ms(p.pid);
    /* The test must not use CPU time itself. */
    must(poll(NULL, 0, REST_MS) == 0, "poll");
    used[0] = cpu_ms(getpid()) - used[0];
    used[1] = cpu_ms(p.pid) - used[1];
    ok(used[0] + used[1] <= (long)env_ms(2 * REST_MS * MAX_PERCENT / 100),
       "they rest: at most %d %% of a processor a process",
       MAX_PERCENT);
    diag("%ld ms and %ld ms in %d ms", used[0], used[1], REST_MS);

    start = now_ms();
    must(link_say(&p.link, "end"), "the crowd is gone");
    ok(all(conn, DAT_CONNECTION_EVENT_DISCONNECTED, n), "all of them end");
    for (uint32_t i = 0; i < n; i++)
        must_rc(dat_ep_free(ep[i]), DAT_SUCCESS, "dat_ep_free");
    took = now_ms() - start;
    ok(took <= env_ms(CLOSED_MS), "within %d ms", CLOSED_MS);
    diag("in %llu ms", (unsigned long long)took);
    files++; /* the socket of the service point, which still exists */
    ok(wait_until(descriptors_at_most, &files, SOON_MS), "all have ended: no descriptor more than before");
    must(link_say(&p.link, "bye"), "the crowd is gone");
    peer_ok(&p, "the other process ends in good order");
    fx_close(&fx);
    free(ep);
    return done_testing();
}
