/* handles.c - all functions reject invalid handles before a provider is called. */
#define _DEFAULT_SOURCE
#include "registry/entries.h"

#include "common/tap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Calls all functions that take a handle, with arbitrary other arguments. */
static void refuse_all(DAT_HANDLE h, const char *what)
{
    DAT_REGION_DESCRIPTION region;
    DAT_OS_WAIT_PROXY_AGENT agent;
    DAT_CONTEXT word;
    DAT_IA_HANDLE ia = NULL;
    DAT_COUNT more;
    int bad = 0;

    memset(&region, 0, sizeof region);
    memset(&agent, 0, sizeof agent);
    memset(&word, 0, sizeof word);

#define REFUSED(subtype, call)                                                      \
    do {                                                                            \
        DAT_RETURN rc = (call);                                                     \
        if (rc != (DAT_RETURN)(DAT_CLASS_ERROR | DAT_INVALID_HANDLE | (subtype))) { \
            scene_ok(false, "%s: %s: 0x%08x", what, #call, (unsigned)rc);           \
            bad++;                                                                  \
        }                                                                           \
    } while (0)

    REFUSED(DAT_INVALID_HANDLE_IA, dat_ia_close(h, DAT_CLOSE_ABRUPT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_ia_query(h, NULL, 0, NULL, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_IA, dats_get_ia_handle(AS_IA(h), &ia));
    REFUSED(DAT_INVALID_HANDLE1, dat_set_consumer_context(h, word));
    REFUSED(DAT_INVALID_HANDLE1, dat_get_consumer_context(h, NULL));
    REFUSED(DAT_INVALID_HANDLE1, dat_get_handle_type(h, NULL));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_cno_create(h, agent, NULL));
    REFUSED(DAT_INVALID_HANDLE_CNO, dat_cno_modify_agent(h, agent));
    REFUSED(DAT_INVALID_HANDLE_CNO, dat_cno_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_CNO, dat_cno_free(h));
    REFUSED(DAT_INVALID_HANDLE_CNO, dat_cno_wait(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_CR, dat_cr_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_CR, dat_cr_accept(h, NULL, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_CR, dat_cr_reject(h));
    REFUSED(DAT_INVALID_HANDLE_CR, dat_cr_handoff(h, 1));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_evd_create(h, 1, NULL, DAT_EVD_SOFTWARE_FLAG, NULL));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_modify_cno(h, NULL));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_enable(h));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_disable(h));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_wait(h, 0, 1, NULL, &more));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_resize(h, 1));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_set_unwaitable(h));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_clear_unwaitable(h));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_post_se(h, NULL));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_dequeue(h, NULL));
    REFUSED(DAT_INVALID_HANDLE1, dat_evd_free(h));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_ep_create(h, NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_IA,
            dat_ep_create_with_srq(h, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_modify(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_EP,
            dat_ep_connect(h, NULL, 1, 1, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_EP,
            dat_ep_dup_connect(h, NULL, 1, 0, NULL, DAT_QOS_BEST_EFFORT));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_EP,
            dat_ep_post_send(h, 0, NULL, word, DAT_COMPLETION_DEFAULT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_EP,
            dat_ep_post_recv(h, 0, NULL, word, DAT_COMPLETION_DEFAULT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_EP,
            dat_ep_post_rdma_read(h, 0, NULL, word, NULL, DAT_COMPLETION_DEFAULT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_EP,
            dat_ep_post_rdma_write(h, 0, NULL, word, NULL, DAT_COMPLETION_DEFAULT_FLAG));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_get_status(h, NULL, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_free(h));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_reset(h));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_recv_query(h, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_set_watermark(h, 1, 1));
    REFUSED(DAT_INVALID_HANDLE_IA,
            dat_lmr_create(h, DAT_MEM_TYPE_VIRTUAL, region, 1, NULL, DAT_MEM_PRIV_NONE_FLAG, NULL,
                           NULL, NULL, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_LMR, dat_lmr_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_LMR, dat_lmr_free(h));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_lmr_sync_rdma_read(h, NULL, 0));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_lmr_sync_rdma_write(h, NULL, 0));
    REFUSED(DAT_INVALID_HANDLE_PZ, dat_rmr_create(h, NULL));
    REFUSED(DAT_INVALID_HANDLE_RMR, dat_rmr_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_RMR, bind_to_lmr(h, NULL, NULL, DAT_MEM_PRIV_NONE_FLAG, NULL, word,
                                                DAT_COMPLETION_DEFAULT_FLAG, NULL));
    REFUSED(DAT_INVALID_HANDLE_RMR, dat_rmr_free(h));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_psp_create(h, 1, NULL, DAT_PSP_CONSUMER_FLAG, NULL));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_psp_create_any(h, NULL, NULL, DAT_PSP_CONSUMER_FLAG, NULL));
    REFUSED(DAT_INVALID_HANDLE_PSP, dat_psp_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_PSP, dat_psp_free(h));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_rsp_create(h, 1, NULL, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_RSP, dat_rsp_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_RSP, dat_rsp_free(h));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_pz_create(h, NULL));
    REFUSED(DAT_INVALID_HANDLE_PZ, dat_pz_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_PZ, dat_pz_free(h));
    REFUSED(DAT_INVALID_HANDLE_IA, dat_srq_create(h, NULL, NULL, NULL));
    REFUSED(DAT_INVALID_HANDLE_SRQ, dat_srq_free(h));
    REFUSED(DAT_INVALID_HANDLE_SRQ, dat_srq_post_recv(h, 0, NULL, word));
    REFUSED(DAT_INVALID_HANDLE_SRQ, dat_srq_query(h, 0, NULL));
    REFUSED(DAT_INVALID_HANDLE_SRQ, dat_srq_resize(h, 1));
    REFUSED(DAT_INVALID_HANDLE_SRQ, dat_srq_set_lw(h, 1));
#if UDAPL == 20
    {
        DAT_RMR_TRIPLET none;

        memset(&none, 0, sizeof none);
        REFUSED(DAT_INVALID_HANDLE_IA, dat_csp_create(h, NULL, NULL, NULL, NULL));
        REFUSED(DAT_INVALID_HANDLE_CSP, dat_csp_query(h, 0, NULL));
        REFUSED(DAT_INVALID_HANDLE_CSP, dat_csp_free(h));
        REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_common_connect(h, NULL, 1, 0, NULL));
        REFUSED(DAT_INVALID_HANDLE_PZ, dat_rmr_create_for_ep(h, NULL));
        REFUSED(DAT_INVALID_HANDLE_EP, dat_ep_post_send_with_invalidate(h, 0, NULL, word, DAT_COMPLETION_DEFAULT_FLAG,
                                                                       DAT_FALSE, 0));
        REFUSED(DAT_INVALID_HANDLE_EP,
                dat_ep_post_rdma_read_to_rmr(h, &none, word, &none, DAT_COMPLETION_DEFAULT_FLAG));
        REFUSED(DAT_INVALID_HANDLE_IA, dat_cno_fd_create(h, NULL, NULL));
        REFUSED(DAT_INVALID_HANDLE_CNO, dat_cno_trigger(h, NULL));
        REFUSED(DAT_INVALID_HANDLE1, dat_extension_op(h, DAT_IB_FETCH_AND_ADD_OP, 1ull, NULL, word, NULL, 0));
        REFUSED(DAT_INVALID_HANDLE_IA, dat_extension_op(h, DAT_IB_CLOSE_QUERY_OP));
    }
#endif
#undef REFUSED
    scene_ok(bad == 0, "%s: DAT_INVALID_HANDLE and the subtype from all functions", what);
    scene_ok(ia == NULL, "%s: no output is written", what);
}

static DAT_HANDLE freed_memory(void)
{
    void *memory = calloc(1, 64);
    volatile uintptr_t address = (uintptr_t)memory;

    free(memory);
    return (DAT_HANDLE)address;
}

/* Returns the address of an unreadable page, or of an unmapped page if not `there`. */
static char *page(bool there)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || (!there && munmap(memory, size) != 0))
        bail("no memory");
    return memory;
}

/* Tests handles that are unreadable addresses. */
static void no_memory(const char *when)
{
    static const uintptr_t numbers[] = { 0x10000, 0x12345678, 0xdeadbee8, 0x41414140, (uintptr_t)1 << 46 };
    char what[128];

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(what, sizeof what, "%s: the number %#lx", when, (unsigned long)numbers[i]);
        refuse_all((DAT_HANDLE)numbers[i], what);
    }
    snprintf(what, sizeof what, "%s: a page that may not be read", when);
    refuse_all(page(true), what);
    snprintf(what, sizeof what, "%s: a page that is gone", when);
    refuse_all(page(false), what);
}

static void no_handles(const char *when)
{
    static unsigned long plain[64];
    char what[128];
    uintptr_t address;

#define WHAT(text) (snprintf(what, sizeof what, "%s: %s", when, text), what)
    refuse_all(NULL, WHAT("NULL"));
    refuse_all((DAT_HANDLE)(uintptr_t)1, WHAT("the number 1"));
    refuse_all((DAT_HANDLE)(uintptr_t)8, WHAT("the number 8"));
    refuse_all((DAT_HANDLE)(uintptr_t)-1, WHAT("the number -1"));
    refuse_all((DAT_HANDLE)(uintptr_t)-8, WHAT("the number -8"));
    refuse_all((DAT_HANDLE)plain, WHAT("memory of zeros"));
    refuse_all((DAT_HANDLE)((char *)plain + 1), WHAT("misaligned by 1"));
    refuse_all((DAT_HANDLE)((char *)plain + 2), WHAT("misaligned by 2"));
    refuse_all((DAT_HANDLE)((char *)plain + 4), WHAT("misaligned by 4"));
    memset(plain, 0xff, sizeof plain);
    refuse_all((DAT_HANDLE)plain, WHAT("memory of ones"));
    plain[0] = (unsigned long)(uintptr_t)&plain[8];
    refuse_all((DAT_HANDLE)plain, WHAT("memory that points to memory"));
    address = (uintptr_t) "this is a text and not an object";
    refuse_all((DAT_HANDLE)(address & ~(uintptr_t)7), WHAT("a text"));
    /* Freed memory is still readable, but preloaded checkers would report the access. */
    if (getenv("LD_PRELOAD") == NULL) {
        refuse_all(freed_memory(), WHAT("freed memory"));
        no_memory(when);
    }
#undef WHAT
}

static void before_any_provider(void)
{
    no_handles("no provider");
}

static void with_a_provider(void)
{
    DAT_IA_HANDLE ia;
    DAT_PZ_HANDLE pz = NULL;
    DAT_EVD_HANDLE evd = NULL;
    DAT_EVENT event;

    scene_opens("a", &ia);
    no_handles("a provider");
    scene_type(dat_pz_create(ia, &pz), DAT_SUCCESS, "dat_pz_create: success");
    scene_type(dat_evd_create(ia, 4, NULL, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS,
               "dat_evd_create: success");
    scene_type(dat_evd_dequeue(pz, &event), DAT_INVALID_HANDLE,
               "an object of another kind: DAT_INVALID_HANDLE from the provider");
    scene_type(dat_pz_free(evd), DAT_INVALID_HANDLE,
               "an object of another kind: DAT_INVALID_HANDLE from the provider");
    scene_type(dat_ia_close(pz, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE,
               "dat_ia_close of another kind: DAT_INVALID_HANDLE");
    scene_type(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free: success");
    scene_type(dat_pz_free(pz), DAT_INVALID_HANDLE, "dat_pz_free: twice: DAT_INVALID_HANDLE");
    scene_closes(ia);
    refuse_all(ia, "an IA whose provider is gone");
    refuse_all(evd, "an EVD whose provider is gone");
    if (getenv("LD_PRELOAD") == NULL)
        no_memory("a provider that is gone");
}

static const struct scene scenes[] = {
    { "before any provider", before_any_provider },
    { "with a provider", with_a_provider },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    const struct setting one = { .conf = ENTRY("a") };

    scene_enter(argc, argv, scenes);
    scene_play("before any provider", &one);
    scene_play("with a provider", &one);
    return done_testing();
}
