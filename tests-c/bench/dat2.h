/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dat2.h - names and calls of uDAPL 1.2 that bench uses, mapped to uDAPL 2.0.
 */
#ifndef BENCH_DAT2_H
#define BENCH_DAT2_H

#include <netinet/in.h>
#include <dat2/udat.h>
#include <dat2/dat_ib_extensions.h>

#define target_address virtual_address

/* Adds the parameter va_type of 2.0. */
#define dat_lmr_create(ia, type, region, length, pz, privileges, lmr, lmr_context, rmr_context, got, at) \
    dat_lmr_create(ia, type, region, length, pz, privileges, DAT_VA_TYPE_VA, lmr, lmr_context, \
                   rmr_context, got, at)

#endif
