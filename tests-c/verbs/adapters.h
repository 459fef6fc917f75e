/*
 * adapters.h - more than one adapter of this provider in one program.
 */
#ifndef TESTS_C_ADAPTERS_H
#define TESTS_C_ADAPTERS_H

#include "common/fixture.h"
#include "common/usage.h"

/* The name of another adapter "verbs-*" than the one of env_ia(). False when there is none. */
bool other_adapter(char name[DAT_NAME_MAX_LENGTH]);

/* The network interface of an adapter; NULL when its name has none. */
const char *netdev_of(const char *adapter);

/* Whether two network interfaces are the two ends of a virtual cable. */
bool one_cable(const char *netdev, const char *other);

/* fx_open() of the adapter with that name. */
void fx_open_on(struct fx *fx, const char *adapter);

/* What is open, one comment line for each kind of file and how often it is there. */
void say_descriptors(const char *when);

#endif
