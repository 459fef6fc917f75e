/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hello2.c: one process sends a message to another, with uDAPL 2.0.
 *
 *     hello2 [ADAPTER]       waits for a message; the default adapter is shm
 *     hello2 ADAPTER HOST    sends a message to the process that waits on HOST
 *
 * It differs from hello.c in the header and in an additional argument of dat_lmr_create.
 * hello and hello2 can connect to each other.
 *
 * Build: cc hello2.c $(pkg-config --cflags --libs dat2) -o hello2
 */
#define _POSIX_C_SOURCE 200112L /* declares getaddrinfo, also with -std=c99 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <dat2/udat.h>

#define PORT 4711 /* the connection qualifier; over a network it is a port */
#define MUST(call) must(#call, call)

static void must(const char *call, DAT_RETURN rc)
{
    const char *type = "", *subtype = "";

    if (rc == DAT_SUCCESS)
        return;
    dat_strerror(rc, &type, &subtype);
    fprintf(stderr, "%s: %s %s\n", call, type, subtype);
    exit(1);
}

static const char *name(DAT_EVENT_NUMBER event)
{
#define NAME(event) case event: return #event
    switch (event) {
    NAME(DAT_CONNECTION_REQUEST_EVENT);
    NAME(DAT_CONNECTION_EVENT_ESTABLISHED);
    NAME(DAT_CONNECTION_EVENT_PEER_REJECTED);
    NAME(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    NAME(DAT_CONNECTION_EVENT_UNREACHABLE);
    NAME(DAT_CONNECTION_EVENT_TIMED_OUT);
    NAME(DAT_CONNECTION_EVENT_DISCONNECTED);
    NAME(DAT_CONNECTION_EVENT_BROKEN);
    NAME(DAT_DTO_COMPLETION_EVENT);
    default: return "another event";
    }
}

static DAT_EVENT next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER wanted)
{
    DAT_EVENT event;
    DAT_COUNT more;

    MUST(dat_evd_wait(evd, 60 * 1000000, 1, &event, &more)); /* at most 60 seconds */
    if (event.event_number != wanted) {
        fprintf(stderr, "%s came instead of %s\n", name(event.event_number), name(wanted));
        exit(1);
    }
    return event;
}

int main(int argc, char **argv)
{
    static char memory[64], shm[] = "shm";
    DAT_REGION_DESCRIPTION region = { .for_va = memory };
    DAT_LMR_TRIPLET piece = { .virtual_address = (DAT_VADDR)memory, .segment_length = sizeof memory };
    DAT_DTO_COOKIE cookie = { .as_64 = 1 }; /* the completion returns it */
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, connections, transfers;
    DAT_IA_HANDLE ia; DAT_PZ_HANDLE pz; DAT_LMR_HANDLE lmr; DAT_EP_HANDLE ep; DAT_PSP_HANDLE psp;
    DAT_EVENT event;
    struct addrinfo *host;

    if (argc > 3) {
        fprintf(stderr, "usage: %s [ADAPTER [HOST]]\n", argv[0]);
        return 2;
    }
    MUST(dat_ia_open(argc > 1 ? argv[1] : shm, 8, &async, &ia));
    MUST(dat_pz_create(ia, &pz));
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG,
                        DAT_VA_TYPE_VA, &lmr, &piece.lmr_context, NULL, NULL, NULL));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &transfers));
    MUST(dat_ep_create(ia, pz, transfers, transfers, connections, NULL, &ep));
    if (argc <= 2) { /* the server */
        MUST(dat_ep_post_recv(ep, 1, &piece, cookie, DAT_COMPLETION_DEFAULT_FLAG));
        MUST(dat_psp_create(ia, PORT, connections, DAT_PSP_CONSUMER_FLAG, &psp));
        fprintf(stderr, "waiting\n");
        event = next(connections, DAT_CONNECTION_REQUEST_EVENT);
        MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL));
        next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    } else { /* the client */
        if (getaddrinfo(argv[2], NULL, NULL, &host) != 0) {
            fprintf(stderr, "%s: no address has this name\n", argv[2]);
            return 1;
        }
        MUST(dat_ep_connect(ep, host->ai_addr, PORT, 5 * 1000000, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
        next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        snprintf(memory, sizeof memory, "hello");
        MUST(dat_ep_post_send(ep, 1, &piece, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    }
    event = next(transfers, DAT_DTO_COMPLETION_EVENT);
    if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) {
        fprintf(stderr, "completion status %d\n", (int)event.event_data.dto_completion_event_data.status);
        return 1;
    }
    printf("%s: %s\n", argc <= 2 ? "received" : "sent", memory);
    MUST(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)); /* also frees all objects of the adapter */
    return 0;
}
