//! Contents and includes of each header.

use Level::{Registry, Shared, User};
use Part::{Calls, Module, Redirections, SlotTypes, Table};

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
    /// Headers of the same directory that this header includes at its end, because they themselves include it.
    pub adds: &'static [&'static str],
    /// Parts, in order. The texts in macros/ for this header come last, but before redirections.
    pub parts: &'static [Part],
}

pub enum Part {
    /// The items of the module with this name, in the common crate and in the version's crate.
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
const USER: &str = "dat_cno_create dat_cno_fd_create dat_cno_free dat_cno_modify_agent dat_cno_query dat_cno_trigger \
    dat_cno_wait dat_evd_clear_unwaitable dat_evd_create dat_evd_disable dat_evd_enable dat_evd_modify_cno \
    dat_evd_set_unwaitable dat_evd_wait dat_lmr_create";

/// Calls between the registry and providers.
const REGISTRY: &str =
    "dat_registry_add_provider dat_registry_providers_related dat_registry_remove_provider dats_get_ia_handle";

impl Level {
    /// Returns the level of a call.
    pub fn of(call: &str) -> Level {
        match call {
            call if USER.split(' ').any(|name| name == call) => User,
            call if REGISTRY.split(' ').any(|name| name == call) => Registry,
            _ => Shared,
        }
    }
}

pub fn headers(interface: &Interface) -> impl Iterator<Item = &'static Header> {
    HEADERS.iter().filter(|header| interface.extended || header.name != EXTENSIONS)
}

const EXTENSIONS: &str = "dat_ib_extensions.h";

const BASE: &[&str] = &["dat_platform_specific.h"];

/// Parts of dat.h. A module follows the modules whose types it uses.
const DAT: &[Part] = &[
    Module("dat/types"),
    Module("dat/memory"),
    Module("dat/event"),
    Module("dat/ep"),
    Module("dat/srq"),
    Module("dat/sp"),
    Module("dat/ia"),
    Module("dat"),
    Calls(Shared),
];

const IB: &[Part] =
    &[Module("ib/attributes"), Module("ib/operations"), Module("ib/counters"), Module("ib/collectives")];

/// Each header can be included alone. dat_redirection.h, udat_redirection.h and udat.h depend on each other, so udat.h
/// includes the others at its end.
const HEADERS: &[Header] = &[
    Header::new(
        "dat_platform_specific.h",
        "types that depend on the platform",
        &[],
        &[Module("dat_platform_specific")],
    )
    .system(&["netinet/in.h", "stddef.h", "stdint.h", "sys/socket.h"]),
    Header::new(
        "dat_vendor_specific.h",
        "additions of vendors, of which there are none",
        BASE,
        &[Module("dat_vendor_specific")],
    ),
    Header::new(
        "udat_vendor_specific.h",
        "additions of vendors to the user-level interface, of which there are none",
        BASE,
        &[Module("udat_vendor_specific")],
    ),
    Header::new("udat_config.h", "what a program is compiled for", BASE, &[Module("udat_config")]),
    Header::new("dat_error.h", "return codes", BASE, &[Module("dat_error")]),
    Header::new(
        "dat.h",
        "what the user-level and the kernel-level interface share",
        &["dat_error.h", "dat_platform_specific.h", "dat_vendor_specific.h", "udat_config.h"],
        DAT,
    ),
    Header::new(
        "udat.h",
        "the user-level interface; programs include this one",
        &["dat.h", "udat_config.h", "udat_vendor_specific.h"],
        &[Module("udat"), Calls(User)],
    )
    .adds(&["udat_redirection.h"]),
    Header::new(
        "dat_redirection.h",
        "the table of a provider",
        &["udat.h", "udat_redirection.h"],
        &[SlotTypes(Shared), Module("dat_redirection"), Table, Redirections(Shared)],
    ),
    Header::new(
        "udat_redirection.h",
        "the part of a provider's table that is of the user-level interface alone",
        &["udat.h"],
        &[SlotTypes(User), Redirections(User)],
    )
    .adds(&["dat_redirection.h"]),
    Header::new(
        "dat_registry.h",
        "between the registry and provider libraries",
        &["dat_redirection.h", "udat.h"],
        &[Module("dat_registry"), Calls(Registry)],
    ),
    Header::new(EXTENSIONS, "extensions for InfiniBand", &["udat.h"], IB),
];

impl Header {
    const fn new(
        name: &'static str,
        about: &'static str,
        needs: &'static [&'static str],
        parts: &'static [Part],
    ) -> Header {
        Header { name, about, system: &[], needs, adds: &[], parts }
    }

    const fn system(self, system: &'static [&'static str]) -> Header {
        Header { system, ..self }
    }

    const fn adds(self, adds: &'static [&'static str]) -> Header {
        Header { adds, ..self }
    }
}

#[cfg(test)]
mod tests;
