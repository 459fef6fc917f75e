/* directory.c - the codes of shm if its rendezvous directory is full or missing. */
#define _GNU_SOURCE
#include "common/fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Range of the qualifiers that dat_psp_create_any() returns. */
#define FIRST 1024
#define LAST 65535

/* In memory, because the test makes a file per qualifier. */
static char folder[] = "/dev/shm/dat-codes-XXXXXX";
static char rendezvous[sizeof folder + 16];

/* Configures an adapter with a private directory, and another adapter whose directory is a file. */
static void configure(void)
{
    char path[sizeof folder + 16];
    const char *lib = getenv("DAT_TEST_LIBDIR");
    FILE *conf;

    must(lib != NULL && mkdtemp(folder) != NULL, "no folder");
    snprintf(rendezvous, sizeof rendezvous, "%s/rendezvous", folder);
    snprintf(path, sizeof path, "%s/dat.conf", folder);
    must((conf = fopen(path, "w")) != NULL, "no dat.conf");
    fprintf(conf, "%s " CONF_API " threadsafe default %s/libdaplshm" SO " dat.1.0 \"%s\" \"\"\n",
            (const char *)env_ia(), lib, rendezvous);
    fprintf(conf, "file " CONF_API " threadsafe default %s/libdaplshm" SO " dat.1.0 \"%s\" \"\"\n", lib, path);
    must(fclose(conf) == 0 && setenv("DAT_OVERRIDE", path, 1) == 0, "no dat.conf");
}

static int entry(const char *path, const struct stat *s, int flag, struct FTW *f)
{
    (void)s, (void)flag, (void)f;
    return remove(path);
}

static void gone(const char *path)
{
    must(nftw(path, entry, 8, FTW_DEPTH | FTW_PHYS) == 0, path);
}

static void no_directory(void)
{
    char name[] = "file";
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = UNTOUCHED;

    is_code(dat_ia_open(name, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
            "dat_ia_open: its directory is a file: DAT_INSUFFICIENT_RESOURCES");
}

static void every_qualifier(struct fx *fx)
{
    static DAT_PSP_HANDLE psp[LAST + 1];
    DAT_PSP_HANDLE any = UNTOUCHED;
    DAT_CONN_QUAL q = 0;

    for (q = FIRST; q <= LAST; q++)
        must_rc(dat_psp_create(fx->ia, q, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp[q]), DAT_SUCCESS,
                "dat_psp_create");
    is_type(dat_psp_create_any(fx->ia, &q, fx->cr, DAT_PSP_CONSUMER_FLAG, &any),
            DAT_CONN_QUAL_UNAVAILABLE,
            "dat_psp_create_any: every qualifier is taken: DAT_CONN_QUAL_UNAVAILABLE");
    for (q = FIRST; q <= LAST; q++)
        must_rc(dat_psp_free(psp[q]), DAT_SUCCESS, "dat_psp_free");
    is_success(dat_psp_create_any(fx->ia, &q, fx->cr, DAT_PSP_CONSUMER_FLAG, &any),
               "dat_psp_create_any: every qualifier is free: success");
    must_rc(dat_psp_free(any), DAT_SUCCESS, "dat_psp_free");
}

static void lost(struct fx *fx)
{
    DAT_PSP_HANDLE psp = UNTOUCHED;
    DAT_RSP_HANDLE rsp = UNTOUCHED;
    DAT_CONN_QUAL q;
    struct side s;

    side_make(&s, fx, NULL);
    gone(rendezvous);
    is_code(dat_psp_create(fx->ia, 2000, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
            "dat_psp_create: the directory is gone: DAT_INSUFFICIENT_RESOURCES");
    is_code(dat_psp_create_any(fx->ia, &q, fx->cr, DAT_PSP_CONSUMER_FLAG, &psp),
            DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE,
            "dat_psp_create_any: the directory is gone: DAT_INSUFFICIENT_RESOURCES");
    is_code(dat_rsp_create(fx->ia, 2000, s.ep, fx->cr, &rsp), DAT_INSUFFICIENT_RESOURCES,
            DAT_RESOURCE_DEVICE,
            "dat_rsp_create: the directory is gone: DAT_INSUFFICIENT_RESOURCES");
    is_state(ep_state(s.ep), DAT_EP_STATE_UNCONNECTED,
             "dat_rsp_create: the directory is gone: the endpoint is UNCONNECTED");
    side_free(&s);
}

int main(int argc, char **argv)
{
    struct fx fx;

    env_init(argc, argv, NULL);
    if (!env_is_shm())
        skip_all("only shm has a rendezvous directory");
    configure();
    no_directory();
    fx_open(&fx);
    every_qualifier(&fx);
    lost(&fx);
    fx_close(&fx);
    gone(folder);
    return done_testing();
}
