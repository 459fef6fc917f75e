/*
 * limits.c - a process with RLIMIT_AS creates objects of one kind until a call fails.
 *
 * The call must return DAT_INSUFFICIENT_RESOURCES, on shm with DAT_RESOURCE_MEMORY. After some objects have been freed,
 * others can be created. After all have been freed, a complete life (life.h) succeeds. The same holds for the first
 * dat_ia_open, which loads the provider, and for dat_cno_create without a thread for the agent.
 */
#define _GNU_SOURCE
#include "common/env.h"
#include "common/tap.h"
#include "common/wait.h"

#include "life.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than any adapter permits. */
#define MAX_OBJECTS 1100000

/*
 * shm permits 65536 objects of a kind, including existing objects, and memory can suffice for all. If a creation fails
 * after fewer than SHM_OBJECTS objects, the reason must be a lack of memory.
 */
#define SHM_OBJECTS 65000
/* Maximum number of service points of an adapter with ports, so that other programs find one. Linux has 28,232. */
#define PORTS 20000

/*
 * Maximum number of frees before a creation must succeed again. One free might not suffice, because the failed creation
 * can have enlarged a list of the library.
 */
#define MAX_FREED 256

static struct {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE evd;
    DAT_EVD_HANDLE cr;
} base;

static char memory[4096];

static DAT_RETURN make_pz(DAT_HANDLE *made)
{
    return dat_pz_create(base.ia, made);
}

static DAT_RETURN make_lmr(DAT_HANDLE *made)
{
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_CONTEXT context;
    DAT_RMR_CONTEXT remote;

    memset(&where, 0, sizeof where);
    where.for_va = memory;
    return dat_lmr_create(base.ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, base.pz, DAT_MEM_PRIV_ALL_FLAG,
                          made, &context, &remote, NULL, NULL);
}

static DAT_RETURN make_rmr(DAT_HANDLE *made)
{
    return dat_rmr_create(base.pz, made);
}

static DAT_RETURN make_cno(DAT_HANDLE *made)
{
    return dat_cno_create(base.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, made);
}

static DAT_RETURN make_evd(DAT_HANDLE *made)
{
    return dat_evd_create(base.ia, 10, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, made);
}

static DAT_RETURN make_long_evd(DAT_HANDLE *made)
{
    return dat_evd_create(base.ia, 100000, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, made);
}

static DAT_RETURN make_ep(DAT_HANDLE *made)
{
    return dat_ep_create(base.ia, base.pz, base.evd, base.evd, base.evd, NULL, made);
}

static DAT_RETURN make_srq(DAT_HANDLE *made)
{
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = 1000;
    attr.max_recv_iov = 4;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    return dat_srq_create(base.ia, base.pz, &attr, made);
}

static DAT_RETURN make_psp(DAT_HANDLE *made)
{
    DAT_CONN_QUAL qual = 0;

    return dat_psp_create_any(base.ia, &qual, base.cr, DAT_PSP_CONSUMER_FLAG, made);
}

static DAT_RETURN make_ia(DAT_HANDLE *made)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

    return dat_ia_open(env_ia(), 2000, &async, made);
}

static DAT_RETURN close_ia(DAT_HANDLE ia)
{
    return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
}

static const struct kind {
    const char *name;
    DAT_RETURN (*make)(DAT_HANDLE *made);
    DAT_RETURN (*end)(DAT_HANDLE object);
    /* Address space in MiB that the limit leaves to the process. */
    unsigned room;
} kinds[] = {
    { "dat_pz_create", make_pz, dat_pz_free, 4 },
    { "dat_lmr_create", make_lmr, dat_lmr_free, 4 },
    { "dat_rmr_create", make_rmr, dat_rmr_free, 4 },
    { "dat_cno_create", make_cno, dat_cno_free, 4 },
    { "dat_evd_create", make_evd, dat_evd_free, 4 },
    { "dat_evd_create of long EVDs", make_long_evd, dat_evd_free, 40 },
    { "dat_ep_create", make_ep, dat_ep_free, 4 },
    { "dat_ep_create, more memory", make_ep, dat_ep_free, 17 },
    { "dat_srq_create", make_srq, dat_srq_free, 9 },
    { "dat_psp_create_any", make_psp, dat_psp_free, 0 },
    { "dat_ia_open", make_ia, close_ia, 12 },
};

struct report {
    long made;
    DAT_RETURN code;
    long again;
    const char *wrong;
    DAT_RETURN wrong_code;
    struct life whole;
};

static struct report *report;
static DAT_HANDLE *made;

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static int must_do(const char *what, DAT_RETURN rc)
{
    if (rc == DAT_SUCCESS)
        return 0;
    report->wrong = what;
    report->wrong_code = rc;
    return 1;
}

/* Grows the stack before the limit is set, because the kernel kills a process whose stack cannot grow. */
static void use_stack(void)
{
    volatile char room[256 << 10];

    for (size_t i = 0; i < sizeof room; i += 4096)
        room[i] = 0;
}

/* Returns the maximum number of objects to create. */
static long most(const struct kind *kind)
{
    return kind->make == make_psp && !env_is_shm() ? PORTS : MAX_OBJECTS;
}

static int child(const struct kind *kind)
{
    struct rlimit limit, unlimited;
    long n = 0, half;

    /* Load and use the library before the limit is set. */
    life_live(&report->whole, false, SOON_MS);
    if (report->whole.wrong != NULL)
        return 1;
    if (must_do("dat_ia_open", dat_ia_open(env_ia(), 8, &base.async, &base.ia)) ||
        must_do("dat_pz_create", dat_pz_create(base.ia, &base.pz)) ||
        must_do("dat_evd_create", dat_evd_create(base.ia, 10, DAT_HANDLE_NULL,
                                                 DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &base.evd)) ||
        must_do("dat_evd_create", dat_evd_create(base.ia, 10, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &base.cr)))
        return 1;
    use_stack();
    getrlimit(RLIMIT_AS, &unlimited);
    limit = unlimited;
    limit.rlim_cur = address_space() + ((rlim_t)kind->room << 20);
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    while (n < most(kind) && (report->code = kind->make(&made[n])) == DAT_SUCCESS)
        n++;
    report->made = n;
    /*
     * After half of the objects have been freed, more than half as many must be possible. Not all, because malloc
     * fragments memory.
     */
    if (n > 0) {
        DAT_RETURN rc = DAT_INSUFFICIENT_RESOURCES;
        DAT_HANDLE fresh = DAT_HANDLE_NULL;

        for (long k = 1; k <= n && k <= MAX_FREED && rc != DAT_SUCCESS; k++) {
            if (must_do("the free of one", kind->end(made[n - k])))
                return 1;
            made[n - k] = DAT_HANDLE_NULL;
            rc = kind->make(&fresh);
        }
        if (must_do("the creation after the free of a few", rc))
            return 1;
        made[n - 1] = fresh;
        half = n / 2;
        for (long i = 0; i < half; i++)
            if (made[i] != DAT_HANDLE_NULL && must_do("the free of half of them", kind->end(made[i])))
                return 1;
        memset(made, 0, (size_t)half * sizeof *made);
        while (report->again < half && kind->make(&made[report->again]) == DAT_SUCCESS)
            report->again++;
        if (half > 0 && report->again <= half / 2)
            return must_do("the creation after the free of half", DAT_INSUFFICIENT_RESOURCES);
        /* dat_ia_close frees the second half, but not other adapters. */
        for (long i = 0; i < (kind->make == make_ia ? n : half); i++)
            if (made[i] != DAT_HANDLE_NULL && must_do("the free of the first half", kind->end(made[i])))
                return 1;
    }
    if (must_do("dat_ia_close", dat_ia_close(base.ia, DAT_CLOSE_ABRUPT_FLAG)))
        return 1;
    /* Remove the limit, because a life needs memory for its connections. */
    setrlimit(RLIMIT_AS, &unlimited);
    life_live(&report->whole, false, SOON_MS);
    return report->whole.wrong != NULL;
}

static void loop(const struct kind *kind)
{
    int status;

    memset(report, 0, sizeof *report);
    if (life_fork(&status, 60000))
        _exit(child(kind));
    diag("%s: %ld made, then %s; after the free of half %ld", kind->name, report->made, rc_text(report->code),
         report->again);
    if (!WIFEXITED(status))
        fail("%s: until memory is out: the process goes on (ended by %s)", kind->name,
             strsignal(WTERMSIG(status)));
    else if (report->wrong != NULL)
        fail("%s: until memory is out: %s succeeds, not %s", kind->name, report->wrong,
             rc_text(report->wrong_code));
    else if (report->whole.wrong != NULL)
        fail("%s: until memory is out: a whole life goes through, not %s", kind->name, report->whole.wrong);
    else if (env_is_shm() && report->made < SHM_OBJECTS && DAT_GET_SUBTYPE(report->code) != DAT_RESOURCE_MEMORY)
        fail("%s: until memory is out: DAT_RESOURCE_MEMORY, not %s", kind->name, rc_text(report->code));
    else if (rc_not_implemented(report->code))
        ok(kind->make == make_rmr && report->made == 0, "%s: only an adapter without windows lacks it", kind->name);
    else if (report->made == most(kind) && kind->make == make_psp)
        skip(1, "%s: memory suffices for more ports than one program may take", kind->name);
    else
        is_type(report->made < most(kind) ? report->code : DAT_INSUFFICIENT_RESOURCES, DAT_INSUFFICIENT_RESOURCES,
                "%s: until memory is out: DAT_INSUFFICIENT_RESOURCES, and it works afterwards", kind->name);
}

/* The first open of a process, which loads the provider, with 1 MiB of address space, and then without a limit. */
static int opens_first(void)
{
    struct rlimit unlimited, limit;

    getrlimit(RLIMIT_AS, &unlimited);
    limit = unlimited;
    limit.rlim_cur = address_space() + (1u << 20);
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 2;
    report->code = dat_ia_open(env_ia(), 8, &base.async, &base.ia);
    setrlimit(RLIMIT_AS, &unlimited);
    base.async = DAT_HANDLE_NULL;
    return must_do("dat_ia_open", dat_ia_open(env_ia(), 8, &base.async, &base.ia)) ||
           must_do("dat_ia_close", dat_ia_close(base.ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static volatile int agent_calls;

static void agent(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
    (void)data;
    agent_calls += evd != DAT_HANDLE_NULL;
}

static bool was_called(void *arg)
{
    (void)arg;
    return agent_calls == 1;
}

/* A user that can start no thread creates a CNO with an agent, and then again without the limit. */
static int creates_agent(void)
{
    DAT_OS_WAIT_PROXY_AGENT proxy = { NULL, agent };
    DAT_CNO_HANDLE cno, without;
    DAT_EVD_HANDLE evd;
    DAT_EVENT event;
    struct rlimit unlimited, limit;
    uid_t user = 52000u + (uid_t)getpid() % 5000u;

    if (must_do("dat_ia_open", dat_ia_open(env_ia(), 8, &base.async, &base.ia)) ||
        must_do("dat_cno_create", dat_cno_create(base.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &without)))
        return 1;
    getrlimit(RLIMIT_NPROC, &unlimited);
    limit = unlimited;
    limit.rlim_cur = 1;
    /* The limit does not bind root. For an ordinary user, this process already reaches it. */
    if ((geteuid() == 0 && setuid(user) != 0) || setrlimit(RLIMIT_NPROC, &limit) != 0)
        return 2;
    report->code = dat_cno_create(base.ia, proxy, &cno);
    report->again = rc_is(dat_cno_modify_agent(without, proxy), DAT_INSUFFICIENT_RESOURCES);
    setrlimit(RLIMIT_NPROC, &unlimited);
    memset(&event, 0, sizeof event);
    event.event_number = DAT_SOFTWARE_EVENT;
    return must_do("dat_cno_create", dat_cno_create(base.ia, proxy, &cno)) ||
           must_do("dat_evd_create", dat_evd_create(base.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd)) ||
           must_do("dat_evd_post_se", dat_evd_post_se(evd, &event)) || !wait_until(was_called, NULL, SOON_MS);
}

/*
 * Runs a child whose call fails, and which repeats the call without the limit. Skips the subtests if the child cannot
 * set the limit.
 */
static void lacks(const char *name, int (*child)(void))
{
    int status;

    memset(report, 0, sizeof *report);
    if (life_fork(&status, 60000))
        _exit(child());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        skip_named(name, "the process cannot set the limit");
        return;
    }
    is_type(report->code, DAT_INSUFFICIENT_RESOURCES, "%s: DAT_INSUFFICIENT_RESOURCES", name);
    ok(status == 0, "%s: works afterwards (%s)", name, rc_text(report->wrong_code));
}

int main(int argc, char **argv)
{
    env_init(argc, argv, NULL);
    /* Otherwise each thread gets 64 MiB of address space, in which hundreds of thousands of objects have room. */
    mallopt(M_ARENA_MAX, 1);
    (void)env_is_iwarp(); /* The first call starts a process, which the lives must not. */
    if (env_valgrind())
        skip_all("valgrind needs address space of its own");
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    made = mmap(NULL, MAX_OBJECTS * sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED || made == MAP_FAILED)
        bail("no memory for the test itself");
    if (env_has_device())
        skip_named("the first dat_ia_open", "the libraries of an RDMA device can remain unusable");
    else
        lacks("the first dat_ia_open without address space", opens_first);
    lacks("dat_cno_create: an agent without a thread", creates_agent);
    if (report->code != DAT_SUCCESS)
        ok(report->again, "dat_cno_modify_agent: an agent without a thread: DAT_INSUFFICIENT_RESOURCES");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (env_is_iwarp() && kinds[i].make == make_psp)
            skip_named(kinds[i].name, "the listening sockets first use up the memory of the kernel");
        else
            loop(&kinds[i]);
    return done_testing();
}
