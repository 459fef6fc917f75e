//! The versions of the interface, and where their files are.

/// The crate of what versions have in common.
pub const COMMON: &str = "src/interface/udat";

/// A version of the interface.
pub struct Interface {
    /// Its number.
    pub version: &'static str,
    /// What follows the name of a call where its text describes it: the section of its manual pages, if it has such.
    pub manual: &'static str,
    /// Its crate.
    pub source: &'static str,
    /// The name of its registry library, without suffix.
    pub library: &'static str,
    /// Whether the library has calls under a version node of their own, see `for_each_further_call!` of the crate.
    pub further: bool,
    /// Whether it has extensions for InfiniBand, in the modules ib of the crate.
    pub extensions: bool,
    /// The folder of its C headers, below include.
    pub include: &'static str,
    /// What follows in the names of the lists in tests-c.
    pub suffix: &'static str,
}

/// All versions.
pub const INTERFACES: &[Interface] = &[UDAT12, UDAT20];

const UDAT12: Interface = Interface {
    version: "1.2",
    manual: "(3DAT)",
    source: "src/interface/udat12",
    library: "libdat",
    further: false,
    extensions: false,
    include: "dat",
    suffix: "",
};

const UDAT20: Interface = Interface {
    version: "2.0",
    manual: "",
    source: "src/interface/udat20",
    library: "libdat2",
    further: true,
    extensions: true,
    include: "dat2",
    suffix: "20",
};
