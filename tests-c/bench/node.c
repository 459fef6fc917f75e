/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * node.c - the objects of one process, and the connection.
 */
#define _POSIX_C_SOURCE 200809L
#include "hot.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE           4096
#define CONNECT_TIMEOUT 60000000 /* microseconds */

/* Message that each process sends to the other before they connect. */
struct hello {
    struct sockaddr_storage address;
    DAT_CONN_QUAL qual;
    DAT_RMR_CONTEXT rmr_context;
    DAT_VADDR address_in;
};

void call_failed(const char *call, DAT_RETURN rc)
{
    const char *major = "?", *minor = "?";

    dat_strerror(rc, &major, &minor);
    fail("%s: %s %s", call, major, minor);
}

void wrong_event(const DAT_EVENT *event)
{
    if (!is_completion(event))
        fail("event 0x%x instead of a completion", (unsigned)event->event_number);
    fail("a transfer ended with status %d", (int)event->event_data.dto_completion_event_data.status);
}

void memory_make(struct node *n, struct memory *m, size_t bytes)
{
    DAT_MEM_PRIV_FLAGS all = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
                             DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    DAT_REGION_DESCRIPTION region;
    DAT_VLEN length;
    DAT_VADDR address;
    size_t size;
    void *base;

    m->bytes = bytes < 64 ? 64 : bytes;
    size = (m->bytes + PAGE - 1) / PAGE * PAGE;
    if (posix_memalign(&base, PAGE, size) != 0)
        fail("no memory: %zu bytes", size);
    memset(base, 0, size);
    m->base = base;
    memset(&region, 0, sizeof region);
    region.for_va = base;
    must("dat_lmr_create",
         dat_lmr_create(n->ia, DAT_MEM_TYPE_VIRTUAL, region, size, n->pz, all, &m->lmr,
                        &m->lmr_context, &m->rmr_context, &length, &address));
}

static DAT_COUNT at_most(DAT_COUNT wanted, DAT_COUNT limit)
{
    return wanted < limit ? wanted : limit;
}

static void make_endpoint(struct node *n)
{
    const struct plan *plan = n->plan;
    DAT_EP_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.service_type = DAT_SERVICE_TYPE_RC;
    attr.qos = DAT_QOS_BEST_EFFORT;
    attr.max_message_size = n->in.bytes > plan->size ? n->in.bytes : plan->size;
    attr.max_rdma_size = attr.max_message_size;
    attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_recv_dtos = n->depth;
    attr.max_request_dtos = plan->outstanding + 8;
    attr.max_recv_iov = attr.max_request_iov = 1;
    attr.max_rdma_read_in = attr.max_rdma_read_out =
        at_most(plan->outstanding, n->attr.max_rdma_read_per_ep_out);
#ifndef DAT2
    attr.srq_soft_hw = DAT_HW_DEFAULT;
    attr.max_rdma_read_iov = attr.max_rdma_write_iov = 1;
#else
    if (plan->what == DATAGRAM) {
        attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
        attr.max_message_size = plan->size;
        attr.max_rdma_size = 0;
        attr.max_rdma_read_in = attr.max_rdma_read_out = 0;
    }
#endif
    must("dat_ep_create",
         dat_ep_create(n->ia, n->pz, n->recv, n->request, n->conn, &attr, &n->ep));
}

/* Returns the number of receives to post: enough that the sender rarely waits for credits. */
static int depth_of(const struct plan *plan, const DAT_IA_ATTR *attr)
{
    int depth = 4;

    if (plan->run == run_stream) {
        depth = plan->size <= 8192 ? 8 * plan->outstanding : 2 * plan->outstanding;
        if (depth < 8)
            depth = 8;
    }
    return at_most(depth, attr->max_dto_per_ep);
}

void node_open(struct node *n, struct plan *plan, int second)
{
    memset(n, 0, sizeof *n);
    n->plan = plan;
    n->second = second;
    n->async = DAT_HANDLE_NULL;
    must("dat_ia_open", dat_ia_open(plan->adapter, 8, &n->async, &n->ia));
    must("dat_ia_query",
         dat_ia_query(n->ia, NULL, DAT_IA_FIELD_ALL, &n->attr, DAT_PROVIDER_FIELD_NONE, NULL));
    n->depth = depth_of(plan, &n->attr);
    must("dat_pz_create", dat_pz_create(n->ia, &n->pz));
    must("dat_evd_create",
         dat_evd_create(n->ia, n->depth + 1, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &n->recv));
    must("dat_evd_create", dat_evd_create(n->ia, plan->outstanding + 16, DAT_HANDLE_NULL,
                                          DAT_EVD_DTO_FLAG, &n->request));
    must("dat_evd_create",
         dat_evd_create(n->ia, 2, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &n->conn));
    must("dat_evd_create", dat_evd_create(n->ia, 1, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &n->cr));
    memory_make(n, &n->out, plan->size);
    memory_make(n, &n->in, plan->size + (plan->what == DATAGRAM ? GRH : 0));
    make_endpoint(n);
    for (int i = 0; i < n->depth; i++)
        post_recv(n);
}

void expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER wanted, DAT_EVENT *event)
{
    DAT_COUNT more;

    must("dat_evd_wait", dat_evd_wait(evd, CONNECT_TIMEOUT, 1, event, &more));
    if (event->event_number != wanted)
        fail("event 0x%x instead of 0x%x", (unsigned)event->event_number, (unsigned)wanted);
}

static void listen_somewhere(struct node *n, DAT_CONN_QUAL *qual)
{
    DAT_RETURN rc = DAT_SUCCESS;

    for (int i = 0; i < 100; i++) {
        *qual = (DAT_CONN_QUAL)(20000 + (getpid() + i * 331) % 20000);
        rc = dat_psp_create(n->ia, *qual, n->cr, DAT_PSP_CONSUMER_FLAG, &n->psp);
        if (DAT_GET_TYPE(rc) != DAT_CONN_QUAL_IN_USE)
            break;
    }
    must("dat_psp_create", rc);
}

/* Connects the processes: the second process listens, and the first process requests the connection. */
void node_connect(struct node *n)
{
    const struct sockaddr *own = n->attr.ia_address_ptr;
    struct hello mine, other;
    DAT_EVENT_NUMBER request = DAT_CONNECTION_REQUEST_EVENT, established = DAT_CONNECTION_EVENT_ESTABLISHED;
    DAT_EVENT event;

#ifdef DAT2
    if (n->plan->what == DATAGRAM) {
        request = (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT;
        established = (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED;
    }
#endif
    memset(&mine, 0, sizeof mine);
    memcpy(&mine.address, own,
           own->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    mine.rmr_context = n->in.rmr_context;
    mine.address_in = (DAT_VADDR)(uintptr_t)n->in.base;
    if (n->second)
        listen_somewhere(n, &mine.qual);
    tell(&mine, sizeof mine);
    hear(&other, sizeof other);
    n->peer_rmr_context = other.rmr_context;
    n->peer_address = other.address_in;

    if (n->second) {
        expect(n->cr, request, &event);
        must("dat_cr_accept",
             dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, n->ep, 0, NULL));
    } else {
        must("dat_ep_connect",
             dat_ep_connect(n->ep, (DAT_IA_ADDRESS_PTR)&other.address, other.qual, CONNECT_TIMEOUT, 0,
                            NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    }
    expect(n->conn, established, &event);
#ifdef DAT2
    if (n->plan->what == DATAGRAM)
        n->peer = ((DAT_IB_EXTENSION_EVENT_DATA *)(void *)event.event_extension_data)->remote_ah;
#endif
    meet();
}

void node_close(struct node *n)
{
    meet();
    must("dat_ia_close", dat_ia_close(n->ia, DAT_CLOSE_ABRUPT_FLAG));
    free(n->out.base);
    free(n->in.base);
}
