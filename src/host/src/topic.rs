//! Sections of docs/troubleshooting.md. A message about an adapter that does not open ends with the section that
//! describes the remedy, as in `error: a: no such device [no-rdma-device]`. dat-info reads the section's name.

use std::fmt;
use std::io;

use crate::limit;

macro_rules! topics {
    ($($topic:ident = $name:literal;)*) => {
        /// A section of docs/troubleshooting.md.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the page describes them")]
        pub enum Topic {
            $($topic,)*
        }

        impl Topic {
            /// All topics in the order of the page.
            pub const ALL: &'static [Topic] = &[$(Topic::$topic,)*];

            /// Returns the name of the section, the end of links to it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Topic::$topic => $name,)*
                }
            }
        }
    };
}

topics! {
    LibraryNotFound = "library-not-found";
    OpenFiles = "open-files";
    UnreadableConfiguration = "unreadable-configuration";
    IgnoredLine = "ignored-line";
    NoAdapter = "no-adapter";
    NoEntry = "no-entry";
    ProviderLibrary = "provider-library";
    DoesNotOpen = "does-not-open";
    RendezvousDirectory = "rendezvous-directory";
    ProcFileSystem = "proc-file-system";
    InstanceData = "instance-data";
    NoRdmaDevice = "no-rdma-device";
    InactivePort = "inactive-port";
    NoIpAddress = "no-ip-address";
    InterfaceList = "interface-list";
    DeviceFiles = "device-files";
    LockedMemory = "locked-memory";
}

impl Topic {
    /// Returns the topic with this name, if any.
    pub fn named(name: &str) -> Option<Topic> {
        Topic::ALL.iter().copied().find(|topic| topic.name() == name)
    }

    /// Splits a line of the log into its text and the topic at its end, if any.
    pub fn split(line: &str) -> (&str, Option<Topic>) {
        let split = line.strip_suffix(']').and_then(|line| line.rsplit_once(" ["));
        let found = split.and_then(|(text, name)| Some((text, Some(Topic::named(name)?))));
        found.unwrap_or((line, None))
    }

    /// Creates a reason with this topic.
    pub fn reason(self, text: impl Into<String>) -> Reason {
        Reason { topic: self, text: text.into() }
    }

    /// Creates a reason with this topic, or with [`Topic::OpenFiles`] if `error` is a lack of descriptors.
    pub fn error(self, error: &io::Error, text: impl Into<String>) -> Reason {
        if limit::lacks_descriptors(error) { Topic::OpenFiles } else { self }.reason(text)
    }
}

/// The reason why an adapter does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The section that describes what to do.
    pub topic: Topic,
    /// One line without the name of the adapter.
    pub text: String,
}

impl Reason {
    /// Writes the reason to the log.
    pub fn log(&self, adapter: &str) {
        log::error!(target: self.topic.name(), "{adapter}: {self}");
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
