//! The page that says what to do about a problem, and its sections.

use clap::ValueEnum;

/// Where the page is in the sources, and below the documents of an installation.
const PAGE: &str = "docs/troubleshooting.md";

/// A section of the page; its name there is that of the variant in small letters, with hyphens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    LibraryNotFound,
    OpenFiles,
    UnreadableConfiguration,
    IgnoredLine,
    NoAdapter,
    NoEntry,
    ProviderLibrary,
    DoesNotOpen,
    RendezvousDirectory,
    ProcFileSystem,
    InstanceData,
    NoRdmaDevice,
    InactivePort,
    NoIpAddress,
    DeviceFiles,
    LockedMemory,
}

impl Topic {
    /// The section as a reader finds it.
    pub fn place(self) -> String {
        format!("{PAGE}#{}", self.to_possible_value().expect("no section is hidden").get_name())
    }
}

#[cfg(test)]
mod tests;
