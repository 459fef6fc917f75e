/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * epoll.c: waits for events of uDAPL 2.0 and for other descriptors in one epoll.
 *
 *     epoll [ADAPTER]         waits for a message; the default adapter is shm
 *     hello2 ADAPTER HOST     sends it, from another process: see hello2.c
 *
 * A notification object with a descriptor becomes readable when one of its
 * dispatchers gets an event. The other descriptor here is a timer.
 *
 * Build: cc epoll.c $(pkg-config --cflags --libs dat2) -o epoll
 */
#define _POSIX_C_SOURCE 200112L /* declares CLOCK_MONOTONIC, also with -std=c99 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <dat2/udat.h>

#define PORT 4711 /* the connection qualifier of hello2 */
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

static void fail(const char *text)
{
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void watch(int set, int descriptor)
{
    struct epoll_event readable = { .events = EPOLLIN, .data.fd = descriptor };

    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &readable) != 0)
        fail("epoll_ctl fails");
}

static char memory[64];

/* Returns whether the message has arrived. */
static int handle(DAT_EP_HANDLE ep, const DAT_EVENT *event)
{
    switch (event->event_number) {
    case DAT_CONNECTION_REQUEST_EVENT:
        MUST(dat_cr_accept(event->event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL));
        return 0;
    case DAT_CONNECTION_EVENT_ESTABLISHED:
    case DAT_CONNECTION_EVENT_DISCONNECTED: /* can precede the message, which is on the other dispatcher */
        return 0;
    case DAT_DTO_COMPLETION_EVENT:
        if (event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
            fail("the receive has failed");
        printf("received: %s\n", memory);
        return 1;
    default:
        fail("the connection has failed");
        return 0;
    }
}

int main(int argc, char **argv)
{
    char shm[] = "shm";
    DAT_REGION_DESCRIPTION region = { .for_va = memory };
    DAT_LMR_TRIPLET piece = { .virtual_address = (DAT_VADDR)memory, .segment_length = sizeof memory };
    DAT_DTO_COOKIE cookie = { .as_64 = 1 }; /* the completion returns it */
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, dispatchers[2], triggered;
    DAT_IA_HANDLE ia; DAT_PZ_HANDLE pz; DAT_LMR_HANDLE lmr; DAT_EP_HANDLE ep; DAT_PSP_HANDLE psp; DAT_CNO_HANDLE cno;
    DAT_FD descriptor;
    DAT_EVENT event;
    struct itimerspec minute = { .it_value.tv_sec = 60 };
    struct epoll_event ready;
    int set = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), done = 0;

    if (argc > 2) {
        fprintf(stderr, "usage: %s [ADAPTER]\n", argv[0]);
        return 2;
    }
    MUST(dat_ia_open(argc > 1 ? argv[1] : shm, 8, &async, &ia));
    MUST(dat_pz_create(ia, &pz));
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG,
                        DAT_VA_TYPE_VA, &lmr, &piece.lmr_context, NULL, NULL, NULL));
    MUST(dat_cno_fd_create(ia, &descriptor, &cno));
    MUST(dat_evd_create(ia, 8, cno, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &dispatchers[0]));
    MUST(dat_evd_create(ia, 8, cno, DAT_EVD_DTO_FLAG, &dispatchers[1]));
    MUST(dat_ep_create(ia, pz, dispatchers[1], dispatchers[1], dispatchers[0], NULL, &ep));
    MUST(dat_ep_post_recv(ep, 1, &piece, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    MUST(dat_psp_create(ia, PORT, dispatchers[0], DAT_PSP_CONSUMER_FLAG, &psp));
    watch(set, descriptor);
    watch(set, timer);
    timerfd_settime(timer, 0, &minute, NULL);
    fprintf(stderr, "waiting\n");

    while (!done) {
        if (epoll_wait(set, &ready, 1, -1) == 1 && ready.data.fd == timer)
            fail("no message within a minute");
        /* The trigger names one dispatcher. Others may have events, too, so take all events of all dispatchers. */
        dat_cno_trigger(cno, &triggered);
        for (int i = 0; i < 2; i++)
            while (!done && dat_evd_dequeue(dispatchers[i], &event) == DAT_SUCCESS)
                done = handle(ep, &event);
    }
    MUST(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)); /* also frees all objects of the adapter */
    return 0;
}
