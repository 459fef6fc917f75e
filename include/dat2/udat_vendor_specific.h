/*
 * dat2/udat_vendor_specific.h: additions of vendors to the user-level interface, of which there are none.
 *
 * Part of libdat2, an implementation of uDAPL 2.0.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generated from src/interface/udat and src/interface/udat20 by `make derived`; changes belong there.
 */

#ifndef DAT2_UDAT_VENDOR_SPECIFIC_H
#define DAT2_UDAT_VENDOR_SPECIFIC_H

#include "dat_platform_specific.h"

#endif /* DAT2_UDAT_VENDOR_SPECIFIC_H */
