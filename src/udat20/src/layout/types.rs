//! Sizes and alignments of types without fields

use dat_udat::scalar;

use crate::*;

scalar!(DAT_FD, 4, 4);
scalar!(DAT_HA_LB, 4, 4);
scalar!(DAT_CSP_HANDLE, 8, 8);
scalar!(DAT_DTOS, 4, 4);
scalar!(DAT_SEG_LENGTH, 4, 4);
scalar!(DAT_VA_TYPE, 4, 4);
scalar!(DAT_RMR_SCOPE, 4, 4);
scalar!(DAT_EXTENSION, 4, 4);
scalar!(DAT_SRQ_PARAM_MASK, 4, 4);
scalar!(DAT_CSP_PARAM_MASK, 4, 4);
scalar!(DAT_EXTENDED_OP, 4, 4);
scalar!(DAT_PROXY_TYPE, 4, 4);
scalar!(DAT_HA_RELATIONSHIP, 4, 4);
