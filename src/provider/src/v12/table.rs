//! The provider table.

use dat_udat12::*;

use crate::v12::Udat12 as Udat;

/// Slots by the name of their call.
mod slots {
    pub use crate::slots::*;

    pub use crate::v12::cno::*;
    pub use crate::v12::cr::*;
    pub use crate::v12::ep::*;
    pub use crate::v12::lmr::*;
    pub use crate::v12::rmr::*;
}

for_each_call!(crate::table);
