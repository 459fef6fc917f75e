/* provider.h - the providers of packaging/libraries.txt. */
#ifndef TESTS_C_PROVIDER_H
#define TESTS_C_PROVIDER_H

/*
 * Returns the file of the provider for an adapter and the uDAPL version of the program, such as "libdapltcp.so.1" for "tcp-lo".
 * Returns NULL if the name belongs to no transport.
 */
const char *provider_of(const char *ia);

#endif
