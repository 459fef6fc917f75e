/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * dat2.h - the names of uDAPL 1.2 that the benchmark uses, where those of uDAPL 2.0 differ.
 */
#ifndef BENCH_DAT2_H
#define BENCH_DAT2_H

#include <dat2/udat.h>

/* The address in a triplet of remote memory has another name. */
#define target_address virtual_address

/* 2.0 asks how addresses are counted: as in the process. */
#define dat_lmr_create(ia, type, region, length, pz, privileges, lmr, lmr_context, rmr_context, got, at) \
    dat_lmr_create(ia, type, region, length, pz, privileges, DAT_VA_TYPE_VA, lmr, lmr_context, \
                   rmr_context, got, at)

#endif
