/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Creating connected endpoints, and closing.
 *
 * Everything in uDAPL is an object with a handle. An object is created after
 * the objects to which it refers, and freed before them:
 *
 * - interface adapter (IA)
 *   - protection zone (PZ): relates memory to endpoints
 *     - local memory regions (LMR): memory that the adapter may use
 *     - shared receive queue (SRQ): receive buffers for all endpoints
 *   - event dispatchers (EVD): queues of events
 *   - endpoints (EP): each is one end of a connection
 *   - public service point (PSP): accepts connection requests
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include "demo.h"

#define MICROSECONDS 1000000

/*
 * Allocates and registers memory. LOCAL privileges are for this process, REMOTE
 * privileges for the peer. Grant only what is needed.
 */
static void register_memory(struct node *node, struct memory *memory, size_t size,
                            DAT_MEM_PRIV_FLAGS privileges)
{
    DAT_REGION_DESCRIPTION region;
    void *base;

    /* Any alignment is permitted; complete pages are fastest. */
    if (posix_memalign(&base, 4096, size) != 0)
        fail("no memory: %zu bytes", size);
    memset(base, 0, size); /* allocates the pages before the measurements */
    memory->base = base;
    memory->size = size;

    memset(&region, 0, sizeof region);
    region.for_va = memory->base;
    /* The last two outputs, here NULL, are the registered range, which may be larger. */
    must("dat_lmr_create",
         dat_lmr_create(node->ia, DAT_MEM_TYPE_VIRTUAL, region, size, node->pz, privileges,
                        &memory->lmr, &memory->lmr_context, &memory->rmr_context, NULL, NULL));
}

static void release_memory(struct memory *memory)
{
    must("dat_lmr_free", dat_lmr_free(memory->lmr));
    free(memory->base);
}

/* Both processes generate the same bytes, from which all messages are taken. */
static void fill_pattern(struct memory *pattern)
{
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < pattern->size; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        pattern->base[i] = (unsigned char)(x >> 32);
    }
}

static void make_evds(struct node *node)
{
    /*
     * One EVD for each kind of event keeps the program simple, but an EVD can
     * serve several kinds. Each EVD has room for all concurrent events, because
     * an event that does not fit is lost. DAT_HANDLE_NULL: no CNO, with which
     * one thread could wait for several EVDs.
     */
    must("dat_evd_create", dat_evd_create(node->ia, CONNECTIONS * (WINDOW + 2), DAT_HANDLE_NULL,
                                          DAT_EVD_DTO_FLAG, &node->request_evd));
    must("dat_evd_create", dat_evd_create(node->ia, RECEIVES, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                                          &node->recv_evd));
    must("dat_evd_create", dat_evd_create(node->ia, 2 * CONNECTIONS, DAT_HANDLE_NULL,
                                          DAT_EVD_CONNECTION_FLAG, &node->conn_evd));
}

static void make_srq(struct node *node)
{
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = RECEIVES;
    attr.max_recv_iov = 1;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT; /* dat_srq_set_lw changes it */
    must("dat_srq_create", dat_srq_create(node->ia, node->pz, &attr, &node->srq));

    /*
     * Any endpoint can take any buffer, so each buffer has room for the largest
     * message. Buffers must be posted before the peer sends.
     */
    for (size_t i = 0; i < RECEIVES; i++)
        post_receive(node, i);
}

static DAT_COUNT at_most(DAT_COUNT wanted, DAT_COUNT limit)
{
    return wanted < limit ? wanted : limit;
}

static void make_endpoints(struct node *node)
{
    const DAT_IA_ATTR *ia = &node->ia_attr;
    DAT_EP_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.service_type = DAT_SERVICE_TYPE_RC; /* reliable connections, the only type of 1.2 */
    attr.qos = DAT_QOS_BEST_EFFORT;
    attr.max_message_size = LARGEST;
    attr.max_rdma_size = LARGEST;
    attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    attr.max_recv_dtos = DAT_HW_DEFAULT; /* no limit on the buffers that this endpoint takes from the SRQ */
    attr.srq_soft_hw = DAT_HW_DEFAULT;   /* no soft high watermark */
    attr.max_request_dtos = WINDOW + 2;
    attr.max_recv_iov = 1; /* one segment per operation */
    attr.max_request_iov = 1;
    attr.max_rdma_read_iov = 1;
    attr.max_rdma_write_iov = 1;
    attr.max_rdma_read_in = at_most(WINDOW, ia->max_rdma_read_per_ep_in);
    attr.max_rdma_read_out = at_most(WINDOW, ia->max_rdma_read_per_ep_out);

    for (int i = 0; i < CONNECTIONS; i++)
        must("dat_ep_create_with_srq",
             dat_ep_create_with_srq(node->ia, node->pz, node->recv_evd, node->request_evd,
                                    node->conn_evd, node->srq, &attr, &node->ep[i]));
}

/* Opens the adapter and creates all objects that do not need the peer. */
void node_open(struct node *node, const char *adapter)
{
    char name[DAT_NAME_MAX_LENGTH];

    memset(node, 0, sizeof *node);
    if (strlen(adapter) >= sizeof name)
        fail("the name of the adapter is too long");
    strcpy(name, adapter);

    /* The adapter creates an EVD for asynchronous events, with at least 8 entries. */
    node->async_evd = DAT_HANDLE_NULL;
    must("dat_ia_open", dat_ia_open(name, 8, &node->async_evd, &node->ia));
    must("dat_ia_query", dat_ia_query(node->ia, NULL, DAT_IA_FIELD_ALL, &node->ia_attr,
                                      DAT_PROVIDER_FIELD_NONE, NULL));
    if (node->ia_attr.max_message_size < LARGEST || node->ia_attr.max_rdma_size < LARGEST)
        fail("%s cannot move %zu bytes in one operation", adapter, LARGEST);

    must("dat_pz_create", dat_pz_create(node->ia, &node->pz));
    make_evds(node);

    register_memory(node, &node->pattern, LARGEST + 65536,
                    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    fill_pattern(&node->pattern);
    register_memory(node, &node->receives, RECEIVES * LARGEST,
                    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    register_memory(node, &node->landing, WINDOW * LARGEST,
                    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
                        DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    register_memory(node, &node->notes, sizeof(struct note), DAT_MEM_PRIV_LOCAL_READ_FLAG);

    make_srq(node);
    make_endpoints(node);
}

/*
 * Private data: bytes in the connection request and in its acceptance. Here
 * they describe the memory for the peer: twice a context (4 bytes) and an
 * address (8 bytes), most significant byte first.
 */
#define PRIVATE_SIZE 24

static unsigned char *put(unsigned char *to, uint64_t value, int bytes)
{
    while (bytes-- > 0)
        *to++ = (unsigned char)(value >> (8 * bytes));
    return to;
}

static const unsigned char *get(const unsigned char *from, uint64_t *value, int bytes)
{
    for (*value = 0; bytes-- > 0; from++)
        *value = *value << 8 | *from;
    return from;
}

static void write_private(const struct node *node, unsigned char data[PRIVATE_SIZE])
{
    data = put(data, node->pattern.rmr_context, 4);
    data = put(data, (uintptr_t)node->pattern.base, 8);
    data = put(data, node->landing.rmr_context, 4);
    (void)put(data, (uintptr_t)node->landing.base, 8);
}

static void read_private(struct node *node, const unsigned char *data, DAT_COUNT size)
{
    struct remote *const areas[] = { &node->peer_pattern, &node->peer_landing };
    uint64_t value;

    if (size < PRIVATE_SIZE) /* some transports pad private data */
        fail("%d bytes of private data instead of %d", (int)size, PRIVATE_SIZE);
    for (int i = 0; i < 2; i++) {
        data = get(data, &value, 4);
        areas[i]->rmr_context = (DAT_RMR_CONTEXT)value;
        data = get(data, &value, 8);
        areas[i]->address = value;
    }
}

/* Listens, and returns the address in `where`. */
void node_listen(struct node *node, struct rendezvous *where)
{
    const struct sockaddr *address = node->ia_attr.ia_address_ptr;

    must("dat_evd_create", dat_evd_create(node->ia, CONNECTIONS, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG,
                                          &node->cr_evd));
    memset(where, 0, sizeof *where);
    /* A program with a fixed qualifier calls dat_psp_create. */
    must("dat_psp_create_any", dat_psp_create_any(node->ia, &where->qual, node->cr_evd,
                                                  DAT_PSP_CONSUMER_FLAG, &node->psp));
    memcpy(&where->address, address,
           address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in));
}

static DAT_EVENT expect_event(struct node *node, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER wanted)
{
    DAT_EVENT event = next_event(node, evd);

    if (event.event_number != wanted)
        fail("event 0x%x came instead of 0x%x", (unsigned)event.event_number, (unsigned)wanted);
    return event;
}

/* Server: accepts a request for each endpoint, in the order of the client's calls. */
void node_accept(struct node *node)
{
    unsigned char mine[PRIVATE_SIZE];
    DAT_CR_HANDLE request;
    DAT_CR_PARAM param;
    DAT_EVENT event;

    write_private(node, mine);
    for (int i = 0; i < CONNECTIONS; i++) {
        event = expect_event(node, node->cr_evd, DAT_CONNECTION_REQUEST_EVENT);
        request = event.event_data.cr_arrival_event_data.cr_handle;
        must("dat_cr_query", dat_cr_query(request, DAT_CR_FIELD_ALL, &param));
        read_private(node, param.private_data, param.private_data_size);
        must("dat_cr_accept", dat_cr_accept(request, node->ep[i], PRIVATE_SIZE, mine));
        (void)expect_event(node, node->conn_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
}

/* Client: connects each endpoint and waits for the connection. */
void node_connect(struct node *node, const struct rendezvous *where)
{
    struct rendezvous target = *where;
    unsigned char mine[PRIVATE_SIZE];
    const DAT_CONNECTION_EVENT_DATA *data;
    DAT_EVENT event;

    write_private(node, mine);
    for (int i = 0; i < CONNECTIONS; i++) {
        must("dat_ep_connect",
             dat_ep_connect(node->ep[i], (DAT_IA_ADDRESS_PTR)&target.address, target.qual,
                            (DAT_TIMEOUT)(TIMEOUT * MICROSECONDS), PRIVATE_SIZE, mine,
                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
        event = expect_event(node, node->conn_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
        data = &event.event_data.connect_event_data;
        read_private(node, data->private_data, data->private_data_size);
    }
}

/* Ends the connections gracefully: outstanding operations complete first. */
void node_disconnect(struct node *node)
{
    for (int i = 0; i < CONNECTIONS; i++)
        must("dat_ep_disconnect", dat_ep_disconnect(node->ep[i], DAT_CLOSE_GRACEFUL_FLAG));
}

/* Waits for the end of the connections. Each side gets one event per connection, regardless of which side ended it. */
void node_wait_disconnected(struct node *node)
{
    for (int i = 0; i < CONNECTIONS; i++)
        (void)expect_event(node, node->conn_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/*
 * Frees everything, in this order, because an object in use cannot be freed.
 * dat_ia_close with DAT_CLOSE_ABRUPT_FLAG would free the remaining objects; with
 * DAT_CLOSE_GRACEFUL_FLAG it succeeds only if none remain.
 */
void node_close(struct node *node)
{
    DAT_SRQ_PARAM srq;

    /* All buffers are in the queue: no endpoint has one, and no completion is unfetched. */
    must("dat_srq_query", dat_srq_query(node->srq, DAT_SRQ_FIELD_ALL, &srq));
    if (srq.available_dto_count != RECEIVES || srq.outstanding_dto_count != RECEIVES)
        fail("the shared receive queue has %d buffers available and %d outstanding, not %d",
             (int)srq.available_dto_count, (int)srq.outstanding_dto_count, RECEIVES);

    for (int i = 0; i < CONNECTIONS; i++)
        must("dat_ep_free", dat_ep_free(node->ep[i]));
    must("dat_srq_free", dat_srq_free(node->srq)); /* also returns its buffers */
    if (node->psp != DAT_HANDLE_NULL) {
        must("dat_psp_free", dat_psp_free(node->psp));
        must("dat_evd_free", dat_evd_free(node->cr_evd));
    }
    must("dat_evd_free", dat_evd_free(node->conn_evd));
    must("dat_evd_free", dat_evd_free(node->recv_evd));
    must("dat_evd_free", dat_evd_free(node->request_evd));
    release_memory(&node->notes);
    release_memory(&node->landing);
    release_memory(&node->receives);
    release_memory(&node->pattern);
    must("dat_pz_free", dat_pz_free(node->pz));
    must("dat_ia_close", dat_ia_close(node->ia, DAT_CLOSE_GRACEFUL_FLAG));
}
