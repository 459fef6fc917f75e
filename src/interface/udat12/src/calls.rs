//! The calls of uDAPL 1.2.

mod cr;
mod lmr;
mod registry;
mod rmr;

/// Calls the macro `$callback` with each call of uDAPL 1.2, in the form that [`dat_udat::abi`] describes.
#[macro_export]
macro_rules! for_each_call {
    ($callback:path) => {
        $crate::common::ia_calls!($callback);
        $crate::common::context_calls!($callback);
        $crate::common::pz_calls!($callback);
        $crate::common::lmr_calls!($callback, $crate::own_lmr_calls);
        $crate::common::rmr_calls!($callback, $crate::own_rmr_calls);
        $crate::common::evd_calls!($callback);
        $crate::common::cno_calls!($callback);
        $crate::common::ep_calls!($callback);
        $crate::common::connect_calls!($callback);
        $crate::common::post_calls!($callback);
        $crate::common::srq_calls!($callback);
        $crate::common::psp_calls!($callback);
        $crate::common::rsp_calls!($callback);
        $crate::common::cr_calls!($callback, $crate::own_cr_calls);
        $crate::common::registry_calls!($callback, $crate::own_registry_calls);
    };
}

/// Calls the macro `$callback` with the slots of the provider table in the order of the table.
#[macro_export]
macro_rules! for_each_slot {
    ($callback:path) => {
        $crate::common::slots!($callback,);
    };
}
