/* leftovers.c - files that a process leaves in the rendezvous directory, and umasks. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"
#include "common/place.h"
#include "common/rights.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The second process: opens an adapter, connects to itself, closes abruptly and exits. */
static int brief(struct link *up)
{
    struct fx fx;
    struct pair pair;

    (void)up;
    fx_open(&fx);
    pair_open(&pair, &fx, NULL);
    fx_listen(&fx, &(DAT_CONN_QUAL){ 0 });
    must(dat_ia_close(fx.ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS, "dat_ia_close");
    must(place_count("p-") == 0, "the socket is left when dat_ia_close returns");
    _exit(0);
}

/* The second process: opens an adapter with a umask, and accepts a connection. */
static int masked(struct link *up)
{
    struct fx fx;
    struct side s;
    DAT_CONN_QUAL qual = 0;
    int mask = 0;
    unsigned id = 0;

    must(LINK_RECV(up, mask) && LINK_RECV(up, id), "the other process is gone");
    must(id == 0 || become_user(id), "another user");
    umask((mode_t)mask);
    fx_open(&fx);
    must((umask(0) & 0777) == (mode_t)mask, "the umask has changed");
    umask((mode_t)mask);
    side_make(&s, &fx, NULL);
    fx_listen(&fx, &qual);
    must(LINK_SEND(up, qual), "the other process is gone");
    must_rc(dat_cr_accept(next_request(fx.cr), s.ep, 0, NULL), DAT_SUCCESS, "dat_cr_accept");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

static int unmasked(struct link *up)
{
    struct fx fx;
    struct side s;
    DAT_CONN_QUAL qual;
    unsigned id = 0;

    must(LINK_RECV(up, id), "the other process is gone");
    must(id == 0 || become_user(id), "another user");
    fx_open(&fx);
    side_make(&s, &fx, NULL);
    must(link_say(up, "open") && LINK_RECV(up, qual), "the other process is gone");
    must_rc(side_connect(&s, fx_address(&fx), qual), DAT_SUCCESS, "dat_ep_connect");
    must(wait_connection(s.conn, DAT_CONNECTION_EVENT_ESTABLISHED), "no ESTABLISHED");
    link_say(up, "up");
    link_hear(up, "bye");
    fx_close(&fx);
    return 0;
}

/* Checks that a process with the default umask can connect to a process of user `id` with the umask `mask`. */
static void try_mask(int mask, unsigned id)
{
    struct peer first, second;
    struct stat about;
    DAT_CONN_QUAL qual = 0;

    peer_start(&first, "masked");
    LINK_SEND(&first.link, mask);
    LINK_SEND(&first.link, id);
    ok(LINK_RECV(&first.link, qual), "dat_ia_open: umask %03o, user %u: success", mask, id);
    ok(stat(place_path(), &about) == 0 && (about.st_mode & 0777) == 0700,
       "umask %03o: the directory has mode 700, not %o", mask, (unsigned)about.st_mode & 0777);
    peer_start(&second, "unmasked");
    LINK_SEND(&second.link, id);
    ok(link_hear(&second.link, "open"), "umask %03o: another process opens", mask);
    LINK_SEND(&second.link, qual);
    ok(link_hear(&second.link, "up"), "umask %03o: it connects", mask);
    link_say(&first.link, "bye");
    link_say(&second.link, "bye");
    peer_join(&first, SOON_MS);
    peer_join(&second, SOON_MS);
    ok(place_count("") == 0, "umask %03o: nothing is left", mask);
    rmdir(place_path());
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = {
        { "brief", brief }, { "masked", masked }, { "unmasked", unmasked }, { NULL, NULL }
    };
    static const int masks[] = { 0277, 0777, 0077, 0177 };
    unsigned ids[] = { 0, 12345 };
    struct peer p;
    int rounds = env_count(500, 20), bad = 0;
    char above[256];

    env_init(argc, argv, roles);
    if (!env_is_shm())
        skip_all("the directory is that of the adapter shm");
    if (env_valgrind())
        skip_all("valgrind has files of its own, which other umasks and users do not let it have");
    place_make();
    for (int i = 0; i < rounds; i++) {
        peer_start(&p, "brief");
        bad += peer_join(&p, SOON_MS) != 0;
    }
    ok(bad == 0, "dat_ia_close: abrupt: the socket is gone on return, %d times of %d", rounds - bad, rounds);
    is_int(place_count(""), 0, "dat_ia_close: abrupt, then exit: the directory is empty");
    rmdir(place_path());

    /* Modes do not restrict root, so test with another user, too. */
    snprintf(above, sizeof above, "%s", place_path());
    *strrchr(above, '/') = '\0';
    for (size_t u = 0; u < (geteuid() == 0 ? 2 : 1); u++) {
        if (ids[u] != 0) {
            chmod(above, 0777);
            snprintf(above + strlen(above), sizeof above - strlen(above), "/dat.conf");
            chmod(above, 0644);
        }
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            try_mask(masks[m], ids[u]);
    }
    place_end();
    return done_testing();
}
