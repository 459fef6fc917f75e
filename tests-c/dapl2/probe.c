/*
 * probe.c - opens the named adapters, and queries them without opening. Prints a line of return codes for each, and
 * first a line about the list of adapters for each of several rooms. their_providers.sh runs it with two libraries.
 */
#include "common/dat.h"

#include <stdio.h>
#include <string.h>

/* Collects a line, which is printed as a whole, because providers write to standard output, too. */
static char line[1024];
static size_t used;

static void code(const char *what, DAT_RETURN rc)
{
    used += (size_t)snprintf(line + used, sizeof line - used, " %s 0x%08x", what, (unsigned)rc);
}

static void probe(char *name)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_IA_ATTR attr;
    DAT_RETURN rc = dat_ia_open(name, 8, &evd, &ia);

    code("open", rc);
    if (rc == DAT_SUCCESS)
        code("close", dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
    ia = DAT_HANDLE_NULL;
    memset(&attr, 0, sizeof attr);
    rc = dat_ib_open_query(name, &ia, DAT_IA_FIELD_ALL, &attr, 0, NULL);
    code("query", rc);
    if (rc == DAT_SUCCESS)
        code("close", dat_ib_close_query(ia));
}

enum { MOST = 4 };

static void list(DAT_COUNT room)
{
    DAT_PROVIDER_INFO info[MOST], *at[MOST];
    DAT_COUNT n = -7;
    DAT_RETURN rc;

    memset(info, 0, sizeof info);
    for (int i = 0; i < MOST; i++)
        at[i] = &info[i];
    rc = dat_registry_list_providers(room, &n, at);
    printf("\nlist %d: 0x%08x %d", (int)room, (unsigned)rc, (int)n);
    for (int i = 0; i < MOST; i++)
        printf(" %s", info[i].ia_name);
    printf("\n");
}

int main(int argc, char **argv)
{
    for (DAT_COUNT room = 0; room <= MOST; room++)
        list(room);
    for (int i = 1; i < argc; i++) {
        used = 0;
        probe(argv[i]);
        printf("\n%s:%s\n", argv[i], line);
    }
    return 0;
}
