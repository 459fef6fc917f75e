//! What uDAPL 2.0 alone has.

mod attributes;
mod connections;
mod extensions;
mod memory;
