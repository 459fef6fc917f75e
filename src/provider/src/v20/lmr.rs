//! Local memory regions.

use dat_udat20::*;

use crate::v20::rmr::base;

crate::lmr_slots! {
    create { va_type: DAT_VA_TYPE }, base(va_type, 7)?, 8;
    query |lmr| { va_type: lmr.base as DAT_VA_TYPE };
}
