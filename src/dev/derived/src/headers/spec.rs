//! Contents and includes of each header.

use Level::{Registry, Shared, User};

use crate::interface::Interface;

pub struct Header {
    /// File name.
    pub name: &'static str,
    /// Subject, for the comment at the top.
    pub about: &'static str,
    /// Included system headers.
    pub system: &'static [&'static str],
    /// Included headers of the same directory.
    pub needs: &'static [&'static str],
    /// Headers of the same directory that it includes at the end, and that include it.
    pub adds: &'static [&'static str],
    /// Parts, in order. The texts in macros/ with the name of the header come last, but before redirections.
    pub parts: &'static [Part],
}

pub enum Part {
    /// The common module of this name and the version's, or the only one.
    Module(&'static str),
    Calls(Level),
    SlotTypes(Level),
    Table,
    /// Upper-case macros, which call through the table.
    Redirections(Level),
}

/// The interface of a call, which determines its header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Shared by the user-level and the kernel-level interface.
    Shared,
    /// Only in the user-level interface.
    User,
    /// Between providers and the registry.
    Registry,
}

/// Calls of the user-level interface only.
const USER: &[&str] = &[
    "dat_cno_create",
    "dat_cno_fd_create",
    "dat_cno_free",
    "dat_cno_modify_agent",
    "dat_cno_query",
    "dat_cno_trigger",
    "dat_cno_wait",
    "dat_evd_clear_unwaitable",
    "dat_evd_create",
    "dat_evd_disable",
    "dat_evd_enable",
    "dat_evd_modify_cno",
    "dat_evd_set_unwaitable",
    "dat_evd_wait",
    "dat_lmr_create",
];

/// Calls between the registry and providers.
const REGISTRY: &[&str] = &[
    "dat_registry_add_provider",
    "dat_registry_providers_related",
    "dat_registry_remove_provider",
    "dats_get_ia_handle",
];

impl Level {
    /// Returns the level of a call.
    pub fn of(call: &str) -> Level {
        match call {
            call if USER.contains(&call) => User,
            call if REGISTRY.contains(&call) => Registry,
            _ => Shared,
        }
    }
}

impl Header {
    const fn new(name: &'static str, about: &'static str) -> Header {
        Header { name, about, system: &[], needs: &[], adds: &[], parts: &[] }
    }
}

pub fn headers(interface: &Interface) -> impl Iterator<Item = &'static Header> {
    HEADERS.iter().chain(if interface.extended { EXTENSIONS } else { &[] })
}

/// Headers of all versions.
/// Each can be included alone. dat_redirection.h, udat_redirection.h and udat.h depend on each other, so udat.h
/// includes the others at its end.
const HEADERS: &[Header] = &[
    Header {
        system: &["netinet/in.h", "stddef.h", "stdint.h", "sys/socket.h"],
        parts: &[Part::Module("dat_platform_specific")],
        ..Header::new("dat_platform_specific.h", "types that depend on the platform")
    },
    Header {
        needs: &["dat_platform_specific.h"],
        parts: &[Part::Module("dat_vendor_specific")],
        ..Header::new("dat_vendor_specific.h", "additions of vendors, of which there are none")
    },
    Header {
        needs: &["dat_platform_specific.h"],
        parts: &[Part::Module("udat_vendor_specific")],
        ..Header::new(
            "udat_vendor_specific.h",
            "additions of vendors to the user-level interface, of which there are none",
        )
    },
    Header {
        needs: &["dat_platform_specific.h"],
        parts: &[Part::Module("udat_config")],
        ..Header::new("udat_config.h", "what a program is compiled for")
    },
    Header {
        needs: &["dat_platform_specific.h"],
        parts: &[Part::Module("dat_error")],
        ..Header::new("dat_error.h", "return codes")
    },
    Header {
        needs: &["dat_error.h", "dat_platform_specific.h", "dat_vendor_specific.h", "udat_config.h"],
        parts: &[
            Part::Module("dat/types"),
            Part::Module("dat/memory"),
            Part::Module("dat/event"),
            Part::Module("dat/ep"),
            Part::Module("dat/srq"),
            Part::Module("dat/sp"),
            Part::Module("dat/ia"),
            Part::Module("dat"),
            Part::Calls(Shared),
        ],
        ..Header::new("dat.h", "what the user-level and the kernel-level interface share")
    },
    Header {
        needs: &["dat.h", "udat_config.h", "udat_vendor_specific.h"],
        adds: &["udat_redirection.h"],
        parts: &[Part::Module("udat"), Part::Calls(User)],
        ..Header::new("udat.h", "the user-level interface; programs include this one")
    },
    Header {
        needs: &["udat.h", "udat_redirection.h"],
        parts: &[Part::SlotTypes(Shared), Part::Module("dat_redirection"), Part::Table, Part::Redirections(Shared)],
        ..Header::new("dat_redirection.h", "the table of a provider")
    },
    Header {
        needs: &["udat.h"],
        adds: &["dat_redirection.h"],
        parts: &[Part::SlotTypes(User), Part::Redirections(User)],
        ..Header::new("udat_redirection.h", "the part of a provider's table that is of the user-level interface alone")
    },
    Header {
        needs: &["dat_redirection.h", "udat.h"],
        parts: &[Part::Module("dat_registry"), Part::Calls(Registry)],
        ..Header::new("dat_registry.h", "between the registry and provider libraries")
    },
];

const EXTENSIONS: &[Header] = &[Header {
    needs: &["udat.h"],
    parts: &[
        Part::Module("ib/attributes"),
        Part::Module("ib/operations"),
        Part::Module("ib/counters"),
        Part::Module("ib/collectives"),
    ],
    ..Header::new("dat_ib_extensions.h", "extensions for InfiniBand")
}];

#[cfg(test)]
mod tests;
