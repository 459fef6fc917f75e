//! The versions of the interface that the tools speak.

use std::fmt;

use dat_registry::Version;

/// A version of the interface; each has a library of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Api {
    /// A program that is linked with libdat.so.1
    #[value(name = "1.2")]
    V12,
    /// A program that is linked with libdat2.so.2
    #[value(name = "2.0")]
    V20,
}

impl Api {
    /// All versions, the oldest first.
    pub const ALL: [Api; 2] = [Api::V12, Api::V20];

    /// The name by which programs know the library.
    pub fn library(self) -> &'static str {
        match self {
            Api::V12 => "libdat.so.1",
            Api::V20 => "libdat2.so.2",
        }
    }

    /// What the library gives to the registry.
    pub fn version(self) -> Version {
        match self {
            Api::V12 => Version { major: 1, minor: 2 },
            Api::V20 => Version { major: 2, minor: 0 },
        }
    }

    /// Whether a program of this version can open an entry of the registry with these numbers.
    pub fn serves(self, (major, _): (u32, u32)) -> bool {
        major == self.version().major
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version { major, minor } = self.version();
        write!(f, "{major}.{minor}")
    }
}
