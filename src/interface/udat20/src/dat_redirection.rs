//! Type of a call without a slot

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;
use crate::udat::*;
use crate::va_list::va_list;

pub use dat_udat::dat_redirection::*;

for_each_call!(dat_udat::provider_table);
