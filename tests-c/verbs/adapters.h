/* adapters.h - several adapters of this provider in one program. */
#ifndef TESTS_C_ADAPTERS_H
#define TESTS_C_ADAPTERS_H

#include "common/fixture.h"
#include "common/usage.h"

/* Finds an adapter "verbs-*" other than env_ia(). Returns false if there is none. */
bool other_adapter(char name[DAT_NAME_MAX_LENGTH]);

/* Returns the network interface in an adapter's name, or NULL. */
const char *netdev_of(const char *adapter);

/* Returns whether two network interfaces are the ends of a veth pair. */
bool one_cable(const char *netdev, const char *other);

/* Calls fx_open() for the named adapter. */
void fx_open_on(struct fx *fx, const char *adapter);

/* Prints the number of open descriptors for each kind of file. */
void say_descriptors(const char *when);

#endif
