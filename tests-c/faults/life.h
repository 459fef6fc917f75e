/*
 * life.h - one object of every kind, from its creation to its end, in a process that may lack something.
 *
 * No function here asks for memory, so that every allocation is the library's.
 */
#ifndef TESTS_C_FAULTS_LIFE_H
#define TESTS_C_FAULTS_LIFE_H

#include "common/dat.h"

#include <stdbool.h>
#include <sys/socket.h>

/* What a life ended with. */
struct life {
    /* The call that was refused first, and its code; NULL when none was. */
    const char *refused;
    DAT_RETURN code;
    /* What must not happen in any case; NULL when nothing did. */
    const char *wrong;
    DAT_RETURN wrong_code;
    /* The address of the adapter, if it could be opened. */
    struct sockaddr_storage address;
};

/*
 * Opens the adapter, makes an object of every kind, connects two endpoints with each other, moves bytes in
 * every way, changes what can be changed, frees everything and closes.
 *
 * A call that is refused with DAT_INSUFFICIENT_RESOURCES ends the work; what was made until then is freed and
 * closed all the same, and that must succeed. ms is the longest wait for one event; when it is over and lacking
 * is set, that ends the work too. Without lacking it is wrong.
 */
void life_live(struct life *l, bool lacking, unsigned ms);

#endif
