/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * datagrams.c: two processes exchange unreliable datagrams, an extension of uDAPL 2.0.
 *
 *     datagrams [ADAPTER]       waits for a datagram, and replies; the default adapter is shm
 *     datagrams ADAPTER HOST    sends a datagram to the process that waits on HOST, and waits for the reply
 *
 * An endpoint for datagrams can have many peers: the address handle in each
 * send selects the receiver. dat_ep_connect and dat_cr_accept make no
 * connection here, but exchange address handles.
 *
 * Build: cc datagrams.c $(pkg-config --cflags --libs dat2) -o datagrams
 */
#define _POSIX_C_SOURCE 200112L /* declares getaddrinfo, also with -std=c99 */
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#define PORT   4711 /* the connection qualifier; over a network it is a port */
#define SIZE   64
#define HEADER 40 /* bytes before each datagram in a receive buffer, reserved for the device */
#define WAIT   (60 * 1000000) /* microseconds: the longest wait for an event; datagrams can be lost */
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

static DAT_EVENT next(DAT_EVD_HANDLE evd, DAT_IB_EVENT_NUMBER wanted)
{
    DAT_EVENT event;
    DAT_COUNT more;

    MUST(dat_evd_wait(evd, WAIT, 1, &event, &more));
    if ((unsigned)event.event_number != (unsigned)wanted) {
        fprintf(stderr, "event 0x%x instead of 0x%x\n", (unsigned)event.event_number, (unsigned)wanted);
        exit(1);
    }
    return event;
}

/* Returns whether the adapter supports datagrams, as its attribute DAT_IB_UD indicates. */
static int has_datagrams(DAT_IA_HANDLE ia)
{
    DAT_PROVIDER_ATTR attr;

    MUST(dat_ia_query(ia, NULL, DAT_IA_FIELD_NONE, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
    for (int i = 0; i < attr.num_provider_specific_attr; i++)
        if (strcmp(attr.provider_specific_attr[i].name, DAT_IB_ATTR_UD) == 0)
            return strcmp(attr.provider_specific_attr[i].value, "TRUE") == 0;
    return 0;
}

static struct { char send[SIZE], receive[HEADER + SIZE]; } memory;
static DAT_LMR_CONTEXT context; /* identifies the memory */
static DAT_EVD_HANDLE connections, transfers;
static DAT_EP_HANDLE ep;
static const DAT_DTO_COOKIE cookie = { .as_64 = 1 }; /* the completion returns it */

static DAT_LMR_TRIPLET segment(void *start, DAT_VLEN length)
{
    DAT_LMR_TRIPLET segment;

    memset(&segment, 0, sizeof segment);
    segment.lmr_context = context;
    segment.virtual_address = (DAT_VADDR)(uintptr_t)start;
    segment.segment_length = (DAT_SEG_LENGTH)length;
    return segment;
}

/* Returns the address handle of the peer, from the event of the exchange. */
static DAT_IB_ADDR_HANDLE meet(void)
{
    DAT_EVENT event = next(connections, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
    DAT_IB_EXTENSION_EVENT_DATA data;

    memcpy(&data, event.event_extension_data, sizeof data);
    return data.remote_ah;
}

static void complete(int operation, DAT_VLEN length)
{
    DAT_EVENT event = next(transfers, DAT_IB_DTO_EVENT);
    DAT_DTO_COMPLETION_EVENT_DATA data = event.event_data.dto_completion_event_data;

    if ((int)data.operation != operation || data.status != DAT_DTO_SUCCESS || data.transfered_length != length)
        fail("a transfer has failed");
}

static void send_one(DAT_IB_ADDR_HANDLE peer, const char *text)
{
    DAT_LMR_TRIPLET out = segment(memory.send, SIZE);

    snprintf(memory.send, SIZE, "%s", text);
    MUST(dat_ib_post_send_ud(ep, 1, &out, &peer, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    /* The completion means that the memory can be reused, not that the datagram has arrived. */
    complete(DAT_IB_DTO_SEND_UD, SIZE);
}

static void receive_one(void)
{
    complete(DAT_IB_DTO_RECV_UD, HEADER + SIZE);
    printf("received: %s\n", memory.receive + HEADER);
}

int main(int argc, char **argv)
{
    char shm[] = "shm";
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia; DAT_PZ_HANDLE pz; DAT_LMR_HANDLE lmr; DAT_PSP_HANDLE psp;
    DAT_REGION_DESCRIPTION region = { .for_va = &memory };
    DAT_IB_ADDR_HANDLE peer;
    DAT_LMR_TRIPLET in;
    DAT_EP_ATTR attr;
    DAT_EVENT event;
    struct addrinfo *host;

    if (argc > 3) {
        fprintf(stderr, "usage: %s [ADAPTER [HOST]]\n", argv[0]);
        return 2;
    }
    MUST(dat_ia_open(argc > 1 ? argv[1] : shm, 8, &async, &ia));
    if (!has_datagrams(ia))
        fail("the adapter has no datagrams");
    MUST(dat_pz_create(ia, &pz));
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz,
                        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_VA, &lmr, &context,
                        NULL, NULL, NULL));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &transfers));

    memset(&attr, 0, sizeof attr);
    attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
    attr.max_message_size = SIZE; /* at most DAT_IB_TRANSPORT_MTU */
    attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_recv_dtos = attr.max_request_dtos = 8;
    attr.max_recv_iov = attr.max_request_iov = 1;
    MUST(dat_ep_create(ia, pz, transfers, transfers, connections, &attr, &ep));
    /* Post the buffer before the peer can send: a datagram without a buffer is lost without an event. */
    in = segment(memory.receive, sizeof memory.receive);
    MUST(dat_ep_post_recv(ep, 1, &in, cookie, DAT_COMPLETION_DEFAULT_FLAG));

    /* One exchange gives each side the address handle of its peer. */
    if (argc <= 2) { /* the server */
        MUST(dat_psp_create(ia, PORT, connections, DAT_PSP_CONSUMER_FLAG, &psp));
        fprintf(stderr, "waiting\n");
        event = next(connections, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
        MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL));
        peer = meet();
        receive_one();
        send_one(peer, "hello to you");
    } else { /* the client */
        if (getaddrinfo(argv[2], NULL, NULL, &host) != 0)
            fail("no address has the name of the host");
        MUST(dat_ep_connect(ep, host->ai_addr, PORT, WAIT, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
        send_one(meet(), "hello");
        receive_one();
    }
    MUST(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)); /* also frees all objects of the adapter */
    return 0;
}
