//! Interface between the registry and provider libraries

pub use dat_udat::dat_registry::*;

c_enum! {
    /// Relationship of two interface adapters: the ability to take over each other's connections, see
    /// dat_registry_providers_related.
    dat_ha_relationship as DAT_HA_RELATIONSHIP;
    DAT_HA_FALSE = 0, "Neither adapter can take over connections of the other.";
    DAT_HA_TRUE = 1, "The adapters can take over each other's connections.";
    DAT_HA_UNKNOWN = 2, "Unknown.";
    DAT_HA_CONFLICTING = 3, "The providers disagree.";
    DAT_HA_EXTENSION_BASE = 4, "First value that extensions define.";
}
