/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * round.c - rounds of a send, its receive and both completions between two endpoints of one process, as in
 * perf/fast_path.c, in a process that has done something else before (--past):
 *
 *   nothing      the objects of the rounds are the first ones
 *   churned      thousands of zones were made and freed
 *   crowded      thousands of regions are live
 *   connections  hundreds of connections were made and closed
 *   no_membarrier  the kernel lacks membarrier(2), so that every lock and section needs locked instructions
 *   second       another adapter of the provider, ADAPTER-other, was opened before and is open
 */
#include "hot.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define BATCH   256
#define BATCHES 401

/* More than the library keeps back of freed handles. */
#define ZONES       6000
#define REGIONS     3000
#define CONNECTIONS 600

static void connect_both(struct node *a, struct node *b)
{
    DAT_CONN_QUAL qual;
    DAT_EVENT event;

    must("dat_psp_create_any", dat_psp_create_any(b->ia, &qual, b->cr, DAT_PSP_CONSUMER_FLAG, &b->psp));
    must("dat_ep_connect", dat_ep_connect(a->ep, b->attr.ia_address_ptr, qual, DAT_TIMEOUT_INFINITE, 0, NULL,
                                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    expect(b->cr, DAT_CONNECTION_REQUEST_EVENT, &event);
    must("dat_cr_accept", dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b->ep, 0, NULL));
    expect(a->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
    expect(b->conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
}

static void no_past(struct plan *plan)
{
    (void)plan;
}

static void churn(struct plan *plan)
{
    static struct node n;
    DAT_PZ_HANDLE pz;

    node_open(&n, plan, 0);
    for (int i = 0; i < ZONES; i++) {
        must("dat_pz_create", dat_pz_create(n.ia, &pz));
        must("dat_pz_free", dat_pz_free(pz));
    }
}

static void crowd(struct plan *plan)
{
    static struct node n;
    static struct memory regions[REGIONS];

    node_open(&n, plan, 0);
    for (int i = 0; i < REGIONS; i++)
        memory_make(&n, &regions[i], 64);
}

static void connect_many(struct plan *plan)
{
    static struct node n;
    DAT_EP_HANDLE active;
    DAT_EVENT event;
    DAT_CONN_QUAL qual;
    DAT_CR_HANDLE cr;

    node_open(&n, plan, 0);
    must("dat_psp_create_any", dat_psp_create_any(n.ia, &qual, n.cr, DAT_PSP_CONSUMER_FLAG, &n.psp));
    for (int i = 0; i < CONNECTIONS; i++) {
        DAT_EP_HANDLE passive;

        must("dat_ep_create", dat_ep_create(n.ia, n.pz, n.recv, n.request, n.conn, NULL, &active));
        must("dat_ep_create", dat_ep_create(n.ia, n.pz, n.recv, n.request, n.conn, NULL, &passive));
        must("dat_ep_connect", dat_ep_connect(active, n.attr.ia_address_ptr, qual, DAT_TIMEOUT_INFINITE, 0, NULL,
                                              DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
        expect(n.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
        cr = event.event_data.cr_arrival_event_data.cr_handle;
        must("dat_cr_accept", dat_cr_accept(cr, passive, 0, NULL));
        for (int k = 0; k < 2; k++)
            expect(n.conn, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
        must("dat_ep_disconnect", dat_ep_disconnect(active, DAT_CLOSE_ABRUPT_FLAG));
        for (int k = 0; k < 2; k++)
            expect(n.conn, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
        must("dat_ep_free", dat_ep_free(active));
        must("dat_ep_free", dat_ep_free(passive));
    }
}

static void open_other(struct plan *plan)
{
    char name[DAT_NAME_MAX_LENGTH];
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;

    snprintf(name, sizeof name, "%s-other", plan->adapter);
    must("dat_ia_open", dat_ia_open(name, 8, &async, &ia));
}

static void no_membarrier(struct plan *plan)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

    (void)plan;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        fail("no filter of system calls");
}

static const struct {
    const char *name;
    void (*make)(struct plan *plan);
} pasts[] = {
    { "nothing", no_past }, { "churned", churn }, { "crowded", crowd },
    { "connections", connect_many }, { "second", open_other }, { "no_membarrier", no_membarrier },
};

void run_round(struct plan *plan, void *node)
{
    static struct node a, b;
    static double each[BATCHES];
    size_t past = 0;
    DAT_EVENT event;

    (void)node;
    while (past < sizeof pasts / sizeof pasts[0] && strcmp(pasts[past].name, plan->past) != 0)
        past++;
    if (past == sizeof pasts / sizeof pasts[0])
        fail("--past %s: see round.c", plan->past);
    pasts[past].make(plan);
    node_open(&a, plan, 0);
    node_open(&b, plan, 0);
    connect_both(&a, &b);
    for (int i = 0; i < BATCHES; i++) {
        double began = now();

        for (int k = 0; k < BATCH; k++) {
            post_send(&a, plan->size);
            fetch(&b, b.recv, &event);
            post_recv(&b);
            reap(&a);
        }
        each[i] = (now() - began) / BATCH;
    }
    result("round", median_of(each, BATCHES) * 1e9, "ns");
    must("dat_ia_close", dat_ia_close(a.ia, DAT_CLOSE_ABRUPT_FLAG));
    must("dat_ia_close", dat_ia_close(b.ia, DAT_CLOSE_ABRUPT_FLAG));
}
