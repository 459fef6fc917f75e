/* late.c - with late_device.so, the device gets requests at each of its times. */
#define _GNU_SOURCE
#include "common/fixture.h"
#include "verbs/late_device.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    enum { MESSAGES = 200, SIZE = 64 };
    const struct late_counts *counts = dlsym(RTLD_DEFAULT, LATE_COUNTS);
    struct fx fx;
    struct pair p;
    struct region r;
    int good = 0;

    env_init(argc, argv, NULL);
    must(counts != NULL, "late_device.so is not preloaded");
    fx_open(&fx);
    pair_open(&p, &fx, NULL);
    region_make(&fx, &r, 2 * SIZE, DAT_MEM_PRIV_ALL_FLAG);
    for (unsigned i = 0; i < MESSAGES; i++) {
        pattern_fill(r.mem, SIZE, i);
        must_rc(post_recv(&p.b, &r, SIZE, SIZE, i), DAT_SUCCESS, "dat_ep_post_recv");
        must_rc(post_send(&p.a, &r, 0, SIZE, i), DAT_SUCCESS, "dat_ep_post_send");
        good += wait_dto(p.b.recv, i, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.req, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem + SIZE, SIZE, i) < 0;
    }
    is_int(good, MESSAGES, "late device: messages arrive");
    ok(counts->during > 0, "late device: it gets requests during their posts");
    ok(counts->before > 0, "late device: it gets requests some time before their posts return");
    ok(counts->later > 0, "late device: it gets requests after their posts");
    ok(counts->copied > 0, "late device: it copies inline data during posts");
    fx_close(&fx);
    return done_testing();
}
