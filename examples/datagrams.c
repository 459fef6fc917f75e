/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * datagrams.c: unreliable datagrams, an extension of uDAPL 2.0.
 *
 *     datagrams [ADAPTER]    the default adapter is shm
 *
 * An endpoint for datagrams can have many peers: the address handle in each
 * send selects the receiver. dat_ep_connect and dat_cr_accept make no
 * connection here, but exchange address handles. Two endpoints of this process
 * send to each other; between two processes, the calls are the same.
 *
 * Build: cc datagrams.c $(pkg-config --cflags --libs dat2) -o datagrams
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#define SIZE   64
#define HEADER 40 /* bytes before each datagram in a receive buffer, reserved for the device */
#define WAIT   (60 * 1000000) /* microseconds: the longest wait for an event */
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

static struct side {
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE connections, transfers;
    DAT_IB_ADDR_HANDLE peer; /* the receiver of its datagrams */
    char send[SIZE], receive[HEADER + SIZE];
} sides[2];
static DAT_LMR_CONTEXT context; /* identifies the memory of both sides */

static DAT_LMR_TRIPLET segment(void *start, DAT_VLEN length)
{
    DAT_LMR_TRIPLET segment;

    memset(&segment, 0, sizeof segment);
    segment.lmr_context = context;
    segment.virtual_address = (DAT_VADDR)(uintptr_t)start;
    segment.segment_length = (DAT_SEG_LENGTH)length;
    return segment;
}

/* Gets the address handle of the peer from the event of the exchange. */
static void meet(struct side *side)
{
    DAT_EVENT event = next(side->connections, DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
    DAT_IB_EXTENSION_EVENT_DATA data;

    memcpy(&data, event.event_extension_data, sizeof data);
    side->peer = data.remote_ah;
}

/* Sends a datagram, and receives it at the other side. */
static void send_one(struct side *from, struct side *to, const char *text)
{
    DAT_LMR_TRIPLET in = segment(to->receive, sizeof to->receive), out = segment(from->send, SIZE);
    DAT_DTO_COOKIE cookie = { .as_64 = 1 }; /* the completion returns it */
    DAT_DTO_COMPLETION_EVENT_DATA data;
    DAT_EVENT event;

    /* Post the buffer before the datagram arrives: a datagram without a buffer is lost without an event. */
    MUST(dat_ep_post_recv(to->ep, 1, &in, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    snprintf(from->send, SIZE, "%s", text);
    MUST(dat_ib_post_send_ud(from->ep, 1, &out, &from->peer, cookie, DAT_COMPLETION_DEFAULT_FLAG));

    /* The completion of the send means that its memory can be reused, not that the datagram has arrived. */
    event = next(from->transfers, DAT_IB_DTO_EVENT);
    if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
        fail("the send has failed");
    event = next(to->transfers, DAT_IB_DTO_EVENT);
    data = event.event_data.dto_completion_event_data;
    if (data.status != DAT_DTO_SUCCESS || data.transfered_length != HEADER + SIZE ||
        strcmp(to->receive + HEADER, text) != 0)
        fail("the receive has failed");
    printf("received: %s\n", to->receive + HEADER);
}

int main(int argc, char **argv)
{
    char shm[] = "shm";
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, requests;
    DAT_IA_HANDLE ia; DAT_PZ_HANDLE pz; DAT_LMR_HANDLE lmr; DAT_PSP_HANDLE psp;
    DAT_REGION_DESCRIPTION region;
    DAT_CONN_QUAL qualifier;
    DAT_IA_ATTR ia_attr;
    DAT_EP_ATTR attr;
    DAT_EVENT event;

    if (argc > 2) {
        fprintf(stderr, "usage: %s [ADAPTER]\n", argv[0]);
        return 2;
    }
    MUST(dat_ia_open(argc > 1 ? argv[1] : shm, 8, &async, &ia));
    if (!has_datagrams(ia))
        fail("the adapter has no datagrams");
    MUST(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &ia_attr, DAT_PROVIDER_FIELD_NONE, NULL));
    MUST(dat_pz_create(ia, &pz));
    memset(&region, 0, sizeof region);
    region.for_va = sides;
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof sides, pz,
                        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_VA, &lmr, &context,
                        NULL, NULL, NULL));

    memset(&attr, 0, sizeof attr);
    attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
    attr.max_message_size = SIZE; /* at most DAT_IB_TRANSPORT_MTU */
    attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_recv_dtos = attr.max_request_dtos = 8;
    attr.max_recv_iov = attr.max_request_iov = 1;
    for (int i = 0; i < 2; i++) {
        MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &sides[i].connections));
        MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &sides[i].transfers));
        MUST(dat_ep_create(ia, pz, sides[i].transfers, sides[i].transfers, sides[i].connections, &attr, &sides[i].ep));
    }

    /* One exchange gives each side the address handle of its peer. */
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
    MUST(dat_psp_create_any(ia, &qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp));
    MUST(dat_ep_connect(sides[0].ep, ia_attr.ia_address_ptr, qualifier, WAIT, 0, NULL, DAT_QOS_BEST_EFFORT,
                        DAT_CONNECT_DEFAULT_FLAG));
    event = next(requests, DAT_IB_UD_CONNECTION_REQUEST_EVENT);
    MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, sides[1].ep, 0, NULL));
    meet(&sides[0]);
    meet(&sides[1]);

    send_one(&sides[0], &sides[1], "a datagram");
    send_one(&sides[1], &sides[0], "another datagram");
    MUST(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)); /* also frees all objects of the adapter */
    return 0;
}
