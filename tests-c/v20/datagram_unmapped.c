/*
 * datagram_unmapped.c - an unreliable datagram from registered memory that is no longer mapped, over a device, which
 * reads the memory itself: the send completes, and process and endpoint continue.
 */
#define _DEFAULT_SOURCE
#include "v20/datagram.h"

#include <string.h>
#include <sys/mman.h>

#define NAME "dat_ib_post_send_ud"
#define SIZE ((size_t)64 << 10)

static struct fx fx;

/* Sends from unmapped memory. Returns the completion status, or -1 if the post fails. */
static int send_unmapped(struct side *s, const struct known *to, size_t len)
{
    DAT_REGION_DESCRIPTION where;
    struct region r;
    DAT_EVENT e;
    DAT_RETURN rc;

    memset(&r, 0, sizeof r);
    memset(&where, 0, sizeof where);
    r.mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    must(r.mem != MAP_FAILED, "no memory");
    where.for_va = r.mem;
    must_rc(dat_lmr_create(fx.ia, DAT_MEM_TYPE_VIRTUAL, where, SIZE, fx.pz, MEM_LOCAL, &r.lmr, &r.lmr_context,
                           &r.rmr_context, NULL, NULL),
            DAT_SUCCESS, "dat_lmr_create");
    must(munmap(r.mem, SIZE) == 0, "munmap");
    rc = ud_send(s, &r, 0, len, to, 1);
    if (rc != DAT_SUCCESS)
        return -1;
    must(wait_event(s->req, &e), "the send does not end");
    must_rc(dat_lmr_free(r.lmr), DAT_SUCCESS, "dat_lmr_free");
    return (int)e.event_data.dto_completion_event_data.status;
}

static int sending(struct link *up)
{
    static const size_t sizes[] = { 1, 100, 1000 };
    struct side s;
    struct known to;
    int status[3];

    ud_open(&fx);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    ud_connect_peer(&s, up, &to);
    for (int i = 0; i < 3; i++)
        status[i] = send_unmapped(&s, &to, sizes[i]);
    must(link_send(up, status, sizeof status) && link_hear(up, "bye"), "the first process is gone");
    fx_close(&fx);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "sending", sending }, { NULL, NULL } };
    struct peer p;
    struct side s;
    struct region in;
    struct known to;
    int status[3];

    env_init(argc, argv, roles);
    if (strncmp(env_ia(), "verbs-", 6) != 0)
        skip_all("the processor reads the memory of datagrams");
    ud_open(&fx);
    region_make(&fx, &in, 2048, MEM_LOCAL);
    ud_make(&s, &fx, DAT_HANDLE_NULL, NULL);
    peer_start(&p, "sending");
    ud_accept_peer(&s, &p.link, &to);
    if (ok(link_recv(&p.link, status, sizeof status, SOON_MS), NAME ": from memory that was unmapped: the process goes on"))
        diag("%s, %s, %s", status_text(status[0]), status_text(status[1]), status_text(status[2]));
    link_say(&p.link, "bye");
    peer_ok(&p, NAME ": from memory that was unmapped: the process ends well");
    side_free(&s);
    fx_close(&fx);
    return done_testing();
}
