//! The provider table.

use dat_udat20::va_list::va_list;
use dat_udat20::*;

use crate::Udat20 as Udat;

mod slots {
    pub use dat_provider_common::slots::*;

    pub use crate::cno::*;
    pub use crate::cr::*;
    pub use crate::csp::*;
    pub use crate::ep::*;
    pub use crate::extension::dat_extension_op;
    pub use crate::lmr::*;
    pub use crate::post::*;
    pub use crate::related::*;
    pub use crate::rmr::*;
}

for_each_call!(dat_provider_common::table);
