//! Features of uDAPL 2.0 only.

mod attributes;
mod connections;
mod extensions;
mod memory;
