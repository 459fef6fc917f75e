/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ucx_connections.c - the measurement of connections.c with UCP endpoints instead of connections: ucx_connections N.
 *
 * The processes exchange the addresses of their workers, and each makes an endpoint to the other worker. The time ends
 * when the endpoints of both processes are flushed.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#define FIRST 10

static ucp_worker_h worker;
static ucp_ep_h *eps;
static uint64_t *received;

static void must_ucx(const char *call, ucs_status_t status)
{
    if (status != UCS_OK)
        fail("%s: %s", call, ucs_status_string(status));
}

/* Waits for a request, or ends the program. */
static void finish(const char *call, ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request))
        must_ucx(call, UCS_PTR_STATUS(request));
    if (request == NULL)
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    must_ucx(call, ucp_request_check_status(request));
    ucp_request_free(request);
}

/* Like meet(), but makes progress. */
static void meet_progressing(void)
{
    char byte = 1;

    tell(&byte, 1);
    while (!link_ready())
        ucp_worker_progress(worker);
    hear(&byte, 1);
}

static void connect_range(const ucp_ep_params_t *peer, long first, long end)
{
    const ucp_request_param_t none = { 0 };

    for (long i = first; i < end; i++)
        must_ucx("ucp_ep_create", ucp_ep_create(worker, peer, &eps[i]));
    for (long i = first; i < end; i++)
        finish("ucp_ep_flush_nbx", ucp_ep_flush_nbx(eps[i], &none));
    meet_progressing();
}

static void use_range(long first, long end)
{
    static const uint64_t message;
    const ucp_request_param_t none = { 0 };
    ucs_status_ptr_t *receives = calloc((size_t)end, sizeof *receives);

    if (receives == NULL)
        fail("no memory");
    for (long i = first; i < end; i++)
        receives[i] = ucp_tag_recv_nbx(worker, &received[i], 8, (ucp_tag_t)i, ~(ucp_tag_t)0, &none);
    for (long i = first; i < end; i++)
        finish("ucp_tag_send_nbx", ucp_tag_send_nbx(eps[i], &message, 8, (ucp_tag_t)i, &none));
    for (long i = first; i < end; i++)
        finish("ucp_tag_recv_nbx", receives[i]);
    free(receives);
    meet_progressing();
}

/* Opens a worker, and returns the parameters of endpoints to the worker of the other process. */
static ucp_ep_params_t open_worker(void)
{
    const ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG };
    const ucp_worker_params_t single = { 0 };
    ucp_ep_params_t peer = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
    ucp_address_t *own;
    ucp_context_h context;
    size_t length, peer_length;
    void *address;

    must_ucx("ucp_init", ucp_init(&params, NULL, &context));
    must_ucx("ucp_worker_create", ucp_worker_create(context, &single, &worker));
    must_ucx("ucp_worker_get_address", ucp_worker_get_address(worker, &own, &length));
    tell(&length, sizeof length);
    tell(own, length);
    hear(&peer_length, sizeof peer_length);
    address = malloc(peer_length);
    if (address == NULL)
        fail("no memory");
    hear(address, peer_length);
    peer.address = address;
    return peer;
}

int main(int argc, char **argv)
{
    long further = argc > 1 ? atol(argv[1]) : 1000, all = FIRST + further;
    struct memory_use before, idle, used;
    int ends[2], second;
    ucp_ep_params_t peer;
    double began, seconds;

    if (further < 1 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        fail("usage: ucx_connections NUMBER");
    alarm(60);
    second = fork() == 0;
    link_set(ends[second]);
    close(ends[!second]);
    eps = calloc((size_t)all, sizeof *eps);
    received = calloc((size_t)all, sizeof *received);
    if (eps == NULL || received == NULL)
        fail("no memory");
    peer = open_worker();
    connect_range(&peer, 0, FIRST);
    use_range(0, FIRST);
    before = memory_of_both();
    began = now();
    connect_range(&peer, FIRST, all);
    seconds = now() - began;
    idle = memory_of_both();
    use_range(FIRST, all);
    used = memory_of_both();
    if (!second)
        connections_result(further, seconds, &before, &idle, &used);
    meet_progressing();
    return 0;
}
