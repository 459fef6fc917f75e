//! A version of the interface for the tests.

crate::library! {
    /// uDAPL 1.2.
    pub struct Udat = dat_udat12;
    name: "test",
}
