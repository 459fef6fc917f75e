#ifndef TESTS_C_RIGHTS_H
#define TESTS_C_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Changes the user and group of this process to those with the number `id`. Returns false if the
 * process may not do this. First loads the provider: if only root can enter a directory above the
 * libraries, such as its home, the other user could not open them.
 */
bool become_user(uid_t id);

/*
 * Drops CAP_SYS_PTRACE, which allows access to all processes of the user, undumpable or restricted
 * by Yama. Also drops it from root's bounding set: an exec that gains it again makes the process
 * undumpable.
 */
void drop_ptrace(void);

#endif
