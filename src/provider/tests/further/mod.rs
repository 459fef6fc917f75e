//! Features of uDAPL 2.0 only.

mod attributes;
mod extensions;
mod memory;
