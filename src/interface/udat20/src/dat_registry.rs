//! Interface between the registry and provider libraries

pub use dat_udat::dat_registry::*;

c_enum! {
    /// Whether two interface adapters can take over each other's connections, see
    /// dat_registry_providers_related.
    dat_ha_relationship as DAT_HA_RELATIONSHIP;
    DAT_HA_FALSE = 0, "They cannot.";
    DAT_HA_TRUE = 1, "They can.";
    DAT_HA_UNKNOWN = 2, "It is not known.";
    DAT_HA_CONFLICTING = 3, "Their providers disagree.";
    DAT_HA_EXTENSION_BASE = 4, "First value that extensions define.";
}
