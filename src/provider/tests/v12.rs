//! The slots of uDAPL 1.2.

mod slots;

mod version {
    pub use ::dat_provider::v12::Udat12 as Tested;
    pub use dat_udat12::*;
}
