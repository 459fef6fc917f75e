#ifndef TESTS_C_RIGHTS_H
#define TESTS_C_RIGHTS_H

/*
 * Drops CAP_SYS_PTRACE, which allows access to all processes of the user, undumpable or restricted
 * by Yama. Also drops it from root's bounding set: an exec that gains it again makes the process
 * undumpable.
 */
void drop_ptrace(void);

#endif
