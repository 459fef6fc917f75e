#ifndef TESTS_C_RIGHTS_H
#define TESTS_C_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Loads the provider before the process becomes another user, or root of a user namespace: if only
 * one user can enter a directory above the libraries, such as a home, others cannot open them.
 */
void load_provider(void);

/*
 * Loads the provider. Then changes the user and group of this process to those with the number
 * `id`. Returns false if the process may not do this.
 */
bool become_user(uid_t id);

/*
 * Drops CAP_SYS_PTRACE, which allows access to all processes of the user, undumpable or restricted
 * by Yama. Also drops it from root's bounding set: an exec that gains it again makes the process
 * undumpable.
 */
void drop_ptrace(void);

#endif
