/*
 * open.c - repeatedly opens and closes the adapter with a limit of 50 descriptors, and reports the descriptors that
 * rdma-core keeps.
 */
#define _DEFAULT_SOURCE
#include "adapters.h"

#include <string.h>
#include <sys/resource.h>

enum { ROUNDS = 400, DESCRIPTORS = 50 };

static bool open_close(DAT_CLOSE_FLAGS how)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia;
    DAT_RETURN rc = dat_ia_open(env_ia(), 8, &async, &ia);

    if (rc == DAT_SUCCESS)
        rc = dat_ia_close(ia, how);
    if (rc != DAT_SUCCESS)
        diag("%s", rc_text(rc));
    return rc == DAT_SUCCESS;
}

/* Creates an object of most kinds; frees each, or only closes the adapter. */
static void with_objects(bool tidy)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_SRQ_ATTR attr = { 8, 1, DAT_SRQ_LW_DEFAULT };
    DAT_SRQ_HANDLE srq;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual = 0;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, DAT_MEM_PRIV_ALL_FLAG);
    must_rc(dat_srq_create(fx.ia, fx.pz, &attr, &srq), DAT_SUCCESS, "dat_srq_create");
    must_rc(dat_cno_create(fx.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), DAT_SUCCESS, "dat_cno_create");
    must_rc(dat_evd_create(fx.ia, 8, cno, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS, "dat_evd_create");
    if (fx.max_rmrs > 0)
        must_rc(dat_rmr_create(fx.pz, &rmr), DAT_SUCCESS, "dat_rmr_create");
    psp = fx_listen(&fx, &qual);
    if (!tidy) {
        fx_close(&fx);
        return;
    }
    must_rc(dat_psp_free(psp), DAT_SUCCESS, "dat_psp_free");
    if (rmr != DAT_HANDLE_NULL)
        must_rc(dat_rmr_free(rmr), DAT_SUCCESS, "dat_rmr_free");
    must_rc(dat_evd_free(evd), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_cno_free(cno), DAT_SUCCESS, "dat_cno_free");
    must_rc(dat_srq_free(srq), DAT_SUCCESS, "dat_srq_free");
    region_free(&r);
    side_free(&s);
    must_rc(dat_evd_free(fx.cr), DAT_SUCCESS, "dat_evd_free");
    must_rc(dat_pz_free(fx.pz), DAT_SUCCESS, "dat_pz_free");
    must_rc(dat_ia_close(fx.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS, "dat_ia_close");
}

int main(int argc, char **argv)
{
    int rounds, good = 0, fds, before;
    struct rlimit limit;
    long memory;

    env_init(argc, argv, NULL);
    rounds = env_count(ROUNDS, 40);
    say_descriptors("before the first open");
    must(open_close(DAT_CLOSE_GRACEFUL_FLAG), "the first open");
    with_objects(true);
    with_objects(false);
    say_descriptors("that the libraries keep");
    must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = DESCRIPTORS;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    fds = entries("/proc/self/fd");
    before = threads();
    memory = resident_kib();

    while (good < rounds && open_close(good % 2 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG))
        good++;
    is_int(good, rounds, "dat_ia_open, dat_ia_close: %d times with %d descriptors: success", rounds,
           DESCRIPTORS);
    is_int(entries("/proc/self/fd"), fds, "dat_ia_close: as many descriptors as before");
    for (int i = 0; i < rounds; i++)
        with_objects(i % 2);
    pass("dat_ia_open, objects, dat_ia_close: %d times with %d descriptors: success", rounds,
         DESCRIPTORS);
    ok(wait_until(descriptors_at_most, &fds, SOON_MS), "dat_ia_close: as many descriptors as before");
    ok(wait_until(threads_at_most, &before, SOON_MS), "dat_ia_close: as many threads as before");
    say_descriptors("in the end");
    ok(resident_kib() - memory < 8 * 1024, "dat_ia_close: memory does not grow");
    diag("  resident: %ld KiB, %ld KiB before", resident_kib(), memory);
    return done_testing();
}
