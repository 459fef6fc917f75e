/*
 * zoo.h - one live object of each kind, and values that are no handle, for which each call must
 * return DAT_INVALID_HANDLE.
 */
#ifndef TESTS_C_ZOO_H
#define TESTS_C_ZOO_H

#include "fixture.h"

#if UDAPL == 12
#define ZOO_KINDS 11
#else
#define ZOO_KINDS 12
#endif

struct zoo {
    struct fx fx;
    DAT_HANDLE of[ZOO_KINDS]; /* indexed by DAT_HANDLE_TYPE; NULL if not implemented */
    struct region region;
    struct side caller; /* the endpoint that made the request of[CR] */
    struct side side;   /* of[EP], unconnected, with its EVDs */
    struct side reserved;
    DAT_CONN_QUAL psp_qual;
    DAT_CONN_QUAL rsp_qual;
};

void zoo_open(struct zoo *z);
void zoo_close(struct zoo *z);

const char *kind_text(DAT_HANDLE_TYPE kind);

/* The call under test, with the handle argument as a parameter. */
typedef DAT_RETURN (*zoo_call)(DAT_HANDLE handle, void *arg);

#define ZOO_NULL_OK 1 /* DAT_HANDLE_NULL is valid for this call: do not try it */

/*
 * Checks that fn returns DAT_INVALID_HANDLE with this subtype for each bad handle, including live
 * objects of all kinds but `right`. `call` is the name of the call in the names of subtests, with
 * the name of the argument unless it is the first. `freed` is a freed handle, or NULL.
 */
void zoo_sweep(struct zoo *z, const char *call, DAT_HANDLE_TYPE right, DAT_UINT32 subtype,
               DAT_HANDLE freed, int flags, zoo_call fn, void *arg);

/* Checks that all objects are still valid. */
bool zoo_intact(struct zoo *z, const char *after);

#endif
