/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rdma.c: RDMA write and RDMA read, with uDAPL 1.2.
 *
 *     rdma [ADAPTER]    the default adapter is shm
 *
 * Both ends of the connection are in this process; between two processes, the
 * calls are the same. The private data of the connection describes the memory
 * of the server that the client may access. The client writes to that memory,
 * reads it back, and compares.
 *
 * Build: cc rdma.c $(pkg-config --cflags --libs dat) -o rdma
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dat/udat.h>

#define SIZE 4096
#define WAIT (60 * 1000000) /* microseconds: the longest wait for an event */
#define MUST(call) must(#call, call)

/* The description of the server's memory, which the client needs to access it. */
struct target {
    DAT_RMR_CONTEXT context;
    DAT_VADDR address;
};

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

/* Waits for the completion of the only operation in flight. */
static void complete(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event = next(evd, DAT_DTO_COMPLETION_EVENT);

    if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) {
        fprintf(stderr, "completion status %d\n", (int)event.event_data.dto_completion_event_data.status);
        exit(1);
    }
}

static char server_memory[SIZE], client_memory[2][SIZE];

int main(int argc, char **argv)
{
    char shm[] = "shm";
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL, requests, connections, transfers;
    DAT_LMR_HANDLE server_lmr, client_lmr;
    DAT_LMR_CONTEXT server_context, client_context;
    DAT_IA_HANDLE ia; DAT_PZ_HANDLE pz; DAT_EP_HANDLE client, server; DAT_PSP_HANDLE psp;
    DAT_REGION_DESCRIPTION region;
    DAT_CONN_QUAL qualifier;
    DAT_IA_ATTR attr;
    DAT_LMR_TRIPLET local;
    DAT_RMR_TRIPLET remote;
    DAT_DTO_COOKIE cookie = { .as_64 = 1 }; /* the completion returns it */
    struct target target = { 0 };
    DAT_EVENT event;
    const DAT_CONNECTION_EVENT_DATA *established;

    if (argc > 2) {
        fprintf(stderr, "usage: %s [ADAPTER]\n", argv[0]);
        return 2;
    }
    MUST(dat_ia_open(argc > 1 ? argv[1] : shm, 8, &async, &ia));
    MUST(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, DAT_PROVIDER_FIELD_NONE, NULL));
    MUST(dat_pz_create(ia, &pz));

    /*
     * The privileges of a region determine who can access it. With a REMOTE
     * privilege, the peer can: grant it only for memory that is meant for the
     * peer. An RDMA read writes to local memory, which needs LOCAL_WRITE.
     */
    memset(&region, 0, sizeof region);
    region.for_va = server_memory;
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof server_memory, pz,
                        DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG |
                            DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
                        &server_lmr, &server_context, &target.context, NULL, NULL));
    target.address = (DAT_VADDR)(uintptr_t)server_memory;
    region.for_va = client_memory;
    MUST(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof client_memory, pz,
                        DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
                        &client_lmr, &client_context, NULL, NULL, NULL));

    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections));
    MUST(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &transfers));
    MUST(dat_ep_create(ia, pz, transfers, transfers, connections, NULL, &client));
    MUST(dat_ep_create(ia, pz, transfers, transfers, connections, NULL, &server));

    /* The client connects. The server accepts, and its private data describes the memory. */
    MUST(dat_psp_create_any(ia, &qualifier, requests, DAT_PSP_CONSUMER_FLAG, &psp));
    MUST(dat_ep_connect(client, attr.ia_address_ptr, qualifier, WAIT, 0, NULL, DAT_QOS_BEST_EFFORT,
                        DAT_CONNECT_DEFAULT_FLAG));
    event = next(requests, DAT_CONNECTION_REQUEST_EVENT);
    MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, server, sizeof target, &target));
    memset(&target, 0, sizeof target); /* the client uses only what the event contains */
    for (int i = 0; i < 2; i++) { /* one event for each end, in either order */
        event = next(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        established = &event.event_data.connect_event_data;
        if (established->ep_handle == client) {
            if (established->private_data_size < (DAT_COUNT)sizeof target)
                fail("the private data are too short");
            memcpy(&target, established->private_data, sizeof target);
        }
    }

    /* RDMA write: client_memory[0] to server_memory. The server makes no call. */
    for (int i = 0; i < SIZE; i++)
        client_memory[0][i] = (char)(i * 7);
    memset(&local, 0, sizeof local);
    local.lmr_context = client_context;
    local.virtual_address = (DAT_VADDR)(uintptr_t)client_memory[0];
    local.segment_length = SIZE;
    memset(&remote, 0, sizeof remote);
    remote.rmr_context = target.context;
    remote.target_address = target.address;
    remote.segment_length = SIZE;
    MUST(dat_ep_post_rdma_write(client, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
    /* The completion means that client_memory[0] can be reused, not that the server can see the bytes. */
    complete(transfers);

    /* RDMA read: server_memory to client_memory[1]. It follows the write on this connection, so it reads the new bytes. */
    local.virtual_address = (DAT_VADDR)(uintptr_t)client_memory[1];
    MUST(dat_ep_post_rdma_read(client, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
    complete(transfers);
    if (memcmp(client_memory[0], client_memory[1], SIZE) != 0)
        fail("the bytes differ");
    printf("%d bytes written and read back\n", SIZE);

    /* A graceful disconnect first completes all posted requests. Each end gets an event. */
    MUST(dat_ep_disconnect(client, DAT_CLOSE_GRACEFUL_FLAG));
    for (int i = 0; i < 2; i++)
        next(connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    MUST(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)); /* also frees all objects of the adapter */
    return 0;
}
