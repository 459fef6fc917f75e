/* life.c - see life.h. */
#define _GNU_SOURCE
#include "life.h"

#include "common/env.h"
#include "common/fixture.h"
#include "common/tap.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (200u << 10)

#define MAX_TRIES 20

enum { CR_EVD, CONN, RECV, REQ, ALL, EVDS };

/* All objects of a life. They are static, because a life allocates nothing. */
static struct {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async;
    DAT_PZ_HANDLE pz;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd[EVDS];
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT remote;
    DAT_RMR_HANDLE rmr;
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE active, passive, shared;
    DAT_PSP_HANDLE psp;
    DAT_RSP_HANDLE rsp;
    DAT_EP_HANDLE reserved;
    struct sockaddr_storage address;
} it;

static unsigned char memory[2 * SIZE];
static struct life *now;
static bool may_lack;
static unsigned timeout_ms;

/* Returns whether the call succeeded. If not, records in *now that it was refused, or that it failed wrongly. */
static bool succeeded(const char *call, DAT_RETURN rc)
{
    if (rc == DAT_SUCCESS)
        return true;
    if (may_lack && rc_is(rc, DAT_INSUFFICIENT_RESOURCES)) {
        now->refused = call;
        now->code = rc;
    } else {
        now->wrong = call;
        now->wrong_code = rc;
    }
    return false;
}

#define TRY(call, arguments)           \
    do {                               \
        if (!succeeded(#call, call arguments)) \
            return false;              \
    } while (0)

/* Records that no event has arrived, or a wrong event. Returns false. */
static bool no_event(const char *what)
{
    if (may_lack)
        now->refused = what;
    else
        now->wrong = what;
    return false;
}

static bool wait_for(DAT_EVD_HANDLE evd, DAT_EVENT *e)
{
    DAT_COUNT more;
    DAT_RETURN rc = dat_evd_wait(evd, (DAT_TIMEOUT)(timeout_ms * 1000u), 1, e, &more);

    if (rc == DAT_SUCCESS)
        return true;
    if (rc_is(rc, DAT_TIMEOUT_EXPIRED))
        return no_event("dat_evd_wait: nothing came");
    return succeeded("dat_evd_wait", rc);
}

/* Dequeues events up to the completion with the cookie. */
static bool completion(DAT_EVD_HANDLE evd, DAT_UINT64 cookie)
{
    DAT_EVENT e;

    for (;;) {
        if (!wait_for(evd, &e))
            return false;
        if (e.event_number != DAT_DTO_COMPLETION_EVENT ||
            e.event_data.dto_completion_event_data.user_cookie.as_64 != cookie)
            continue;
        if (e.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS)
            return true;
        /* A lack of a resource can break the connection. */
        return no_event("a completion that failed");
    }
}

static bool established(void)
{
    DAT_EVENT e;

    for (int both = 0; both < 2; both++) {
        if (!wait_for(it.evd[CONN], &e))
            return false;
        if (e.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
            return no_event("a connection that was not established");
    }
    return true;
}

static DAT_LMR_TRIPLET part(size_t offset, size_t length)
{
    DAT_LMR_TRIPLET t;

    memset(&t, 0, sizeof t);
    t.lmr_context = it.local;
    t.virtual_address = (DAT_VADDR)(uintptr_t)(memory + offset);
    t.segment_length = length;
    return t;
}

static DAT_DTO_COOKIE named(DAT_UINT64 value)
{
    DAT_DTO_COOKIE c;

    memset(&c, 0, sizeof c);
    c.as_64 = value;
    return c;
}

static bool make(void)
{
    static DAT_IA_ATTR ia;
    static const int flags[EVDS] = {
        DAT_EVD_CR_FLAG, DAT_EVD_CONNECTION_FLAG, DAT_EVD_DTO_FLAG,
        DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, DAT_EVD_SOFTWARE_FLAG,
    };
    DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
    DAT_REGION_DESCRIPTION where;
    DAT_VLEN length;
    DAT_VADDR address;
    DAT_SRQ_ATTR srq;
    DAT_RETURN rc;

    it.async = DAT_HANDLE_NULL;
    /* Without memory, the loader may fail to load the provider library. */
    rc = dat_ia_open(env_ia(), 8, &it.async, &it.ia);
    if (!succeeded("dat_ia_open", rc))
        return false;
    TRY(dat_ia_query, (it.ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_NONE, NULL));
    memcpy(&it.address, ia.ia_address_ptr,
           ia.ia_address_ptr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                    : sizeof(struct sockaddr_in));
    now->address = it.address;
    TRY(dat_pz_create, (it.ia, &it.pz));
    TRY(dat_cno_create, (it.ia, none, &it.cno));
    for (int i = 0; i < EVDS; i++)
        TRY(dat_evd_create, (it.ia, 32, i == ALL ? it.cno : DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags[i],
                             &it.evd[i]));
    memset(&where, 0, sizeof where);
    where.for_va = memory;
    TRY(dat_lmr_create, (it.ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, it.pz, DAT_MEM_PRIV_ALL_FLAG,
                         &it.lmr, &it.local, &it.remote, &length, &address));
    if (ia.max_rmrs > 0)
        TRY(dat_rmr_create, (it.pz, &it.rmr));
    memset(&srq, 0, sizeof srq);
    srq.max_recv_dtos = 16;
    srq.max_recv_iov = 4;
    srq.low_watermark = DAT_SRQ_LW_DEFAULT;
    TRY(dat_srq_create, (it.ia, it.pz, &srq, &it.srq));
    TRY(dat_ep_create, (it.ia, it.pz, it.evd[RECV], it.evd[REQ], it.evd[CONN], NULL, &it.active));
    TRY(dat_ep_create, (it.ia, it.pz, it.evd[RECV], it.evd[REQ], it.evd[CONN], NULL, &it.passive));
    TRY(dat_ep_create, (it.ia, it.pz, it.evd[RECV], it.evd[REQ], it.evd[CONN], NULL, &it.reserved));
    return true;
}

static bool change(void)
{
    DAT_EP_PARAM p;
    DAT_EVENT e, told;
    DAT_LMR_TRIPLET t = part(0, 64);

    memset(&p, 0, sizeof p);
    p.ep_attr.max_recv_dtos = 40;
    TRY(dat_ep_modify, (it.active, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &p));
    TRY(dat_evd_resize, (it.evd[RECV], 500));
    TRY(dat_srq_resize, (it.srq, 250));
    for (int i = 0; i < 20; i++)
        TRY(dat_srq_post_recv, (it.srq, 1, &t, named(900 + (DAT_UINT64)i)));
    TRY(dat_srq_set_lw, (it.srq, 4));
    memset(&e, 0, sizeof e);
    e.event_number = DAT_SOFTWARE_EVENT;
    TRY(dat_evd_post_se, (it.evd[ALL], &e));
    if (!wait_for(it.evd[ALL], &told))
        return false;
    TRY(dat_cno_modify_agent, (it.cno, DAT_OS_WAIT_PROXY_AGENT_NULL));
    return true;
}

/* Tries several qualifiers: another process or dat_psp_create_any may have taken one. */
static DAT_RETURN reserve(void)
{
    DAT_RETURN rc = DAT_CONN_QUAL_IN_USE;

    for (int i = 0; i < MAX_TRIES && rc_is(rc, DAT_CONN_QUAL_IN_USE); i++)
        rc = dat_rsp_create(it.ia, unique_qual(false), it.reserved, it.evd[CR_EVD], &it.rsp);
    return rc;
}

static DAT_RETURN provide(DAT_CONN_QUAL *qual, DAT_PSP_HANDLE *psp)
{
    DAT_RETURN rc = DAT_CONN_QUAL_IN_USE;

    for (int i = 0; i < MAX_TRIES && rc_is(rc, DAT_CONN_QUAL_IN_USE); i++)
        rc = dat_psp_create(it.ia, *qual = unique_qual(false), it.evd[CR_EVD], DAT_PSP_CONSUMER_FLAG, psp);
    return rc;
}

/*
 * Waits until this thread has slept once in a wait. A sleep allocates what the thread keeps, such as a descriptor on
 * devices, and other waits of a life might not need to sleep.
 */
static bool sleep_once(DAT_EVD_HANDLE evd)
{
    enum { MICROSECONDS = 2000, TIMES = 1000 };
    struct rusage before, after;
    DAT_COUNT more;
    DAT_EVENT e;

    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < TIMES; i++) {
        DAT_RETURN rc = dat_evd_wait(evd, MICROSECONDS, 1, &e, &more);

        if (!rc_is(rc, DAT_TIMEOUT_EXPIRED))
            return succeeded("dat_evd_wait: nothing can come", rc);
        getrusage(RUSAGE_THREAD, &after);
        if (after.ru_nvcsw > before.ru_nvcsw)
            return true;
    }
    return true;
}

static bool connect_both(void)
{
    static char hello[16] = "hello";
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT e;
    DAT_LMR_TRIPLET t = part(SIZE, SIZE);

    if (!sleep_once(it.evd[CR_EVD]))
        return false;
    /* Post receives before the connection, because the library stores them in separate lists. */
    for (int i = 0; i < 6; i++)
        TRY(dat_ep_post_recv, (it.passive, 1, &t, named(100 + (DAT_UINT64)i), DAT_COMPLETION_DEFAULT_FLAG));
    TRY(dat_psp_create_any, (it.ia, &qual, it.evd[CR_EVD], DAT_PSP_CONSUMER_FLAG, &it.psp));
    if (!succeeded("dat_rsp_create", reserve()))
        return false;
    TRY(dat_ep_connect, (it.active, (DAT_IA_ADDRESS_PTR)&it.address, qual, (DAT_TIMEOUT)(timeout_ms * 1000u),
                         sizeof hello, hello, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    if (!wait_for(it.evd[CR_EVD], &e))
        return false;
    TRY(dat_cr_accept, (e.event_data.cr_arrival_event_data.cr_handle, it.passive, sizeof hello, hello));
    return established() && sleep_once(it.evd[RECV]);
}

static bool move(void)
{
    static const size_t sizes[] = { 0, 8, 4000, 30000, SIZE };
    DAT_RMR_TRIPLET to, bound;
    DAT_RMR_COOKIE k;
    DAT_LMR_TRIPLET t;
    DAT_EVENT e;

    memset(&to, 0, sizeof to);
    to.rmr_context = it.remote;
    to.target_address = (DAT_VADDR)(uintptr_t)(memory + SIZE);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        t = part(0, sizes[i]);
        pattern_fill(memory, SIZE, i);
        memset(memory + SIZE, 0, SIZE);
        TRY(dat_ep_post_send, (it.active, sizes[i] != 0, &t, named(200 + i), DAT_COMPLETION_DEFAULT_FLAG));
        if (!completion(it.evd[RECV], 100 + i) || !completion(it.evd[REQ], 200 + i))
            return false;
        if (memcmp(memory, memory + SIZE, sizes[i]) != 0) {
            now->wrong = "a message arrived wrong";
            return false;
        }
        if (sizes[i] == 0)
            continue;
        memset(memory + SIZE, 0, SIZE);
        to.segment_length = (DAT_SEG_LENGTH)sizes[i];
        TRY(dat_ep_post_rdma_write, (it.active, 1, &t, named(300 + i), &to, DAT_COMPLETION_DEFAULT_FLAG));
        if (!completion(it.evd[REQ], 300 + i))
            return false;
        if (!written(memory + SIZE, sizes[i], i)) {
            now->wrong = "an RDMA write went wrong";
            return false;
        }
        memset(memory, 0, SIZE);
        TRY(dat_ep_post_rdma_read, (it.active, 1, &t, named(400 + i), &to, DAT_COMPLETION_DEFAULT_FLAG));
        if (!completion(it.evd[REQ], 400 + i))
            return false;
        if (memcmp(memory, memory + SIZE, sizes[i]) != 0) {
            now->wrong = "an RDMA read went wrong";
            return false;
        }
    }
    /* An adapter without windows, such as soft-iWARP. */
    if (it.rmr == DAT_HANDLE_NULL)
        return true;
    memset(&k, 0, sizeof k);
    k.as_64 = 500;
    t = part(SIZE, 4096);
    memset(&bound, 0, sizeof bound);
    TRY(bind_to_lmr, (it.rmr, it.lmr, &t, DAT_MEM_PRIV_ALL_FLAG, it.passive, k, DAT_COMPLETION_DEFAULT_FLAG,
                      &bound.rmr_context));
    do {
        if (!wait_for(it.evd[REQ], &e))
            return false;
    } while (e.event_number != DAT_RMR_BIND_COMPLETION_EVENT);
    return true;
}

static bool part_and_meet_again(void)
{
    DAT_EP_ATTR attr;
    DAT_EP_STATE state;
    DAT_EVENT e;
    DAT_LMR_TRIPLET t = part(0, 64);
    static DAT_EP_PARAM p;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qual = 0;

    TRY(dat_ep_disconnect, (it.active, DAT_CLOSE_ABRUPT_FLAG));
    for (int both = 0; both < 2; both++)
        if (!wait_for(it.evd[CONN], &e))
            return false;
    TRY(dat_ep_get_status, (it.active, &state, NULL, NULL));
    TRY(dat_ep_reset, (it.active));
    TRY(dat_ep_query, (it.active, DAT_EP_FIELD_ALL, &p));
    attr = p.ep_attr;
    /* An endpoint on the shared receive queue. */
    attr.max_recv_dtos = 16;
    attr.max_recv_iov = 4;
    attr.srq_soft_hw = DAT_HW_DEFAULT;
    TRY(dat_ep_create_with_srq, (it.ia, it.pz, it.evd[RECV], it.evd[REQ], it.evd[CONN], it.srq, &attr,
                                 &it.shared));
    if (!succeeded("dat_psp_create", provide(&qual, &psp)))
        return false;
    TRY(dat_ep_connect, (it.active, (DAT_IA_ADDRESS_PTR)&it.address, qual, (DAT_TIMEOUT)(timeout_ms * 1000u), 0,
                         NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    if (!wait_for(it.evd[CR_EVD], &e))
        return false;
    TRY(dat_cr_accept, (e.event_data.cr_arrival_event_data.cr_handle, it.shared, 0, NULL));
    if (!established())
        return false;
    TRY(dat_psp_free, (psp));
    TRY(dat_ep_post_send, (it.active, 1, &t, named(600), DAT_COMPLETION_DEFAULT_FLAG));
    return completion(it.evd[RECV], 900) && completion(it.evd[REQ], 600);
}

/* Records an error if a free or close fails. */
static void torn_down(const char *call, DAT_RETURN rc)
{
    if (rc != DAT_SUCCESS && now->wrong == NULL) {
        now->wrong = call;
        now->wrong_code = rc;
    }
}

#define FREE(call, handle)                  \
    do {                                    \
        if ((handle) != DAT_HANDLE_NULL)    \
            torn_down(#call, call(handle));      \
        (handle) = DAT_HANDLE_NULL;         \
    } while (0)

static void end(void)
{
    DAT_EVENT e;
    bool all = now->refused == NULL && now->wrong == NULL;

    if (it.ia == DAT_HANDLE_NULL)
        return;
    FREE(dat_rsp_free, it.rsp);
    FREE(dat_psp_free, it.psp);
    FREE(dat_ep_free, it.active);
    FREE(dat_ep_free, it.passive);
    FREE(dat_ep_free, it.shared);
    FREE(dat_ep_free, it.reserved);
    FREE(dat_rmr_free, it.rmr);
    FREE(dat_srq_free, it.srq);
    FREE(dat_lmr_free, it.lmr);
    if (all) {
        FREE(dat_pz_free, it.pz);
        for (int i = 0; i < EVDS; i++) {
            while (dat_evd_dequeue(it.evd[i], &e) == DAT_SUCCESS)
                ;
            FREE(dat_evd_free, it.evd[i]);
        }
        FREE(dat_cno_free, it.cno);
        torn_down("dat_ia_close, graceful", dat_ia_close(it.ia, DAT_CLOSE_GRACEFUL_FLAG));
    } else {
        /* Close abruptly, because service points and requests may still exist. */
        torn_down("dat_ia_close", dat_ia_close(it.ia, DAT_CLOSE_ABRUPT_FLAG));
    }
    memset(&it, 0, sizeof it);
}

void life_live(struct life *l, bool lacking, unsigned ms)
{
    memset(l, 0, sizeof *l);
    memset(&it, 0, sizeof it);
    now = l;
    may_lack = lacking;
    timeout_ms = env_ms(ms);
    (void)(make() && change() && connect_both() && move() && part_and_meet_again());
    end();
}

bool life_fork(int *status, unsigned ms)
{
    pid_t pid;

    *status = 0;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(env_ms(ms) / 1000);
        return true;
    }
    if (pid < 0 || waitpid(pid, status, 0) != pid)
        bail("no child");
    return false;
}
