//! Which header is made from which modules, and what it includes.

/// One header of include/dat.
pub struct Header {
    /// Its name, as in `#include <dat/NAME>`.
    pub name: &'static str,
    /// What it is about, for the comment at its top.
    pub about: &'static str,
    /// Headers of the system that it needs.
    pub system: &'static [&'static str],
    /// Headers of include/dat that it needs.
    pub needs: &'static [&'static str],
    /// Headers of include/dat that it adds at its end; they need it in turn.
    pub adds: &'static [&'static str],
    /// Modules below src/udat12/src, in the order in which they appear.
    pub modules: &'static [&'static str],
    /// Structures that it names without showing them; another header does.
    pub incomplete: &'static [&'static str],
    /// Whether it has values that only an extension of C99 and C11 allows.
    pub extended: bool,
}

impl Header {
    const fn new(name: &'static str, about: &'static str) -> Header {
        Header { name, about, system: &[], needs: &[], adds: &[], modules: &[], incomplete: &[], extended: false }
    }
}

/// All headers.
///
/// Each can be included alone. dat_redirection.h and udat_redirection.h need each other's types
/// and those of udat.h, which has always brought both: it adds them at its end, when all they need
/// is there, whichever of the three a program includes first.
pub const HEADERS: &[Header] = &[
    Header {
        system: &["netinet/in.h", "stddef.h", "stdint.h", "sys/socket.h"],
        modules: &["dat_platform_specific"],
        incomplete: &["sockaddr", "sockaddr_in6"],
        ..Header::new("dat_platform_specific.h", "types that depend on the platform")
    },
    Header {
        needs: &["dat_platform_specific.h"],
        modules: &["dat_vendor_specific"],
        ..Header::new("dat_vendor_specific.h", "additions of vendors, of which there are none")
    },
    Header {
        needs: &["dat_platform_specific.h"],
        modules: &["udat_vendor_specific"],
        ..Header::new(
            "udat_vendor_specific.h",
            "additions of vendors to the user-level interface, of which there are none",
        )
    },
    Header {
        needs: &["dat_platform_specific.h"],
        modules: &["udat_config"],
        ..Header::new("udat_config.h", "what a program is compiled for")
    },
    Header {
        needs: &["dat_platform_specific.h"],
        modules: &["dat_error"],
        extended: true,
        ..Header::new("dat_error.h", "return codes")
    },
    Header {
        needs: &["dat_error.h", "dat_platform_specific.h", "dat_vendor_specific.h", "udat_config.h"],
        modules: &[
            "dat/types",
            "dat/memory",
            "dat/event",
            "dat/ep",
            "dat/srq",
            "dat/sp",
            "dat/ia",
            "functions/ia",
            "functions/sp",
            "functions/evd",
            "functions/ep",
            "functions/dto",
            "functions/memory",
            "functions/srq",
            "functions/registry",
        ],
        incomplete: &["dat_evd_param", "dat_lmr_param", "dat_provider_attr"],
        ..Header::new("dat.h", "what the user-level and the kernel-level interface share")
    },
    Header {
        needs: &["dat.h", "udat_config.h", "udat_vendor_specific.h"],
        adds: &["udat_redirection.h"],
        modules: &["udat", "udat/provider", "functions/udat"],
        ..Header::new("udat.h", "the user-level interface; programs include this one")
    },
    Header {
        needs: &["udat.h", "udat_redirection.h"],
        modules: &["dat_redirection/slots", "dat_redirection"],
        ..Header::new("dat_redirection.h", "the table of a provider")
    },
    Header {
        needs: &["udat.h"],
        adds: &["dat_redirection.h"],
        modules: &["udat_redirection"],
        ..Header::new("udat_redirection.h", "the part of a provider's table that is of the user-level interface alone")
    },
    Header {
        needs: &["dat_redirection.h", "udat.h"],
        modules: &["dat_registry", "functions/dat_registry"],
        ..Header::new("dat_registry.h", "between the registry and provider libraries")
    },
];
