/*
 * life.h - a life: the creation, use and end of one object of each kind, in a process that may lack a resource. These
 * functions allocate nothing, so only the library allocates memory.
 */
#ifndef TESTS_C_FAULTS_LIFE_H
#define TESTS_C_FAULTS_LIFE_H

#include "common/dat.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Result of a life. */
struct life {
    /* The call that ended the life with DAT_INSUFFICIENT_RESOURCES, or NULL. */
    const char *refused;
    DAT_RETURN code;
    /* The call whose result is an error of the library, or NULL. */
    const char *wrong;
    DAT_RETURN wrong_code;
    /* The adapter's address, if it was opened. */
    struct sockaddr_storage address;
};

/*
 * Opens the adapter, creates an object of each kind, connects two endpoints, transfers in every way, changes
 * attributes, frees everything and closes.
 *
 * DAT_INSUFFICIENT_RESOURCES ends the life if `lacking`, and is an error otherwise. The same holds for a wait that
 * exceeds ms. The frees and the close must always succeed.
 */
void life_live(struct life *l, bool lacking, unsigned ms);

/*
 * Creates a child, and returns true in it. In the parent, waits for its end, and returns false. SIGALRM ends a child
 * that runs for longer than ms (scaled).
 */
bool life_fork(int *status, unsigned ms);

#endif
