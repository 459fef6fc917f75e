/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * connector.c - other programs, as peers of dat-ping and dat-perf.
 *
 *     connector COMMAND ADAPTER QUALIFIER [ADDRESS|THREAD]
 *
 * - connect: connects to this host or an IPv4 address; disconnects at the end of standard input
 * - send: the same, after a message for which the peer has no receive
 * - slander: connects to this host like dat-ping, sends one message of wrong bytes, waits for the end of the connection
 * - accept: accepts one connection and waits for its end
 * - neglect: the same with receives, but never dequeues their completions
 * - hold: receives a connection request, and neither accepts nor rejects it; waits for the end of standard input
 * - lie: accepts like dat-ping, and returns every message unchanged, which dat-ping does not expect
 * - stray: connects to this host like dat-perf, and sends a message to a thread on a connection without traffic, or for
 *   "srq" to the shared receive queue of the first thread; prints the response
 * - stall: accepts like dat-perf, but no connection for the measurement
 * - overflow: sends itself one request more than the event dispatcher has room for, waits for the end of standard input
 *
 * Each prints its progress, and exits with 0 if all steps succeeded.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/dat.h"

#define DEADLINE (60 * 1000 * 1000)
#define BUFFERS  4
#define LONGEST  4096
#define HELLO    36 /* bytes of dat-ping's private data */
#define HEAD     16 /* bytes of the header of its messages */
#define TRANSFER 64

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE requests, transfers, connections;
static DAT_EP_HANDLE ep;

static void must(const char *call, DAT_RETURN rc)
{
    const char *major = "", *minor = "";

    if (rc == DAT_SUCCESS)
        return;
    (void)dat_strerror(rc, &major, &minor);
    fprintf(stderr, "%s: %s %s\n", call, major, minor);
    exit(1);
}

static void say(const char *what)
{
    puts(what);
    fflush(stdout);
}

static DAT_EVENT next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER wanted)
{
    DAT_EVENT event;
    DAT_COUNT more;

    must("dat_evd_wait", dat_evd_wait(evd, DEADLINE, 1, &event, &more));
    if (wanted != 0 && event.event_number != wanted) {
        fprintf(stderr, "event 0x%x instead of 0x%x\n", (unsigned)event.event_number, (unsigned)wanted);
        exit(1);
    }
    return event;
}

static void set_up(char *adapter)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

    must("dat_ia_open", dat_ia_open(adapter, 8, &async, &ia));
    must("dat_pz_create", dat_pz_create(ia, &pz));
    must("dat_evd_create", dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
    must("dat_evd_create", dat_evd_create(ia, 8 * BUFFERS, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &transfers));
    must("dat_evd_create", dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections));
    must("dat_ep_create", dat_ep_create(ia, pz, transfers, transfers, connections, NULL, &ep));
}

static DAT_CR_HANDLE listen_once(DAT_CONN_QUAL qualifier)
{
    DAT_PSP_HANDLE psp;

    must("dat_psp_create", dat_psp_create(ia, qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp));
    say("listening");
    return next(requests, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle;
}

static void connect_to(const char *address, DAT_CONN_QUAL qualifier, DAT_COUNT size, void *private_data)
{
    struct sockaddr_in there;

    memset(&there, 0, sizeof there);
    there.sin_family = AF_INET;
    if (inet_pton(AF_INET, address, &there.sin_addr) != 1)
        exit(2);
    must("dat_ep_connect", dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&there, qualifier, DEADLINE, size, private_data,
                                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    (void)next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    say("connected");
}

/* Registers memory and returns its contexts. */
static void *memory(size_t size, DAT_LMR_CONTEXT *local, DAT_RMR_CONTEXT *remote)
{
    DAT_REGION_DESCRIPTION region;
    DAT_LMR_HANDLE lmr;
    void *base = calloc(1, size);

    if (base == NULL)
        exit(1);
    memset(&region, 0, sizeof region);
    region.for_va = base;
    must("dat_lmr_create", dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, size, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr,
                                          local, remote, NULL, NULL));
    return base;
}

static DAT_LMR_TRIPLET segment(DAT_LMR_CONTEXT context, char *at, DAT_SEG_LENGTH length)
{
    DAT_LMR_TRIPLET triplet;

    memset(&triplet, 0, sizeof triplet);
    triplet.lmr_context = context;
    triplet.virtual_address = (DAT_VADDR)(uintptr_t)at;
    triplet.segment_length = length;
    return triplet;
}

static int connect_and_stay(DAT_CONN_QUAL qualifier, const char *address, int sends)
{
    char line[16];

    connect_to(address, qualifier, 0, NULL);
    if (sends) {
        DAT_LMR_CONTEXT local;
        DAT_RMR_CONTEXT remote;
        char *message = memory(TRANSFER, &local, &remote);
        DAT_LMR_TRIPLET iov = segment(local, message, TRANSFER);
        DAT_DTO_COOKIE cookie;

        cookie.as_64 = 0;
        must("dat_ep_post_send", dat_ep_post_send(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    }
    while (fgets(line, sizeof line, stdin) != NULL)
        ;
    must("dat_ep_disconnect", dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
    (void)next(connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    return 0;
}

static int accept_and_stay(DAT_CONN_QUAL qualifier)
{
    must("dat_cr_accept", dat_cr_accept(listen_once(qualifier), ep, 0, NULL));
    (void)next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    say("connected");
    (void)next(connections, 0);
    say("gone");
    return 0;
}

static int neglect(DAT_CONN_QUAL qualifier)
{
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT remote;
    char *buffer = memory(TRANSFER, &local, &remote);
    DAT_LMR_TRIPLET iov = segment(local, buffer, TRANSFER);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = 0;
    must("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    return accept_and_stay(qualifier);
}

static int hold(DAT_CONN_QUAL qualifier)
{
    (void)listen_once(qualifier);
    say("requested");
    return getchar() == EOF ? 0 : 1;
}

static void put(unsigned char *to, uint64_t value, int bytes)
{
    while (bytes-- > 0)
        *to++ = (unsigned char)(value >> (8 * bytes));
}

static int slander(DAT_CONN_QUAL qualifier)
{
    unsigned char hello[HELLO] = "dat-ping\1";
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT remote;
    DAT_LMR_TRIPLET iov;
    DAT_DTO_COOKIE cookie;
    char *buffers;

    buffers = memory(2 * LONGEST, &local, &remote);
    put(hello + 12, TRANSFER, 4);
    put(hello + 24, remote, 4);
    put(hello + 28, (uintptr_t)buffers, 8);
    cookie.as_64 = 0;
    iov = segment(local, buffers + LONGEST, LONGEST);
    must("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    connect_to("127.0.0.1", qualifier, HELLO, hello);
    /* Zeros are a header of round 0, followed by bytes that dat-ping never sends. */
    iov = segment(local, buffers, HEAD + TRANSFER);
    must("dat_ep_post_send", dat_ep_post_send(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    for (int i = 0; i < 2; i++)
        (void)next(transfers, DAT_DTO_COMPLETION_EVENT);
    say("answered");
    (void)next(connections, 0);
    say("gone");
    return 0;
}

static int lie(DAT_CONN_QUAL qualifier)
{
    unsigned char hello[HELLO];
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT remote;
    DAT_LMR_TRIPLET iov;
    DAT_DTO_COOKIE cookie;
    DAT_CR_HANDLE request;
    DAT_CR_PARAM asked;
    DAT_EVENT event;
    char *buffers;

    request = listen_once(qualifier);
    must("dat_cr_query", dat_cr_query(request, DAT_CR_FIELD_ALL, &asked));
    if (asked.private_data_size < HELLO)
        return 1;
    memcpy(hello, asked.private_data, HELLO);
    buffers = memory((BUFFERS + 3) * LONGEST, &local, &remote);
    hello[10] = 0; /* no shared receive queue */
    put(hello + 24, remote, 4);
    put(hello + 28, (uintptr_t)(buffers + BUFFERS * LONGEST), 8);
    for (unsigned i = 0; i < BUFFERS; i++) {
        iov = segment(local, buffers + i * LONGEST, LONGEST);
        cookie.as_64 = i;
        must("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    }
    must("dat_cr_accept", dat_cr_accept(request, ep, HELLO, hello));
    (void)next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    say("connected");

    for (;;) {
        const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

        event = next(transfers, DAT_DTO_COMPLETION_EVENT);
        if (done->status == DAT_DTO_ERR_FLUSHED)
            return 0;
        if (done->status != DAT_DTO_SUCCESS)
            return 1;
        cookie.as_64 = done->user_cookie.as_64;
        if (cookie.as_64 < BUFFERS) {
            iov = segment(local, buffers + cookie.as_64 * LONGEST, (DAT_SEG_LENGTH)done->transfered_length);
            cookie.as_64 += BUFFERS;
            must("dat_ep_post_send", dat_ep_post_send(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
        } else {
            cookie.as_64 -= BUFFERS;
            iov = segment(local, buffers + cookie.as_64 * LONGEST, LONGEST);
            must("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
        }
    }
}

/* ---- dat-perf ---- */

#define GREETING "dat-perf 6"
#define CONTROL  16384 /* bytes of a control message */
#define THREADS  3

/* Buffers of received messages, then of sent messages. */
static char *control;
static DAT_LMR_CONTEXT control_context;

static void receive_into(DAT_EP_HANDLE at, unsigned buffer)
{
    DAT_LMR_TRIPLET iov = segment(control_context, control + buffer * CONTROL, CONTROL);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = buffer;
    must("dat_ep_post_recv", dat_ep_post_recv(at, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void send_from(DAT_EP_HANDLE at, unsigned buffer, DAT_SEG_LENGTH length)
{
    DAT_LMR_TRIPLET iov = segment(control_context, control + buffer * CONTROL, length);
    DAT_DTO_COOKIE cookie;

    cookie.as_64 = buffer;
    must("dat_ep_post_send", dat_ep_post_send(at, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void set_up_control(void)
{
    DAT_RMR_CONTEXT remote;

    control = memory(2 * BUFFERS * CONTROL, &control_context, &remote);
    for (unsigned i = 0; i < BUFFERS; i++)
        receive_into(ep, i);
}

/* Sends a control message. */
static void tell(const char *json)
{
    static unsigned buffer = BUFFERS;

    strcpy(control + buffer * CONTROL, json);
    send_from(ep, buffer++, strlen(json));
}

/* Waits for a control message. */
static const char *hear(void)
{
    for (;;) {
        DAT_EVENT event = next(transfers, DAT_DTO_COMPLETION_EVENT);
        const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

        if (done->status != DAT_DTO_SUCCESS)
            exit(1);
        if (done->user_cookie.as_64 < BUFFERS)
            return control + done->user_cookie.as_64 * CONTROL;
    }
}

static int stray(DAT_CONN_QUAL qualifier, const char *to)
{
    const char *srq = strcmp(to, "srq") == 0 ? "true" : "false";
    unsigned thread = (unsigned)atoi(to);
    DAT_EP_HANDLE first = ep, eps[THREADS][2];
    DAT_EVD_HANDLE data;
    unsigned long long measurement;
    char text[512];

    set_up_control();
    connect_to("127.0.0.1", qualifier, (DAT_COUNT)strlen(GREETING), (void *)GREETING);
    sprintf(text,
            "{\"Plan\":{\"test\":\"send_bw\",\"size\":8,\"iterations\":1,\"warmup\":0,\"outstanding\":1,\"connections\":2,"
            "\"active\":1,\"threads\":%d,\"pause\":0,\"srq\":%s,\"wait\":true,\"target_polls\":false,\"verify\":%s,"
            "\"both\":false,\"reverse\":false,\"near\":true,\"crowded\":false}}",
            THREADS, srq, srq);
    tell(text);
    if (sscanf(hear(), "{\"Ready\":%llu}", &measurement) != 1)
        return 1;
    tell("{\"Memory\":[[0,0,0],[0,0,0],[0,0,0]]}");
    (void)hear();
    must("dat_evd_create", dat_evd_create(ia, 8 * THREADS, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &data));
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned j = 0; j < 2; j++) {
            must("dat_ep_create", dat_ep_create(ia, pz, data, data, connections, NULL, &ep));
            sprintf(text, "dat-data %llu %u %u.", measurement, i, j);
            connect_to("127.0.0.1", qualifier, (DAT_COUNT)strlen(text), text);
            eps[i][j] = ep;
        }
    ep = first;
    tell("{\"Turn\":{\"transfers\":1,\"counts\":false}}");
    /* The first thread waits for the others after its own transfers. */
    for (unsigned i = 0; thread > 0 && i < THREADS; i++)
        if (i != thread) {
            receive_into(eps[i][0], 0);
            send_from(eps[i][0], BUFFERS, 8);
            for (int j = 0; j < 2; j++)
                (void)next(data, DAT_DTO_COMPLETION_EVENT);
        }
    send_from(eps[thread][1], BUFFERS, 8);
    say(hear());
    return 0;
}

static int stall(DAT_CONN_QUAL qualifier)
{
    DAT_CR_HANDLE request = listen_once(qualifier);

    set_up_control();
    must("dat_cr_accept", dat_cr_accept(request, ep, (DAT_COUNT)strlen(GREETING), (DAT_PVOID)GREETING));
    (void)next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)hear();
    tell("{\"Ready\":1}");
    tell("{\"Memory\":[[0,0,0]]}");
    (void)next(requests, DAT_CONNECTION_REQUEST_EVENT);
    say("requested");
    (void)next(connections, 0);
    return 0;
}

static int overflow(DAT_CONN_QUAL qualifier)
{
    DAT_EVD_HANDLE evd;
    DAT_EVD_PARAM param;
    DAT_PSP_HANDLE psp;
    DAT_IA_ATTR attr;

    must("dat_evd_create", dat_evd_create(ia, 1, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &evd));
    must("dat_evd_query", dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    must("dat_psp_create", dat_psp_create(ia, qualifier, evd, DAT_PSP_CONSUMER_FLAG, &psp));
    must("dat_ia_query", dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    for (DAT_COUNT i = 0; i <= param.evd_qlen; i++) {
        must("dat_ep_create", dat_ep_create(ia, pz, transfers, transfers, connections, NULL, &ep));
        must("dat_ep_connect", dat_ep_connect(ep, attr.ia_address_ptr, qualifier, DEADLINE, 0, NULL,
                                              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    }
    (void)next(connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    say("overflown");
    return getchar() == EOF ? 0 : 1;
}

int main(int argc, char **argv)
{
    DAT_CONN_QUAL qualifier;

    if (argc < 4)
        return 2;
    qualifier = strtoull(argv[3], NULL, 10);
    set_up(argv[2]);
    if (strcmp(argv[1], "connect") == 0)
        return connect_and_stay(qualifier, argc > 4 ? argv[4] : "127.0.0.1", 0);
    if (strcmp(argv[1], "send") == 0)
        return connect_and_stay(qualifier, argc > 4 ? argv[4] : "127.0.0.1", 1);
    if (strcmp(argv[1], "slander") == 0)
        return slander(qualifier);
    if (strcmp(argv[1], "accept") == 0)
        return accept_and_stay(qualifier);
    if (strcmp(argv[1], "neglect") == 0)
        return neglect(qualifier);
    if (strcmp(argv[1], "hold") == 0)
        return hold(qualifier);
    if (strcmp(argv[1], "stray") == 0)
        return stray(qualifier, argc > 4 ? argv[4] : "0");
    if (strcmp(argv[1], "stall") == 0)
        return stall(qualifier);
    if (strcmp(argv[1], "overflow") == 0)
        return overflow(qualifier);
    return lie(qualifier);
}
