/* data.c - properties of data transfers that programs need. */
#define _DEFAULT_SOURCE
#include "common/fixture.h"

#include <stdlib.h>
#include <string.h>

#define FULL(flags) ((DAT_COMPLETION_FLAGS)(flags))

/* ---- 1: messages before their receives ---- */

static int eager(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    side_accept_peer(&s, up);
    for (unsigned i = 0; i < 10; i++) { /* immediately after the connect */
        pattern_fill(r.mem + i * 64, 64, i);
        must_rc(post_send(&s, &r, i * 64, 64, i), DAT_SUCCESS, "dat_ep_post_send");
    }
    link_say(up, "sent");
    for (unsigned i = 0; i < 10; i++)
        must(wait_dto(s.req, i, DAT_DTO_SUCCESS, NULL), "a send fails");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static void first_receive_after_established(struct fx *fx)
{
    struct peer p;
    struct side s;
    struct region r;
    int good = 0;

    peer_start(&p, "eager");
    side_make(&s, fx, NULL);
    region_make(fx, &r, 4096, MEM_LOCAL);
    side_connect_peer(&s, &p.link);
    must(link_hear(&p.link, "sent"), "the peer has exited");
    ok(quiet(s.recv) && quiet(s.conn), "1: messages before the first receive: they wait");
    for (unsigned i = 0; i < 10; i++)
        must_rc(post_recv(&s, &r, i * 64, 64, i), DAT_SUCCESS, "dat_ep_post_recv");
    for (unsigned i = 0; i < 10; i++)
        good += wait_dto(s.recv, i, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(r.mem + i * 64, 64, i) < 0;
    is_int(good, 10, "1: first receives posted after ESTABLISHED: all messages arrive");
    link_say(&p.link, "bye");
    peer_ok(&p, "1: the sender's sends have all succeeded");
    side_free(&s);
    region_free(&r);
}

/* ---- 2 and 3: a target that polls its memory ---- */

#define LARGEST (1u << 20)

struct spin_order {
    int message; /* 1: a message, 0: an RDMA write */
    unsigned size;
    int rounds;
};

/* Returns the last 8 bytes of a round. When they are visible, all bytes before them must be. */
static DAT_UINT64 flag_of(int round)
{
    return 0x0123456789abcd00u + (DAT_UINT64)round + 1;
}

static int spinner(struct link *up)
{
    struct fx fx;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET t;
    struct spin_order o;

    fx_open(&fx);
    side_make(&s, &fx, NULL);
    region_make(&fx, &r, LARGEST, DAT_MEM_PRIV_ALL_FLAG);
    side_connect_peer(&s, up);
    t = target(&r, 0, LARGEST);
    must(link_send_target(up, t), "the peer has exited");
    while (LINK_RECV(up, o) && o.size != 0) {
        int verdict[3] = { 0, 0, 0 }; /* rounds with wrong bytes, without immediate completion, without bytes */

        for (int i = 0; i < o.rounds; i++) {
            volatile DAT_UINT64 *flag = (volatile DAT_UINT64 *)(void *)(r.mem + o.size - 8);
            uint64_t end;

            memset(r.mem, 0, o.size);
            if (o.message)
                must_rc(post_recv(&s, &r, 0, o.size, (DAT_UINT64)i), DAT_SUCCESS,
                        "dat_ep_post_recv");
            link_say(up, "ready");
            end = now_ms() + env_ms(SOON_MS);
            /* No dat_ call in this loop. */
            while (*flag != flag_of(i) && now_ms() < end)
                ;
            if (*flag != flag_of(i)) {
                verdict[2]++;
                break;
            }
            __sync_synchronize();
            if (pattern_check(r.mem, o.size - 8, (unsigned)i) >= 0)
                verdict[0]++;
            if (o.message) {
                DAT_EVENT e;

                if (dat_evd_dequeue(s.recv, &e) != DAT_SUCCESS) {
                    verdict[1]++;
                    must(wait_event(s.recv, &e), "no completion");
                }
            }
        }
        must(LINK_SEND(up, verdict), "the peer has exited");
    }
    fx_close(&fx);
    return 0;
}

static void spinning_target(struct fx *fx)
{
    static const unsigned sizes[] = { 8, 64, 200, 4096, 5000, 65536, LARGEST };
    struct peer p;
    struct side s;
    struct region r;
    DAT_RMR_TRIPLET t;
    struct spin_order o;

    peer_start(&p, "spinner");
    side_make(&s, fx, NULL);
    region_make(fx, &r, LARGEST, DAT_MEM_PRIV_ALL_FLAG);
    side_accept_peer(&s, &p.link);
    must(link_recv_target(&p.link, &t), "no memory at the other end");
    for (int message = 0; message < 2; message++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            const char *what = message ? "message" : "RDMA write";
            int verdict[3] = { 9, 9, 9 };

            memset(&o, 0, sizeof o);
            o.message = message;
            o.size = sizes[k];
            o.rounds = sizes[k] > 100000 ? env_count(30, 3) : env_count(300, 20);
            must(LINK_SEND(&p.link, o), "the peer has exited");
            for (int i = 0; i < o.rounds; i++) {
                DAT_UINT64 flag = flag_of(i);
                DAT_RMR_TRIPLET to = t;

                to.segment_length = o.size;
                pattern_fill(r.mem, o.size - 8, (unsigned)i);
                memcpy(r.mem + o.size - 8, &flag, 8);
                if (!link_hear(&p.link, "ready"))
                    break;
                must_rc(message ? post_send(&s, &r, 0, o.size, 1)
                                : post_write(&s, &r, 0, o.size, to, 1),
                        DAT_SUCCESS, "posting");
                if (!wait_dto(s.req, 1, DAT_DTO_SUCCESS, NULL))
                    break;
            }
            must(link_recv(&p.link, verdict, sizeof verdict, 3 * SOON_MS), "no verdict");
            is_int(verdict[2], 0, "3: %s of %u bytes, the target spins on its memory: it comes",
                   what, o.size);
            is_int(verdict[0], 0, "2: %s of %u bytes: the last bytes are visible last", what,
                   o.size);
            /* A device writes the completion after the last byte, so a poll can be too early. */
            if (message && env_is_shm())
                /* The writing thread can lose its CPU in between. */
                ok(verdict[1] <= 1 + o.rounds / 100,
                   "3: message of %u bytes: its completion is there for the next dequeue, but for one in a hundred", o.size);
            if (message && verdict[1] > 0)
                diag("message of %u bytes: %d of %d completions arrive after the bytes",
                     o.size, verdict[1], o.rounds);
        }
    memset(&o, 0, sizeof o);
    must(LINK_SEND(&p.link, o), "the peer has exited");
    peer_ok(&p, "3: the target ends well");
    side_free(&s);
    region_free(&r);
}

/* ---- 4, 5, 6 ---- */

static void zero_length(struct fx *fx)
{
    struct pair p;
    DAT_EVENT e;

    pair_open(&p, fx, NULL);
    is_success(dat_ep_post_recv(p.b.ep, 0, NULL, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
               "4: receive with no segments and a NULL list: success");
    is_success(dat_ep_post_send(p.a.ep, 0, NULL, cookie(2), DAT_COMPLETION_DEFAULT_FLAG),
               "4: send with no segments and a NULL list: success");
    ok(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, &e) &&
           e.event_data.dto_completion_event_data.transfered_length == 0,
       "4: message of length 0: arrives");
    ok(wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL), "4: message of length 0: the send completes");
    pair_close(&p);
}

static void write_only_memory(struct fx *fx)
{
    struct pair p;
    struct region r, t;

    region_make(fx, &r, 256, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    region_make(fx, &t, 256, DAT_MEM_PRIV_ALL_FLAG);
    pair_open(&p, fx, NULL);
    pattern_fill(r.mem, 64, 5);
    must_rc(post_recv(&p.b, &r, 128, 64, 1), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(post_send(&p.a, &r, 0, 64, 2), "5: send from memory with local write only: success");
    ok(wait_dto(p.b.recv, 1, DAT_DTO_SUCCESS, NULL) && wait_dto(p.a.req, 2, DAT_DTO_SUCCESS, NULL) &&
           pattern_check(r.mem + 128, 64, 5) < 0,
       "5: send from memory with local write only: arrives");
    is_success(post_write(&p.a, &r, 0, 64, target(&t, 0, 64), 3),
               "5: RDMA write from memory with local write only: success");
    ok(wait_dto(p.a.req, 3, DAT_DTO_SUCCESS, NULL) && pattern_check(t.mem, 64, 5) < 0,
       "5: RDMA write from memory with local write only: written");
    pair_close(&p);
    region_free(&r);
    region_free(&t);
}

static void registrations(struct fx *fx)
{
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_HANDLE lmr[3];
    DAT_LMR_CONTEXT context[3];
    unsigned char *mem = malloc(70000);
    struct pair p;
    DAT_LMR_TRIPLET t;
    int good = 0;

    must(mem != NULL, "out of memory");
    memset(&where, 0, sizeof where);
    for (int i = 0; i < 3; i++) {
        where.for_va = mem + (i == 2 ? 3 : 0);
        good += dat_lmr_create(fx->ia, DAT_MEM_TYPE_VIRTUAL, where, i == 2 ? 69989 : 70000, fx->pz,
                               (DAT_MEM_PRIV_FLAGS)MEM_LOCAL, &lmr[i], &context[i], NULL, NULL,
                               NULL) == DAT_SUCCESS;
    }
    is_int(good, 3, "6: the same malloc memory three times, NULL for the other outputs: success");
    pair_open(&p, fx, NULL);
    good = 0;
    for (int i = 0; i < 3; i++) {
        memset(&t, 0, sizeof t);
        t.lmr_context = context[2 - i];
        t.virtual_address = (DAT_VADDR)(uintptr_t)mem + 35001;
        t.segment_length = 30000;
        pattern_fill(mem + 1000, 30000, (unsigned)i);
        memset(mem + 35001, 0, 30000);
        must_rc(dat_ep_post_recv(p.b.ep, 1, &t, cookie(2), DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_recv");
        t.lmr_context = context[i];
        t.virtual_address = (DAT_VADDR)(uintptr_t)mem + 1000;
        must_rc(dat_ep_post_send(p.a.ep, 1, &t, cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                DAT_SUCCESS, "dat_ep_post_send");
        good += wait_dto(p.b.recv, 2, DAT_DTO_SUCCESS, NULL) &&
                wait_dto(p.a.req, 1, DAT_DTO_SUCCESS, NULL) &&
                pattern_check(mem + 35001, 30000, (unsigned)i) < 0;
    }
    is_int(good, 3, "6: overlapping registrations: each can be used");
    t.lmr_context = context[0];
    must_rc(dat_ep_post_recv(p.b.ep, 1, &t, cookie(3), DAT_COMPLETION_DEFAULT_FLAG), DAT_SUCCESS,
            "dat_ep_post_recv");
    is_success(dat_lmr_free(lmr[0]), "6: a region with a receive posted on it: can be freed");
    for (int i = 1; i < 3; i++)
        is_success(dat_lmr_free(lmr[i]), "6: another registration of the same memory: can be freed");
    pair_close(&p);
    free(mem);
}

/* ---- 7, 8 ---- */

static void suppressed(struct fx *fx)
{
    enum { EVD = 8 };
    /* Soft-iWARP has queues of up to 32768 entries. */
    int n = env_count(env_is_iwarp() ? 30000 : 50000, 2000), posted = 0;
    DAT_RETURN rc = DAT_SUCCESS;
    struct side a, b;
    struct region r, t;
    DAT_EP_ATTR attr;
    DAT_LMR_TRIPLET from;
    DAT_RMR_TRIPLET to;

    attr_default(&attr);
    attr.max_request_dtos = n + 1;
    attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(dat_ep_free(a.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(a.req), DAT_SUCCESS, "dat_evd_free");
    a.req = fx_evd(fx, EVD, DAT_EVD_DTO_FLAG);
    a.ep = DAT_HANDLE_NULL;
    if (!is_success(dat_ep_create(fx->ia, fx->pz, a.recv, a.req, a.conn, &attr, &a.ep),
                    "7: endpoint for %d requests, UNSIGNALLED, EVD of 8: success", n + 1)) {
        side_free(&a);
        side_free(&b);
        return;
    }
    sides_connect(&a, &b);
    region_make(fx, &r, 64, MEM_LOCAL);
    region_make(fx, &t, 64, DAT_MEM_PRIV_ALL_FLAG);
    from = segment(&r, 0, 8);
    to = target(&t, 0, 8);
    for (int i = 0; i < n; i++) {
        rc = dat_ep_post_rdma_write(
            a.ep, 1, &from, cookie((DAT_UINT64)i), &to,
            FULL(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG));
        if (rc != DAT_SUCCESS)
            break;
        posted++;
    }
    is_int(posted, n, "7: %d requests in a row with SUPPRESS and UNSIGNALLED: success", n);
    if (rc != DAT_SUCCESS)
        diag("  the next gives %s", rc_text(rc));
    is_success(dat_ep_post_rdma_write(a.ep, 1, &from, cookie(0xe0f), &to,
                                      DAT_COMPLETION_DEFAULT_FLAG),
               "7: then one with a completion: success");
    ok(wait_dto(a.req, 0xe0f, DAT_DTO_SUCCESS, NULL), "7: its completion is the only one");
    ok(quiet(a.req) && quiet(fx->async), "7: suppressed requests take no place in the EVD");
    posted = 0;
    for (int i = 0; i < n; i++)
        posted += dat_ep_post_rdma_write(
                      a.ep, 1, &from, cookie(1), &to,
                      FULL(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG)) ==
                  DAT_SUCCESS;
    is_int(posted, n, "7: that completion has freed the places of them all");
    must_rc(dat_ep_post_rdma_write(a.ep, 1, &from, cookie(0xe10), &to, DAT_COMPLETION_DEFAULT_FLAG),
            DAT_SUCCESS, "dat_ep_post_rdma_write");
    ok(wait_dto(a.req, 0xe10, DAT_DTO_SUCCESS, NULL), "7: a second time: completes");
    side_free(&a);
    side_free(&b);
    region_free(&r);
    region_free(&t);
}

static void unsignalled_endpoint(struct fx *fx)
{
    struct side a, b;
    struct region r;
    DAT_EP_ATTR attr;
    DAT_EVENT e;

    attr_default(&attr);
    attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    side_make(&a, fx, &attr);
    side_make(&b, fx, NULL);
    sides_connect(&a, &b);
    region_make(fx, &r, 64, MEM_LOCAL);
    must_rc(post_recv(&b, &r, 32, 32, 1), DAT_SUCCESS, "dat_ep_post_recv");
    is_success(post_send(&a, &r, 0, 32, 8), "8: UNSIGNALLED endpoint, DEFAULT post: success");
    ok(poll_event(a.req, &e) && e.event_data.dto_completion_event_data.user_cookie.as_64 == 8,
       "8: UNSIGNALLED endpoint, DEFAULT post: a dequeue finds the event");
    side_free(&a);
    side_free(&b);
    region_free(&r);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "eager", eager }, { "spinner", spinner },
                                              { NULL, NULL } };
    struct fx fx;

    env_init(argc, argv, roles);
    fx_open(&fx);
    if (env_is_iwarp())
        skip_named("1: messages before the first receive", "a message without a receive ends an iWARP connection");
    else
        first_receive_after_established(&fx);
    spinning_target(&fx);
    zero_length(&fx);
    write_only_memory(&fx);
    registrations(&fx);
    suppressed(&fx);
    unsignalled_endpoint(&fx);
    fx_close(&fx);
    return done_testing();
}
