//! The return codes of uDAPL 2.0.

use dat_udat20::*;

crate::codes!();

#[cfg(test)]
mod tests;
