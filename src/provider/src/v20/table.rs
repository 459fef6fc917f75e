//! The provider table.

use dat_udat20::va_list::va_list;
use dat_udat20::*;

use crate::v20::Udat20 as Udat;

mod slots {
    pub use crate::slots::*;

    pub use crate::v20::cno::*;
    pub use crate::v20::cr::*;
    pub use crate::v20::csp::*;
    pub use crate::v20::ep::*;
    pub use crate::v20::extension::dat_extension_op;
    pub use crate::v20::lmr::*;
    pub use crate::v20::post::*;
    pub use crate::v20::related::*;
    pub use crate::v20::rmr::*;
}

for_each_call!(crate::table);
