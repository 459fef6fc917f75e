//! The versions of the interface, and the paths of their files.

/// Directory of the crate that all versions share.
pub const COMMON: &str = "src/interface/udat";

pub struct Interface {
    pub version: &'static str,
    pub source: &'static str,
    /// Name of the registry library, without `.so`.
    pub library: &'static str,
    /// Directory of the version's C headers, below include.
    pub include: &'static str,
}

pub const INTERFACES: &[Interface] = &[
    Interface { version: "1.2", source: "src/interface/udat12", library: "libdat", include: "dat" },
    Interface { version: "2.0", source: "src/interface/udat20", library: "libdat2", include: "dat2" },
];
