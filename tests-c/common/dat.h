/*
 * dat.h - the interface for which the tests are compiled: uDAPL 1.2, or 2.0 with -DUDAPL=20.
 *
 * The tests use the names and calls of 1.2. Macros map them to 2.0. A name in parentheses, as in
 * (dat_cr_reject)(cr, size, data), is the 2.0 call itself.
 */
#ifndef TESTS_C_DAT_H
#define TESTS_C_DAT_H

#include <stdint.h>

#ifndef UDAPL
#define UDAPL 12
#endif

#if UDAPL == 12

#include <dat/udat.h>
#include <dat/dat_registry.h>

/* The version, the library, and the suffix of provider files. */
#define API_VERSION "1.2"
#define LIBDAT "libdat.so.1"
#define SO ".so.1"

/* Converts a value for dats_get_ia_handle(). */
#define AS_IA(value) ((unsigned long)(uintptr_t)(value))

/* The next minor versions, and the other major version. */
#define API_NEXT "1.3"
#define API_LATER "1.4"
#define OTHER_VERSION "2.0"
#define OTHER_MAJOR 2

/* The type of a segment's length. */
#define DAT_SEG_LENGTH DAT_VLEN

#define CNO_FIELD_AGENT DAT_CNO_FIELD_AGENT
#define CNO_FIELD_UNKNOWN (DAT_CNO_FIELD_ALL + 1)
#define CNO_AGENT(param) ((param).agent)

/* Codes for parameters whose positions differ between 1.2 and 2.0. */
#define ARG_LMR_CREATE_HANDLE DAT_INVALID_ARG7
#define ARG_RMR_BIND_TRIPLET DAT_INVALID_ARG2
#define ARG_RMR_BIND_PRIVILEGES DAT_INVALID_ARG3
#define ARG_RMR_BIND_FLAGS DAT_INVALID_ARG6
#define ARG_RMR_BIND_CONTEXT DAT_INVALID_ARG7

/* Binds with the arguments of 2.0, which include the LMR. */
#define bind_to_lmr(rmr, lmr, triplet, privileges, ep, cookie, flags, context) \
    ((void)(lmr), dat_rmr_bind(rmr, triplet, privileges, ep, cookie, flags, context))

#elif UDAPL == 20

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <netinet/in.h> /* needed by dat_ib_extensions.h */
#include <dat2/dat_ib_extensions.h>

#define API_VERSION "2.0"
#define LIBDAT "libdat2.so.2"
#define SO ".so.2"

#define API_NEXT "2.1"
#define API_LATER "2.2"
#define OTHER_VERSION "1.2"
#define OTHER_MAJOR 1

/* The fields of a CNO are consecutive numbers in 2.0, not bits. */
#define CNO_FIELD_AGENT DAT_CNO_FIELD_PROXY
#define CNO_FIELD_UNKNOWN 8
#define CNO_AGENT(param) ((param).proxy.agent)

#define ARG_LMR_CREATE_HANDLE DAT_INVALID_ARG8
#define ARG_RMR_BIND_TRIPLET DAT_INVALID_ARG3
#define ARG_RMR_BIND_PRIVILEGES DAT_INVALID_ARG4
#define ARG_RMR_BIND_FLAGS DAT_INVALID_ARG8
#define ARG_RMR_BIND_CONTEXT DAT_INVALID_ARG9

#define bind_to_lmr(rmr, lmr, triplet, privileges, ep, cookie, flags, context) \
    dat_rmr_bind(rmr, lmr, triplet, privileges, DAT_VA_TYPE_VA, ep, cookie, flags, context)

/* Adds the address type, an argument that 1.2 lacks. */
#define dat_lmr_create(ia, type, region, length, pz, privileges, lmr, lmr_context, rmr_context, got, at) \
    dat_lmr_create(ia, type, region, length, pz, privileges, DAT_VA_TYPE_VA, lmr, lmr_context, \
                   rmr_context, got, at)

/* Rejects without private data, which 1.2 lacks. */
#define dat_cr_reject(cr) dat_cr_reject(cr, 0, NULL)

/* Third-party 2.0 headers may lack this declaration. */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE *ia_handle);

#define AS_IA(value) ((DAT_IA_HANDLE)(uintptr_t)(value))

#define target_address virtual_address

#else
#error UDAPL is 12 or 20
#endif

/* The API version in a dat.conf entry. */
#define CONF_API "u" API_VERSION

/* The code that calls return. In 2.0, the constant DAT_NOT_IMPLEMENTED lacks the class bit. */
#define NOT_IMPLEMENTED ((DAT_RETURN)(DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED))

#define SEG_LENGTH_MAX (~(DAT_SEG_LENGTH)0)

#endif
