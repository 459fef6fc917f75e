/* spinning.c - programs that look at their memory and not at an EVD get their messages without delay. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 300, TO = 2048 };

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Waits until the byte is there. */
static void spin(const struct region *r, unsigned char value)
{
    const volatile unsigned char *byte = r->mem;
    uint64_t end = now_ms() + env_ms(SOON_MS);

    while (*byte != value) {
        must(now_ms() < end, "the message does not appear");
        sched_yield();
    }
}

/* Takes off the completions of a message each way, without a wait, which would have peers ring afterwards. */
static void settle(struct side *s)
{
    DAT_EVD_HANDLE evds[] = { s->recv, s->req };
    uint64_t end = now_ms() + env_ms(SOON_MS);
    DAT_EVENT event;

    for (int i = 0; i < 2; i++)
        while (dat_evd_dequeue(evds[i], &event) != DAT_SUCCESS)
            must(now_ms() < end, "no completion");
}

static void send_byte(struct side *s, struct region *r, unsigned char value)
{
    r->mem[TO] = value;
    must_rc(post_send(s, r, TO, 1, 2), DAT_SUCCESS, "dat_ep_post_send");
}

static int echo(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;

    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    side_make(&s, &fx, NULL);
    must_rc(post_recv(&s, &r, 0, 1, 1), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    for (int i = 0; i < ROUNDS; i++) {
        spin(&r, (unsigned char)(i % 255 + 1));
        /* The next receive is there before the answer, so nothing waits for it. */
        must_rc(post_recv(&s, &r, 0, 1, 1), DAT_SUCCESS, "dat_ep_post_recv");
        send_byte(&s, &r, (unsigned char)(i % 255 + 1));
        settle(&s);
    }
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "echo", echo }, { NULL, NULL } };
    static double took[ROUNDS];
    struct timespec pause = { 0, 1000000 };
    struct fx fx;
    struct side s;
    struct region r;
    struct peer p;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("it is the thread of the adapter shm that brings the messages");
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    side_make(&s, &fx, NULL);
    must_rc(post_recv(&s, &r, 0, 1, 1), DAT_SUCCESS, "dat_ep_post_recv");
    peer_start(&p, "echo");
    side_connect_peer(&s, &p.link);
    for (int i = 0; i < ROUNDS; i++) {
        double start;

        nanosleep(&pause, NULL);
        start = now_us();
        send_byte(&s, &r, (unsigned char)(i % 255 + 1));
        spin(&r, (unsigned char)(i % 255 + 1));
        took[i] = now_us() - start;
        must_rc(post_recv(&s, &r, 0, 1, 1), DAT_SUCCESS, "dat_ep_post_recv");
        settle(&s);
    }
    link_say(&p.link, "bye");
    peer_ok(&p, "the other process ends well");
    qsort(took, ROUNDS, sizeof *took, compare);
    diag("round trips: %.0f us for a tenth of them, %.0f us for half", took[ROUNDS / 10], took[ROUNDS / 2]);
    if (env_valgrind())
        skip(1, "valgrind has times of its own");
    else
        ok(took[ROUNDS / 10] < 300, "both processes spin on their memory: a tenth of the round trips takes %.0f us",
           took[ROUNDS / 10]);
    fx_close(&fx);
    return done_testing();
}
