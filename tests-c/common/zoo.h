/*
 * zoo.h - one live object of every kind, and all kinds of values that are no handle.
 *
 * Every call that takes a handle must answer DAT_INVALID_HANDLE to NULL, to a
 * misaligned pointer, to plain readable memory, to an object of another kind
 * and to one that is freed; zoo_sweep() tries them all.
 */
#ifndef TESTS_C_ZOO_H
#define TESTS_C_ZOO_H

#include "fixture.h"

/* DAT_HANDLE_TYPE_CR ... DAT_HANDLE_TYPE_SRQ, and in 2.0 DAT_HANDLE_TYPE_CSP */
#if UDAPL == 12
#define ZOO_KINDS 11
#else
#define ZOO_KINDS 12
#endif

struct zoo {
    struct fx fx;
    DAT_HANDLE of[ZOO_KINDS]; /* by DAT_HANDLE_TYPE; NULL where not implemented */
    struct region region;
    struct side caller; /* the endpoint whose request of[CR] is */
    struct side side;   /* of[EP], unconnected, with its EVDs */
    struct side reserved;
    DAT_CONN_QUAL psp_qual;
    DAT_CONN_QUAL rsp_qual;
};

void zoo_open(struct zoo *z);
void zoo_close(struct zoo *z);

const char *kind_text(DAT_HANDLE_TYPE kind);

/* The call under test, with one handle argument left open. */
typedef DAT_RETURN (*zoo_call)(DAT_HANDLE handle, void *arg);

#define ZOO_NULL_OK 1 /* DAT_HANDLE_NULL has a meaning there: leave it out */

/*
 * Subtests: fn with every bad handle gives DAT_INVALID_HANDLE. call names the
 * call, and the argument where it is not the first; freed is a handle that was
 * freed already, or NULL.
 */
void zoo_sweep(struct zoo *z, const char *call, DAT_HANDLE_TYPE right, DAT_UINT32 subtype,
               DAT_HANDLE freed, int flags, zoo_call fn, void *arg);

/* A subtest: all animals are alive and of their kind. */
bool zoo_intact(struct zoo *z, const char *after);

#endif
