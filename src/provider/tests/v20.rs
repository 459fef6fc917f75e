//! The slots of uDAPL 2.0.

mod further;
mod slots;

mod version {
    pub use ::dat_provider::v20::Udat20 as Tested;
    pub use dat_udat20::*;
}
