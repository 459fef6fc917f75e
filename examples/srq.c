/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * srq.c: a shared receive queue with a low watermark, with uDAPL 1.2.
 *
 *     srq [ADAPTER]    the default adapter is shm
 *
 * Two clients send to two endpoints of a server, which take their buffers from
 * one queue. An event reports that few buffers remain. The server then enlarges
 * the queue, posts more buffers, and sets the watermark again. All ends are in
 * this process; between processes, the calls are the same.
 *
 * Build: cc srq.c $(pkg-config --cflags --libs dat) -o srq
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dat/udat.h>

#define CLIENTS   2
#define BUFFERS   4  /* number of buffers in the queue at first */
#define ALL       8  /* number of buffers after dat_srq_resize */
#define WATERMARK 2  /* an event reports that fewer buffers are in the queue */
#define SIZE      64 /* bytes of each buffer, since any endpoint may take any buffer */
#define WAIT      (60 * 1000000) /* microseconds: the longest wait for an event */
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

static DAT_EVENT next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER wanted)
{
    DAT_EVENT event;
    DAT_COUNT more;

    MUST(dat_evd_wait(evd, WAIT, 1, &event, &more));
    if (event.event_number != wanted) {
        fprintf(stderr, "event 0x%x instead of 0x%x\n", (unsigned)event.event_number, (unsigned)wanted);
        exit(1);
    }
    return event;
}

static DAT_DTO_COMPLETION_EVENT_DATA complete(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event = next(evd, DAT_DTO_COMPLETION_EVENT);
    DAT_DTO_COMPLETION_EVENT_DATA data = event.event_data.dto_completion_event_data;

    if (data.status != DAT_DTO_SUCCESS) {
        fprintf(stderr, "completion status %d\n", (int)data.status);
        exit(1);
    }
    return data;
}

static struct {
    char receive[ALL][SIZE];
    char send[SIZE];
} memory;
static DAT_LMR_CONTEXT context; /* identifies this memory */

static DAT_LMR_TRIPLET segment(void *start)
{
    DAT_LMR_TRIPLET segment;

    memset(&segment, 0, sizeof segment);
    segment.lmr_context = context;
    segment.virtual_address = (DAT_VADDR)(uintptr_t)start;
    segment.segment_length = SIZE;
    return segment;
}

/* Posts one buffer. Buffers complete in any order, so the cookie identifies the buffer. */
static void post(DAT_SRQ_HANDLE srq, unsigned buffer)
{
    DAT_LMR_TRIPLET iov = segment(memory.receive[buffer]);
    DAT_DTO_COOKIE cookie = { .as_64 = buffer };

    MUST(dat_srq_post_recv(srq, 1, &iov, cookie));
}

/* Sends a message from client k to server[k], and receives it. Returns the number of the buffer. */
static unsigned message(DAT_EP_HANDLE client, DAT_EVD_HANDLE sends, DAT_EVD_HANDLE receives,
                        const DAT_EP_HANDLE *server, int k)
{
    DAT_LMR_TRIPLET iov = segment(memory.send);
    DAT_DTO_COOKIE cookie = { .as_64 = 0 };
    DAT_DTO_COMPLETION_EVENT_DATA data;

    snprintf(memory.send, SIZE, "hello from client %d", k);
    MUST(dat_ep_post_send(client, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    data = complete(receives);
    complete(sends);
    /* The completion contains the endpoint that took the buffer. */
    if (data.ep_handle != server[k] || strcmp(memory.receive[data.user_cookie.as_64], memory.send) != 0) {
        fprintf(stderr, "a wrong message arrived\n");
        exit(1);
    }
    return (unsigned)data.user_cookie.as_64;
}

int main(int argc, char **argv)
{
    char shm[] = "shm";
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, requests, connections, sends, receives;
    DAT_IA_HANDLE ia; DAT_PZ_HANDLE pz; DAT_LMR_HANDLE lmr; DAT_SRQ_HANDLE srq; DAT_PSP_HANDLE psp;
    DAT_EP_HANDLE client[CLIENTS], server[CLIENTS];
    DAT_REGION_DESCRIPTION region;
    DAT_CONN_QUAL qualifier;
    DAT_IA_ATTR ia_attr;
    DAT_SRQ_ATTR srq_attr;
    DAT_SRQ_PARAM param;
    DAT_EP_ATTR ep_attr;
    DAT_EVENT event;

    if (argc > 2) {
        fprintf(stderr, "usage: %s [ADAPTER]\n", argv[0]);
        return 2;
    }
    /* The asynchronous dispatcher of the adapter, here with room for 8 events, gets the watermark event. */
    MUST(dat_ia_open(argc > 1 ? argv[1] : shm, 8, &async, &ia));
    MUST(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &ia_attr, DAT_PROVIDER_FIELD_NONE, NULL));
    MUST(dat_pz_create(ia, &pz));
    memset(&region, 0, sizeof region);
    region.for_va = &memory;
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz,
                        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lmr, &context, NULL, NULL, NULL));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &sends));
    /* Room for the completions of all buffers that can be posted. */
    MUST(dat_evd_create(ia, ALL, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &receives));

    /* Create the queue and post its buffers before the connections, so that no message finds the queue empty. */
    srq_attr.max_recv_dtos = BUFFERS;
    srq_attr.max_recv_iov = 1;
    srq_attr.low_watermark = DAT_SRQ_LW_DEFAULT; /* dat_srq_create accepts no other value */
    MUST(dat_srq_create(ia, pz, &srq_attr, &srq));
    for (unsigned i = 0; i < BUFFERS; i++)
        post(srq, i);
    MUST(dat_srq_set_lw(srq, WATERMARK));

    memset(&ep_attr, 0, sizeof ep_attr);
    ep_attr.service_type = DAT_SERVICE_TYPE_RC;
    ep_attr.max_message_size = SIZE;
    ep_attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    ep_attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    ep_attr.max_recv_dtos = DAT_HW_DEFAULT; /* no hard watermark, the meaning of this field with a queue */
    ep_attr.srq_soft_hw = DAT_HW_DEFAULT;
    ep_attr.max_request_dtos = 4;
    ep_attr.max_request_iov = 1;
    ep_attr.max_rdma_read_in = 4; /* the default, which the clients have */
    ep_attr.max_rdma_read_out = 4;
    MUST(dat_psp_create_any(ia, &qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp));
    for (int k = 0; k < CLIENTS; k++) {
        MUST(dat_ep_create_with_srq(ia, pz, receives, sends, connections, srq, &ep_attr, &server[k]));
        MUST(dat_ep_create(ia, pz, sends, sends, connections, NULL, &client[k]));
        MUST(dat_ep_connect(client[k], ia_attr.ia_address_ptr, qualifier, WAIT, 0, NULL, DAT_QOS_BEST_EFFORT,
                            DAT_CONNECT_DEFAULT_FLAG));
        event = next(requests, DAT_CONNECTION_REQUEST_EVENT);
        MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, server[k], 0, NULL));
        next(connections, DAT_CONNECTION_EVENT_ESTABLISHED); /* one for each end */
        next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    }

    /* After three messages, one buffer remains, fewer than the watermark. The server does not post the three again. */
    for (int i = 0; i < BUFFERS - WATERMARK + 1; i++)
        message(client[i % CLIENTS], sends, receives, server, i % CLIENTS);
    /* uDAPL 1.2 has no number for this event: the handle and the reason identify it. */
    event = next(async, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR);
    if (event.event_data.asynch_error_event_data.dat_handle != srq ||
        event.event_data.asynch_error_event_data.reason != DAT_SRQ_LOW_WATERMARK_EVENT) {
        fprintf(stderr, "an error of the adapter instead of the low watermark\n");
        return 1;
    }
    printf("low watermark: fewer than %d buffers remain\n", WATERMARK);

    /* The queue can grow while endpoints use it. The event has disarmed the watermark; dat_srq_set_lw arms it again. */
    MUST(dat_srq_resize(srq, ALL));
    for (unsigned i = BUFFERS; i < ALL; i++)
        post(srq, i);
    MUST(dat_srq_set_lw(srq, WATERMARK));

    /* Post each buffer again as soon as its message has been read. */
    for (int i = 0; i < 100; i++)
        post(srq, message(client[i % CLIENTS], sends, receives, server, i % CLIENTS));
    MUST(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
    printf("%d messages, %d of %d buffers in the queue\n", 100 + BUFFERS - WATERMARK + 1,
           (int)param.available_dto_count, (int)param.max_recv_dtos);
    MUST(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)); /* also frees all objects of the adapter */
    return 0;
}
