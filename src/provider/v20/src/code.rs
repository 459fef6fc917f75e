//! The return codes of uDAPL 2.0.

use dat_udat20::*;

dat_provider_common::codes!();

#[cfg(test)]
mod tests;
