/* losses.c - the first event that an EVD loses is a warning, with the EVD, its length and the kind of event. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXTRA = 6 };

/* Path for the standard error of the second process. */
#define INTO "DAT_TEST_LOSSES"

/* An EVD of the second process that lost events. */
struct loser {
    DAT_UINT64 handle;
    int64_t qlen; /* of 64 bits, so that the structure has no padding, which would be sent without a value */
};

static DAT_COUNT length_of(DAT_EVD_HANDLE evd)
{
    DAT_EVD_PARAM q;

    must_rc(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &q), DAT_SUCCESS, "dat_evd_query");
    return q.evd_qlen;
}

static struct loser loser_of(DAT_EVD_HANDLE evd)
{
    struct loser l = { (DAT_UINT64)(uintptr_t)evd, length_of(evd) };

    return l;
}

/* More messages arrive than the EVD has room for. */
static struct loser receives(struct fx *fx, struct region *r)
{
    struct side a, b;
    struct loser l;
    DAT_EP_ATTR attr;
    DAT_EVENT e;

    side_make(&a, fx, NULL);
    side_make(&b, fx, NULL);
    must_rc(dat_ep_free(b.ep), DAT_SUCCESS, "dat_ep_free");
    must_rc(dat_evd_free(b.recv), DAT_SUCCESS, "dat_evd_free");
    b.recv = fx_evd(fx, 4, DAT_EVD_DTO_FLAG);
    l = loser_of(b.recv);
    attr_default(&attr);
    attr.max_recv_dtos = l.qlen + EXTRA;
    must_rc(dat_ep_create(fx->ia, fx->pz, b.recv, b.req, b.conn, &attr, &b.ep), DAT_SUCCESS, "dat_ep_create");
    sides_connect(&a, &b);
    for (int i = 0; i < l.qlen + EXTRA; i++)
        must_rc(post_recv(&b, r, 0, 32, 1), DAT_SUCCESS, "dat_ep_post_recv");
    for (int i = 0; i < l.qlen + EXTRA; i++) {
        must_rc(post_send(&a, r, 64, 32, 1), DAT_SUCCESS, "dat_ep_post_send");
        must(wait_dto(a.req, 1, DAT_DTO_SUCCESS, NULL), "a send fails");
    }
    for (int i = 0; i < EXTRA; i++)
        must(wait_number(fx->async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &e), "no overflow");
    side_free(&a);
    side_free(&b);
    return l;
}

/* One request more arrives than the EVD has room for. One must be rejected, not necessarily the last one. */
static struct loser requests(struct fx *fx)
{
    enum { MAX_BACKLOG = 64 };
    DAT_EVD_HANDLE evd = fx_evd(fx, 1, DAT_EVD_CR_FLAG);
    struct loser l = loser_of(evd);
    struct side s[MAX_BACKLOG + 1];
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_EVENT e;
    int rejected = 0;
    uint64_t end;

    if (l.qlen > MAX_BACKLOG) {
        l.handle = 0;
        return l;
    }
    must_rc(dat_psp_create_any(fx->ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS, "dat_psp_create_any");
    for (int i = 0; i <= l.qlen; i++) {
        side_make(&s[i], fx, NULL);
        must_rc(side_connect(&s[i], fx_address(fx), qual), DAT_SUCCESS, "dat_ep_connect");
    }
    end = now_ms() + env_ms(SOON_MS);
    while (rejected == 0 && now_ms() < end) {
        for (int i = 0; i <= l.qlen; i++) {
            if (dat_evd_dequeue(s[i].conn, &e) == DAT_SUCCESS) {
                must(e.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED, "%s", event_text(e.event_number));
                rejected++;
            }
        }
        breathe();
    }
    must(rejected == 1, "%d requests are rejected", rejected);
    return l;
}

static int second(struct link *up)
{
    int fd = open(getenv(INTO), O_WRONLY | O_TRUNC | O_CLOEXEC);
    struct fx fx;
    struct region r;
    struct loser l;

    must(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, "no file for the lines");
    fx_open(&fx);
    region_make(&fx, &r, 4096, MEM_LOCAL);
    l = receives(&fx, &r);
    must(LINK_SEND(up, l), "the other process is gone");
    l = requests(&fx);
    must(LINK_SEND(up, l), "the other process is gone");
    must_rc(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    return 0;
}

/* Returns the number of lines with `part`. */
static int lines_with(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "second", second }, { NULL, NULL } };
    char path[] = "/tmp/dat-losses-XXXXXX", part[128];
    static char text[1 << 16];
    struct loser received, requested;
    struct peer p;
    FILE *file;
    int fd;

    env_init(argc, argv, roles);
    must((fd = mkstemp(path)) >= 0 && setenv(INTO, path, 1) == 0 && setenv("DAT_LOG", "warn", 1) == 0, path);
    close(fd);
    peer_start(&p, "second");
    unsetenv("DAT_LOG");
    must(LINK_RECV(&p.link, received) && LINK_RECV(&p.link, requested), "the other process is gone");
    peer_ok(&p, "the process ends well");
    must((file = fopen(path, "r")) != NULL, path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path);

    snprintf(part, sizeof part, "warning: event dispatcher %#llx: overflow (%d entries): 1 lost (DAT_EVD_DTO_FLAG)",
             (unsigned long long)received.handle, (int)received.qlen);
    is_int(lines_with(text, part), 1, "completions: one warning for %d losses", EXTRA);
    if (requested.handle == 0) {
        skip_named("requests: one warning", "too long to fill");
    } else {
        snprintf(part, sizeof part, "warning: event dispatcher %#llx: full (%d entries): connection request rejected;",
                 (unsigned long long)requested.handle, (int)requested.qlen);
        is_int(lines_with(text, part), 1, "requests: one warning");
    }
    return done_testing();
}
