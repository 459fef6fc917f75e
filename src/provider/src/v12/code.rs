//! The return codes of uDAPL 1.2.

use dat_udat12::*;

// Codes of later versions. Calls of this version never return them, because it has no common service points.
const DAT_PORT_IN_USE: DAT_RETURN_TYPE = DAT_CONN_QUAL_IN_USE;
const DAT_COMM_NOT_SUPPORTED: DAT_RETURN_TYPE = DAT_MODEL_NOT_SUPPORTED;
const DAT_INVALID_HANDLE_CSP: DAT_RETURN_SUBTYPE = DAT_NO_SUBTYPE;

crate::codes!();

#[cfg(test)]
mod tests;
