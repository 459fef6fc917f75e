#ifndef TESTS_C_PROVIDER_H
#define TESTS_C_PROVIDER_H

/*
 * Returns the library of the provider for an adapter, from packaging/libraries.txt: for "tcp-lo" in
 * a uDAPL 1.2 program, "libdapltcp.so.1". Returns NULL for unknown transports.
 */
const char *provider_of(const char *ia);

#endif
