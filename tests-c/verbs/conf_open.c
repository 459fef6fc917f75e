/*
 * conf_open.c - opens and closes an adapter, and prints the result.
 *
 *   conf_open ADAPTER            "DAT_SUCCESS 10.1.0.1", or the return code
 *   conf_open ADAPTER BYTES MAX  then registers BYTES with MAX bytes of locked
 *                                memory allowed, as a user without privileges
 */
#define _DEFAULT_SOURCE
#include "common/peer.h"
#include "common/tap.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOBODY 65534

static void address_text(const DAT_IA_ADDRESS_PTR address, char text[INET6_ADDRSTRLEN])
{
    const void *bytes;

    if (address->sa_family == AF_INET6)
        bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    else
        bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    must(inet_ntop(address->sa_family, bytes, text, INET6_ADDRSTRLEN) != NULL, "no address");
}

/* Limits locked memory. Root may exceed the limit, so the process changes its user. */
static void confine(rlim_t max)
{
    struct rlimit limit;

    must(getrlimit(RLIMIT_MEMLOCK, &limit) == 0, "getrlimit");
    limit.rlim_cur = max;
    must(setrlimit(RLIMIT_MEMLOCK, &limit) == 0, "setrlimit");
    if (geteuid() == 0)
        must(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
}

static DAT_RETURN registered(DAT_IA_HANDLE ia, size_t size)
{
    DAT_REGION_DESCRIPTION where;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_RETURN rc;
    void *memory = calloc(1, size);

    must(memory != NULL, "no memory");
    must_rc(dat_pz_create(ia, &pz), DAT_SUCCESS, "dat_pz_create");
    memset(&where, 0, sizeof where);
    where.for_va = memory;
    rc = dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, where, size, pz, DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
                        &lmr, &lmr_context, &rmr_context, NULL, NULL);
    if (rc == DAT_SUCCESS)
        must_rc(dat_lmr_free(lmr), DAT_SUCCESS, "dat_lmr_free");
    must_rc(dat_pz_free(pz), DAT_SUCCESS, "dat_pz_free");
    free(memory);
    return rc;
}

int main(int argc, char **argv)
{
    char text[INET6_ADDRSTRLEN];
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    static DAT_IA_ATTR attr;
    DAT_RETURN rc;

    must(argc == 2 || argc == 4, "an adapter, or an adapter, bytes and a limit");
    rc = dat_ia_open(argv[1], 8, &async, &ia);
    if (rc != DAT_SUCCESS) {
        printf("%s\n", rc_text(rc));
        return 0;
    }
    must_rc(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_NONE, NULL),
            DAT_SUCCESS, "dat_ia_query");
    address_text(attr.ia_address_ptr, text);
    if (argc == 4) {
        confine((rlim_t)strtoull(argv[3], NULL, 0));
        rc = registered(ia, (size_t)strtoull(argv[2], NULL, 0));
        printf("%s\n", rc_text(rc));
    } else {
        printf("%s %s\n", rc_text(rc), text);
    }
    must_rc(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS, "dat_ia_close");
    return 0;
}
