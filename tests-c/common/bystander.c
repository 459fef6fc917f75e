#define _POSIX_C_SOURCE 200809L
#include "common/bystander.h"

#include <string.h>

int bystander_echo(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_EVENT event;
    DAT_COUNT n;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    must_rc(post_recv(&s, &r, 0, 64, 4), DAT_SUCCESS, "dat_ep_post_recv");
    side_accept_peer(&s, up);
    while (dat_evd_wait(s.recv, env_us(SOON_MS), 1, &event, &n) == DAT_SUCCESS &&
           event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
        if (post_recv(&s, &r, 0, 64, 4) != DAT_SUCCESS ||
            post_send(&s, &r, 64, 64, 5) != DAT_SUCCESS ||
            !wait_dto(s.req, 5, DAT_DTO_SUCCESS, NULL))
            break;
    }
    must(link_hear(up, "bye"), "the other process has exited");
    fx_close(&fx);
    return 0;
}

static void *go_round(void *arg)
{
    struct bystander *b = arg;

    b->fine = true;
    while (!__atomic_load_n(&b->stop, __ATOMIC_SEQ_CST) && b->fine) {
        uint64_t start = now_ms();
        unsigned ms;

        b->fine = post_recv(&b->s, &b->r, 0, 64, 4) == DAT_SUCCESS &&
                  post_send(&b->s, &b->r, 64, 64, 5) == DAT_SUCCESS &&
                  wait_dto(b->s.req, 5, DAT_DTO_SUCCESS, NULL) &&
                  wait_dto(b->s.recv, 4, DAT_DTO_SUCCESS, NULL);
        ms = (unsigned)(now_ms() - start);
        if (ms > bystander_longest(b))
            __atomic_store_n(&b->longest, ms, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&b->rounds, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

void bystander_start(struct bystander *b, struct fx *fx)
{
    memset(b, 0, sizeof *b);
    side_make(&b->s, fx, NULL);
    region_make(fx, &b->r, 4096, MEM_LOCAL);
    peer_start(&b->p, "bystander");
    side_connect_peer(&b->s, &b->p.link);
    must(pthread_create(&b->thread, NULL, go_round, b) == 0, "pthread_create");
}

unsigned bystander_rounds(struct bystander *b)
{
    return __atomic_load_n(&b->rounds, __ATOMIC_SEQ_CST);
}

unsigned bystander_longest(struct bystander *b)
{
    return __atomic_load_n(&b->longest, __ATOMIC_SEQ_CST);
}

void bystander_forget(struct bystander *b)
{
    __atomic_store_n(&b->longest, 0, __ATOMIC_SEQ_CST);
}

void bystander_stop(struct bystander *b)
{
    __atomic_store_n(&b->stop, true, __ATOMIC_SEQ_CST);
    pthread_join(b->thread, NULL);
}

void bystander_end(struct bystander *b)
{
    side_free(&b->s);
    link_say(&b->p.link, "bye");
    peer_ok(&b->p, "the third process ends well");
}
