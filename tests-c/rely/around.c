/* around.c - properties of the configuration that programs need. */
#define _POSIX_C_SOURCE 200809L
#include "common/fixture.h"
#include "common/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ADAPTERS 64

static DAT_COUNT list(DAT_PROVIDER_INFO *info)
{
    DAT_PROVIDER_INFO *at[MAX_ADAPTERS];
    DAT_COUNT n = 0;

    for (int i = 0; i < MAX_ADAPTERS; i++)
        at[i] = &info[i];
    must_rc(dat_registry_list_providers(MAX_ADAPTERS, &n, at), DAT_SUCCESS, "dat_registry_list_providers");
    return n;
}

/* Results of opening all listed adapters. */
struct survey {
    int listed, opened, found_alias, not_found_code;
    unsigned worst_ms;
    long printed; /* bytes on standard error */
    char names[512];
};

static int surveyor(struct link *up)
{
    static DAT_PROVIDER_INFO info[MAX_ADAPTERS];
    char path[] = "/tmp/dat-test-stderr-XXXXXX";
    int fd = mkstemp(path), old = dup(STDERR_FILENO);
    struct survey s;
    struct stat st;

    memset(&s, 0, sizeof s);
    must(fd >= 0 && old >= 0, "no temporary file");
    unlink(path);
    dup2(fd, STDERR_FILENO);
    s.listed = list(info);
    s.not_found_code = 1;
    for (int i = 0; i < s.listed; i++) {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia;
        uint64_t start = now_ms();
        DAT_RETURN rc = dat_ia_open(info[i].ia_name, 8, &async, &ia);
        unsigned took = (unsigned)(now_ms() - start);

        if (rc != DAT_SUCCESS && took > s.worst_ms)
            s.worst_ms = took;
        if (strlen(s.names) + strlen(info[i].ia_name) + 2 < sizeof s.names) {
            strcat(s.names, info[i].ia_name);
            strcat(s.names, " ");
        }
        if (rc == DAT_SUCCESS) {
            s.opened++;
            s.found_alias += strcmp(info[i].ia_name, env_ia()) != 0;
            dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
        } else if (!rc_is(rc, DAT_PROVIDER_NOT_FOUND)) {
            s.not_found_code = 0;
        }
    }
    fflush(stderr);
    fstat(STDERR_FILENO, &st);
    s.printed = (long)st.st_size;
    dup2(old, STDERR_FILENO);
    must(LINK_SEND(up, s), "the peer has exited");
    return 0;
}

static void survey(const char *text, struct survey *s)
{
    char path[] = "/tmp/dat-test-conf-XXXXXX";
    int fd = mkstemp(path);
    char *old = getenv("DAT_OVERRIDE");
    struct peer p;

    old = old != NULL ? strdup(old) : NULL;
    must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "no temporary file");
    close(fd);
    setenv("DAT_OVERRIDE", path, 1);
    peer_start(&p, "surveyor");
    if (old != NULL)
        setenv("DAT_OVERRIDE", old, 1);
    else
        unsetenv("DAT_OVERRIDE");
    free(old);
    memset(s, 0, sizeof *s);
    must(LINK_RECV(&p.link, *s), "no survey");
    peer_ok(&p, "opening every name that is listed: the process ends well");
    unlink(path);
}

/* Names that programs open, and entries of the other version. */
#if UDAPL == 12
static const char *const names[] = { "OpenIB-cma", "OpenIB-cma-1", "OpenIB-mlx4_0-1", "ib0" };
static const char others[] =
    "ofa-v2-mlx4_0-1 u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 \"mlx4_0 1\" \"\"\n"
    "ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"ib0 0\" \"\"\n";
#else
static const char *const names[] = { "ofa-v2-ib0", "ofa-v2-mlx4_0-1", "ofa-v2-mlx4_0-1u", "ofa-v2-iwarp" };
static const char others[] =
    "OpenIB-cma u1.2 nonthreadsafe default libdaplcma.so.1 dapl.1.2 \"ib0 0\" \"\"\n"
    "OpenIB-mlx4_0-1 u1.2 nonthreadsafe default libdaplscm.so.1 dapl.1.2 \"mlx4_0 1\" \"\"\n";
#endif

/* Writes the instance data of the adapter. Returns false if its name has no device. */
static bool instance_of(const char *ia, char *instance, size_t size)
{
    const char *device = strchr(ia, '-');

    instance[0] = '\0';
    if (env_is_shm())
        return true;
    if (device != NULL)
        snprintf(instance, size, strncmp(ia, "tcp-", 4) == 0 ? "tcp %s" : "%s 0", device + 1);
    return device != NULL;
}

int main(int argc, char **argv)
{
    static const struct peer_role roles[] = { { "surveyor", surveyor }, { NULL, NULL } };
    const char *libdir, *provider;
    char library[1024], instance[64], text[8192], word[64];
    size_t used = 0;
    struct survey s;

    env_init(argc, argv, roles);
    libdir = getenv("DAT_TEST_LIBDIR");
    provider = provider_of(env_ia());
    if (libdir == NULL || provider == NULL || !instance_of(env_ia(), instance, sizeof instance))
        skip_all("needs the directory of the libraries and an adapter shm, tcp-NETDEV or verbs-NETDEV");
    snprintf(library, sizeof library, "%s/%s", libdir, provider);

    snprintf(text, sizeof text,
             "nowhere0 " CONF_API " nonthreadsafe default /nonexistent/libnone.so.1 x.1.0 \"\" \"\"\n"
             "nowhere1 " CONF_API " threadsafe default libnone.so.1 x.1.0 \"\" \"\"\n"
             "nowhere2 " CONF_API " nonthreadsafe default %s x.1.0 \"\" \"\"\n"
             "%s " CONF_API " threadsafe default %s x.1.0 \"%s\" \"\"\n",
             "/etc/passwd", env_ia(), library, instance);
    survey(text, &s);
    is_int(s.listed, 4, "31: four names, three without a library: all are listed");
    is_int(s.opened, 1, "31: the one that can be opened is opened");
    ok(s.not_found_code, "31: a name that cannot be opened costs a return code");
    ok(s.worst_ms < env_ms(5000), "31: a name that cannot be opened: quickly");
    is_int(s.printed, 0, "31: a name that cannot be opened: no line on standard error");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s " CONF_API " nonthreadsafe default %s dapl." API_VERSION " \"%s\" \"\"\n",
                                 names[i], library, instance);
    snprintf(text + used, sizeof text - used, "%s", others);
    survey(text, &s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(word, sizeof word, "%s ", names[i]);
        ok(strstr(s.names, word) != NULL, "33: %s: listed", names[i]);
    }
    is_int(s.found_alias, 4, "33: each of these names can be opened");
    ok(s.not_found_code, "33: an entry of the other version costs a return code");
    is_int(s.printed, 0, "33: entries of u" OTHER_VERSION " beside " CONF_API ": no line on standard error");
    diag("listed: %s", s.names);
    return done_testing();
}
