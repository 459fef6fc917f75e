/*
 * fast_path.c - repeats the calls that programs make for every message, on one thread.
 *
 *   fast_path KIND ROUNDS [ADAPTER]      ROUNDS is a multiple of 100
 *
 *   send   dat_ep_post_recv, dat_ep_post_send, dat_evd_dequeue for both completions.
 *   srq    send with dat_srq_post_recv.
 *   write  dat_ep_post_rdma_write, dat_evd_dequeue for its completion.
 *   wait   send with dat_evd_wait, which does not sleep.
 *   empty  dat_evd_dequeue on an empty EVD; one round of send at the end.
 *
 * These kinds are send in a process with a past:
 *   churned  thousands of objects were made and freed before.
 *   crowded  thousands of regions are live.
 *   second   another adapter of the same provider, ADAPTER-other in dat.conf, was opened before and is open.
 *
 * Two endpoints of this process are connected to each other. Each transfer has 8 bytes. Prints the number of empty
 * fetches; instructions.sh counts instructions.
 */
#include "common/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 8
/* Number of fetches without an event after which the program fails. */
#define MAX_EMPTY 1000000
/* Rounds between two calls of window(). */
#define WINDOW 100

/* State of the rounds, which only collect results. The program checks the results at the end. */
struct bench {
    struct fx fx;
    DAT_SRQ_HANDLE srq; /* NULL unless the kind is srq */
    struct pair pair;
    struct region region;
    DAT_LMR_TRIPLET from; /* source of a send or write */
    DAT_LMR_TRIPLET into; /* the receive buffer */
    DAT_RMR_TRIPLET to;   /* the target of the write */
    DAT_DTO_COOKIE cookie;
    DAT_TIMEOUT timeout; /* of a wait, in microseconds */
    DAT_EVENT event;      /* the last event */
    DAT_RETURN rc;        /* bitwise or of all results */
    long empty;           /* fetches without an event */
};

/* Counts a fetch that returned no event or failed. */
static void missed(struct bench *b)
{
    must(++b->empty < MAX_EMPTY, "a completion");
}

static void post_both(struct bench *b)
{
    b->rc |= dat_ep_post_recv(b->pair.b.ep, 1, &b->into, b->cookie, DAT_COMPLETION_DEFAULT_FLAG);
    b->rc |= dat_ep_post_send(b->pair.a.ep, 1, &b->from, b->cookie, DAT_COMPLETION_DEFAULT_FLAG);
}

static void round_send(struct bench *b)
{
    post_both(b);
    while (dat_evd_dequeue(b->pair.b.recv, &b->event) != DAT_SUCCESS)
        missed(b);
    while (dat_evd_dequeue(b->pair.a.req, &b->event) != DAT_SUCCESS)
        missed(b);
}

static void round_srq(struct bench *b)
{
    b->rc |= dat_srq_post_recv(b->srq, 1, &b->into, b->cookie);
    b->rc |= dat_ep_post_send(b->pair.a.ep, 1, &b->from, b->cookie, DAT_COMPLETION_DEFAULT_FLAG);
    while (dat_evd_dequeue(b->pair.b.recv, &b->event) != DAT_SUCCESS)
        missed(b);
    while (dat_evd_dequeue(b->pair.a.req, &b->event) != DAT_SUCCESS)
        missed(b);
}

static void round_write(struct bench *b)
{
    b->rc |= dat_ep_post_rdma_write(b->pair.a.ep, 1, &b->from, b->cookie, &b->to,
                                    DAT_COMPLETION_DEFAULT_FLAG);
    while (dat_evd_dequeue(b->pair.a.req, &b->event) != DAT_SUCCESS)
        missed(b);
}

static void round_wait(struct bench *b)
{
    DAT_COUNT more;

    post_both(b);
    b->rc |= dat_evd_wait(b->pair.b.recv, b->timeout, 1, &b->event, &more);
    b->rc |= dat_evd_wait(b->pair.a.req, b->timeout, 1, &b->event, &more);
}

static void round_empty(struct bench *b)
{
    b->empty += DAT_GET_TYPE(dat_evd_dequeue(b->pair.b.recv, &b->event)) == DAT_QUEUE_EMPTY;
}

/* More than the library keeps back of freed handles. */
#define CHURNED 6000
#define CROWDED 3000

static void churn(struct fx *fx)
{
    DAT_PZ_HANDLE pz;

    for (int i = 0; i < CHURNED; i++) {
        must_rc(dat_pz_create(fx->ia, &pz), DAT_SUCCESS, "dat_pz_create");
        must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    }
}

/* The close of the adapter frees the objects. */
static void crowd(struct fx *fx)
{
    static struct region regions[CROWDED];

    for (int i = 0; i < CROWDED; i++)
        region_make(fx, &regions[i], 64, DAT_MEM_PRIV_ALL_FLAG);
}

static void open_other(const char *adapter)
{
    char name[DAT_NAME_MAX_LENGTH];
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

    snprintf(name, sizeof name, "%s-other", adapter);
    must_rc(dat_ia_open(name, 8, &async, &ia), DAT_SUCCESS, "dat_ia_open of another adapter");
}

static const struct kind {
    const char *name;
    void (*round)(struct bench *b);
    void (*past)(struct fx *fx); /* called before the objects of the rounds are made */
} kinds[] = {
    { "send", round_send, NULL },
    { "srq", round_srq, NULL },
    { "write", round_write, NULL },
    { "wait", round_wait, NULL },
    { "empty", round_empty, NULL },
    { "churned", round_send, churn },
    { "crowded", round_send, crowd },
    { "second", round_send, NULL },
};

/*
 * Does nothing. It is called before the first round and after every WINDOW rounds, because instructions.sh counts the
 * instructions between two calls.
 */
void window(void);
__attribute__((noinline)) void window(void)
{
    __asm__ volatile("");
}

/*
 * Aligns the stack independently of the environment's size, because a copy's number of instructions depends on alignment.
 */
static void make_rounds(struct bench *b, const struct kind *kind, long rounds)
{
    __attribute__((aligned(4096))) volatile char anchor = 0;

    (void)anchor;
    for (long left = rounds; left > 0; left -= WINDOW) {
        window();
        for (int i = 0; i < WINDOW; i++)
            kind->round(b);
    }
    window();
}

static void make_srq(struct bench *b)
{
    DAT_SRQ_ATTR attr;

    memset(&attr, 0, sizeof attr);
    attr.max_recv_dtos = 64;
    attr.max_recv_iov = 4;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    must_rc(dat_srq_create(b->fx.ia, b->fx.pz, &attr, &b->srq), DAT_SUCCESS, "dat_srq_create");
}

int main(int argc, char **argv)
{
    static struct bench b;
    const DAT_DTO_COMPLETION_EVENT_DATA *dto = &b.event.event_data.dto_completion_event_data;
    const struct kind *kind = NULL;
    long rounds = argc >= 3 ? atol(argv[2]) : 0;

    for (size_t i = 0; argc >= 2 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    if (kind == NULL || rounds < WINDOW || rounds % WINDOW != 0) {
        fprintf(stderr, "usage: fast_path KIND ROUNDS [ADAPTER]\n");
        return 2;
    }
    env_init(argc - 2, argv + 2, NULL);

    if (strcmp(kind->name, "second") == 0)
        open_other(env_ia());
    fx_open(&b.fx);
    if (kind->past != NULL)
        kind->past(&b.fx);
    side_make(&b.pair.a, &b.fx, NULL);
    if (strcmp(kind->name, "srq") == 0) {
        make_srq(&b);
        side_make_srq(&b.pair.b, &b.fx, b.srq, NULL);
    } else {
        side_make(&b.pair.b, &b.fx, NULL);
    }
    sides_connect(&b.pair.a, &b.pair.b);
    region_make(&b.fx, &b.region, 4096, DAT_MEM_PRIV_ALL_FLAG);
    pattern_fill(b.region.mem, BYTES, 1);
    b.from = segment(&b.region, 0, BYTES);
    b.into = segment(&b.region, 2048, BYTES);
    b.to = target(&b.region, 2048, BYTES);
    b.cookie = cookie(1);
    b.timeout = env_us(SOON_MS);

    make_rounds(&b, kind, rounds);
    if (strcmp(kind->name, "empty") == 0) {
        must(b.empty == rounds, "an empty EVD in each round");
        round_send(&b);
    }
    must(b.rc == DAT_SUCCESS, "a call failed: 0x%x", (unsigned)b.rc);
    must(drain(b.pair.b.recv) == 0 && drain(b.pair.a.req) == 0, "one completion for each post");
    must(b.event.event_number == DAT_DTO_COMPLETION_EVENT && dto->status == DAT_DTO_SUCCESS &&
             dto->transfered_length == BYTES,
         "a completion of %d bytes", BYTES);
    must(pattern_check(b.region.mem + 2048, BYTES, 1) < 0, "the bytes that were sent");
    printf("%ld fetches found nothing\n", b.empty);
    fx_close(&b.fx);
    return 0;
}
