/*
 * strangers.c - pending peers: processes that have connected but not sent their hello.
 *
 * A peer can wait for a CPU between its connect and its hello, so silence never ends its connection. If there are too
 * many pending peers, the library sends AGAIN to the oldest and closes their connections. They connect again.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "common/place.h"
#include "common/usage.h"
#include "neighbours/raw.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Maximum number of pending peers of a process, and the time for which the test keeps a pending peer silent. */
enum { MAX_SILENT = 64, SILENCE_MS = 6000 };

/* The second process: accepts all requests until it is killed. */
static int host(struct link *up)
{
    struct fx fx;
    struct side s;
    DAT_CONN_QUAL qual = 0;
    DAT_EVENT event;

    fx_open(&fx);
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    while (dat_evd_wait(fx.cr, DAT_TIMEOUT_INFINITE, 1, &event, &(DAT_COUNT){ 0 }) == DAT_SUCCESS) {
        side_make(&s, &fx, NULL);
        must_rc(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, s.ep, 0, NULL), DAT_SUCCESS,
                "dat_cr_accept");
    }
    return 1;
}

struct other {
    struct peer p;
    DAT_CONN_QUAL qual;
    char name[NAME];
};

static struct fx fx;

static void other_start(struct other *o)
{
    peer_start(&o->p, "host");
    must(LINK_RECV(&o->p.link, o->qual) && find_name(o->p.pid, o->name), "no host");
}

static int files_of(const struct other *o)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/fd", (long)o->p.pid);
    return entries(path);
}

static bool connects(DAT_CONN_QUAL qual)
{
    struct side s;
    bool up;

    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    up = wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    side_free(&s);
    return up;
}

/* Sends the hello of a pending peer SILENCE_MS after `since`. It must be accepted. */
static void late(int fd, uint64_t since)
{
    char name[NAME];
    struct packet p;
    int files[FILES];

    while (now_ms() < since + SILENCE_MS)
        poll(NULL, 0, 100);
    must(find_name(getpid(), name), "no name");
    hello_files(files);
    hello(&p, name);
    must(raw_send(fd, &p, files, FILES), "the hello");
    is_int(raw_hear(fd), WELCOME, "a process that says who it is after %d ms is welcome", SILENCE_MS);
    close(fd);
}

/* Connects more pending peers than permitted. */
static void many(struct other *o)
{
    static int fds[2 * MAX_SILENT];
    int before = files_of(o), again = 0, ended = 0, most = 0;

    for (int i = 0; i < 2 * MAX_SILENT; i++) {
        fds[i] = raw_connect(o->name);
        must(fds[i] >= 0, "a connect to a process that lives");
    }
    for (int i = 0; i < MAX_SILENT; i++) {
        again += raw_hear(fds[i]) == AGAIN;
        ended += raw_hear(fds[i]) == 0;
    }
    most = files_of(o) - before;
    is_int(again, MAX_SILENT,
           "%d connections are silent: the first %d are told to connect once more", 2 * MAX_SILENT, MAX_SILENT);
    is_int(ended, MAX_SILENT, "%d connections are silent: those end", 2 * MAX_SILENT);
    ok(most <= MAX_SILENT,
       "%d connections are silent: they have %d descriptors of the other process", 2 * MAX_SILENT, most);
    ok(connects(o->qual), "dat_ep_connect: %d connections are silent: a connect arrives", MAX_SILENT);
    for (int i = 0; i < 2 * MAX_SILENT; i++)
        close(fds[i]);
}

/* Replies AGAIN several times to a connecting endpoint, alternately before and after reading its hello. */
static void put_off(struct other *o)
{
    static const char fake[] = "p-1-0123456789abcdef";
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), heard = 0;
    struct packet p = { { AGAIN }, 1 };
    struct pollfd poller = { listener, POLLIN, 0 };
    char path[128], real[128];
    struct side s;

    /* Register a socket of this test as the owner of the service point. */
    snprintf(at.sun_path, sizeof at.sun_path, "%.40s/%s", place_path(), fake);
    must(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 8) == 0, "no socket");
    snprintf(path, sizeof path, "%s/q-%016llx/owner", place_path(), (unsigned long long)o->qual);
    must(unlink(path) == 0 && symlink(fake, path) == 0, "no claim at %s", path);

    side_make(&s, &fx, NULL);
    must_rc(side_connect(&s, fx_address(&fx), o->qual), DAT_SUCCESS, "dat_ep_connect");
    for (int i = 0; i < 6; i++) {
        int fd = poll(&poller, 1, (int)env_ms(SOON_MS)) > 0 ? accept(listener, NULL, NULL) : -1;

        if (fd < 0)
            break;
        heard += i % 2 == 0 || raw_hear(fd) == HELLO;
        raw_send(fd, &p, NULL, 0);
        close(fd);
    }
    is_int(heard, 6, "dat_ep_connect: a process without room: it is called again");
    snprintf(real, sizeof real, "%s/%s", place_path(), o->name);
    must(rename(real, at.sun_path) == 0, "rename");
    close(listener);
    ok(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "dat_ep_connect: until it has room");
    side_free(&s);
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "host", host }, { NULL, NULL } };
    struct other others[3];
    uint64_t start;
    int fd;

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("the messages are those of the adapter shm");
    if (env_valgrind())
        skip_all("valgrind has descriptors of its own");
    place_make();
    fx_open(&fx);
    for (int i = 0; i < 3; i++)
        other_start(&others[i]);
    start = now_ms();
    fd = raw_connect(others[0].name);
    many(&others[1]);
    put_off(&others[2]);
    late(fd, start);
    for (int i = 0; i < 3; i++)
        peer_kill(&others[i].p);
    fx_close(&fx);
    place_end();
    return done_testing();
}
