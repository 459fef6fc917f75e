/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * mesh.c - processes that are all connected. In each round a process sends a message to all others, and waits for one
 * from each. A process is at most one round ahead of its peers, so BUFFERS receives per endpoint suffice.
 */
#define _GNU_SOURCE
#include "hot.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES    64
#define BUFFERS 4
#define CONNECT_TIMEOUT  60000000 /* microseconds */

/* Shared memory of the processes. */
static struct shared {
    _Atomic int arrived; /* calls of meet_all() */
    DAT_CONN_QUAL quals[MAX_PROCESSES];
} *shared;

/* One process, with an endpoint for each other process. */
struct mesh {
    struct node node;
    int own; /* the number of this process */
    DAT_EP_HANDLE eps[MAX_PROCESSES];
};

/* Returns when each process has called it `times` times. */
static void meet_all(const struct plan *plan, int times)
{
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < times * plan->processes)
        usleep(100);
}

static void post(struct mesh *m, DAT_EP_HANDLE ep, int is_send)
{
    DAT_LMR_TRIPLET t = segment(&m->node.in, m->node.plan->size);
    DAT_DTO_COOKIE cookie;

    cookie.as_ptr = ep;
    if (is_send)
        must("dat_ep_post_send", dat_ep_post_send(ep, 1, &t, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    else
        must("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &t, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void open_mesh(struct mesh *m)
{
    struct node *n = &m->node;
    int others = n->plan->processes - 1;

    n->async = DAT_HANDLE_NULL;
    must("dat_ia_open", dat_ia_open(n->plan->adapter, 8, &n->async, &n->ia));
    must("dat_ia_query", dat_ia_query(n->ia, NULL, DAT_IA_FIELD_ALL, &n->attr, DAT_PROVIDER_FIELD_NONE, NULL));
    must("dat_pz_create", dat_pz_create(n->ia, &n->pz));
    must("dat_evd_create",
         dat_evd_create(n->ia, others * BUFFERS, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &n->recv));
    must("dat_evd_create",
         dat_evd_create(n->ia, others * BUFFERS, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &n->request));
    must("dat_evd_create",
         dat_evd_create(n->ia, others * 2, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &n->conn));
    must("dat_evd_create", dat_evd_create(n->ia, others, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &n->cr));
    memory_make(n, &n->in, n->plan->size);
    for (int i = 0; i < others; i++) {
        must("dat_ep_create", dat_ep_create(n->ia, n->pz, n->recv, n->request, n->conn, NULL, &m->eps[i]));
        for (int k = 0; k < BUFFERS; k++)
            post(m, m->eps[i], 0);
    }
}

/* Connects to the processes with a higher number, and accepts the others. */
static void connect_mesh(struct mesh *m)
{
    struct node *n = &m->node;
    int others = n->plan->processes - 1;
    DAT_EVENT event;

    must("dat_psp_create_any", dat_psp_create_any(n->ia, &shared->quals[m->own], n->cr, DAT_PSP_CONSUMER_FLAG, &n->psp));
    meet_all(n->plan, 1);
    for (int i = m->own; i < others; i++)
        must("dat_ep_connect",
             dat_ep_connect(m->eps[i], n->attr.ia_address_ptr, shared->quals[i + 1], CONNECT_TIMEOUT, 0, NULL,
                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    for (int i = 0; i < m->own; i++) {
        expect(n->cr, DAT_CONNECTION_REQUEST_EVENT, &event);
        must("dat_cr_accept",
             dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, m->eps[i], 0, NULL));
    }
    for (int i = 0; i < others; i++)
        expect(n->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
}

/* Like fetch(), but yields, because the processes share CPUs. */
static void fetch_shared(const struct node *n, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (n->plan->wait)
        fetch(n, evd, event);
    else
        while (!try_fetch(evd, event))
            sched_yield();
}

static void reap_sends(const struct node *n)
{
    DAT_EVENT event;

    for (int i = 1; i < n->plan->processes; i++)
        fetch_shared(n, n->request, &event);
}

static void run_rounds(struct mesh *m, long rounds)
{
    const struct node *n = &m->node;
    int others = n->plan->processes - 1;
    DAT_EVENT event;

    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < others; i++)
            post(m, m->eps[(i + m->own) % others], 1);
        for (int i = 0; i < others; i++) {
            fetch_shared(n, n->recv, &event);
            post(m, event.event_data.dto_completion_event_data.user_cookie.as_ptr, 0);
        }
        /* Reap the sends of the previous round only now: their completion can depend on the peer's next message. */
        if (r > 0)
            reap_sends(n);
    }
    reap_sends(n);
}

static void take_part(struct plan *plan, int own)
{
    static struct mesh mesh;
    double began, seconds;

    mesh.node.plan = plan;
    mesh.own = own;
    open_mesh(&mesh);
    connect_mesh(&mesh);
    run_rounds(&mesh, plan->warmup);
    meet_all(plan, 2);
    began = now();
    run_rounds(&mesh, plan->iterations);
    meet_all(plan, 3);
    seconds = now() - began;
    if (own == 0)
        result("rate", (double)plan->iterations * plan->processes * (plan->processes - 1) / seconds, "1/s");
    must("dat_ia_close", dat_ia_close(mesh.node.ia, DAT_CLOSE_ABRUPT_FLAG));
}

void run_mesh(struct plan *plan, void *node)
{
    int status;

    (void)node;
    role = "mesh";
    if (plan->processes < 2 || plan->processes > MAX_PROCESSES)
        fail("%d processes instead of 2 to %d", plan->processes, MAX_PROCESSES);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("no memory");
    for (int i = 0; i < plan->processes; i++) {
        pid_t child = fork();

        if (child < 0)
            fail("no process");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            take_part(plan, i);
            exit(0);
        }
    }
    for (int i = 0; i < plan->processes; i++)
        /* If a process fails, the others wait for its messages indefinitely. */
        if (wait(&status) < 0 || status != 0)
            fail("a process failed");
}
