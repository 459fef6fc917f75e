//! Interface between the registry and provider libraries

use dat_udat::names::c_enum;

pub use dat_udat::dat_registry::*;

/// Relationship of two interface adapters: the ability to take over each other's connections, see
/// dat_registry_providers_related.
pub type DAT_HA_RELATIONSHIP = c_enum;
/// Neither adapter can take over connections of the other.
pub const DAT_HA_FALSE: DAT_HA_RELATIONSHIP = 0;
/// The adapters can take over each other's connections.
pub const DAT_HA_TRUE: DAT_HA_RELATIONSHIP = 1;
/// Each adapter is not open, or its provider does not know the relationship.
pub const DAT_HA_UNKNOWN: DAT_HA_RELATIONSHIP = 2;
/// The providers disagree.
pub const DAT_HA_CONFLICTING: DAT_HA_RELATIONSHIP = 3;
/// First value that extensions define.
pub const DAT_HA_EXTENSION_BASE: DAT_HA_RELATIONSHIP = 4;
