//! The table of a provider

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;
use crate::udat::*;

/// The types of the slots, with the names of the calls.
pub mod slot_types {
    use super::*;

    for_each_call!(dat_udat::slot_type);
}

pub use slot_types::DAT_IA_OPENV_FUNC;

for_each_slot!(dat_udat::provider_table);
