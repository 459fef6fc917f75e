/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * connector.c - programs other than dat-ping, as peers of dat-ping.
 *
 *     connector COMMAND ADAPTER QUALIFIER [ADDRESS]
 *
 * - connect: connects to this host or an IPv4 address; disconnects at the end of standard input
 * - slander: connects to this host like dat-ping, sends one message of wrong bytes, waits for the end of the connection
 * - accept: accepts one connection and waits for its end
 * - lie: accepts like dat-ping, and returns every message unchanged, which dat-ping does not expect
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

#define DEADLINE (20 * 1000 * 1000)
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

static int connect_and_stay(DAT_CONN_QUAL qualifier, const char *address)
{
    char line[16];

    connect_to(address, qualifier, 0, NULL);
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

int main(int argc, char **argv)
{
    DAT_CONN_QUAL qualifier;

    if (argc < 4)
        return 2;
    qualifier = strtoull(argv[3], NULL, 10);
    set_up(argv[2]);
    if (strcmp(argv[1], "connect") == 0)
        return connect_and_stay(qualifier, argc > 4 ? argv[4] : "127.0.0.1");
    if (strcmp(argv[1], "slander") == 0)
        return slander(qualifier);
    if (strcmp(argv[1], "accept") == 0)
        return accept_and_stay(qualifier);
    return lie(qualifier);
}
