//! The C API layer.
//!
//! A [`Provider`] combines a [`Version`] of the interface, with its C structures and return codes, with a transport.
//!
//! ```text
//!  program → provider table → function of `function!` → slot → core
//!                             C types                   safe pointer types
//! ```
//!
//! A *slot* has the name of a call, and is in its object's module. It converts handles, pointers and flags, calls the
//! core, and converts the result. The manual page of a call documents its return codes.
//!
//! Slots with the same types in both versions are in the modules of this level. If versions differ only in field types
//! or values, a macro contains the common code, and [`v12`] and [`v20`] expand it with their own types in scope. These
//! also contain the table, the other slots, and the implementation of [`Version`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![expect(clippy::too_many_arguments, reason = "the calls of the interface have them")]

pub mod attr;
pub mod call;
pub mod cno;
pub mod code;
pub mod context;
pub mod counted;
pub mod cr;
pub mod entry;
pub mod ep;
pub mod evd;
pub mod event;
pub mod fork;
pub mod handle;
pub mod ia;
pub mod lmr;
pub mod post;
pub mod psp;
pub mod ptr;
pub mod pz;
pub mod registration;
pub mod rmr;
pub mod rsp;
pub mod srq;
pub mod table;
pub mod trace;
pub mod v12;
pub mod v20;
pub mod wait;

use std::ffi::{CStr, c_char};

use dat_core::ep::Value;
use dat_core::ep::table::Field;
use dat_core::event::Completion;
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{ApiCaps, Endpoint, EpAttributes, Event, Handle, Ia, LocalSegment, Rights, Streams};
use dat_udat::names::CodeNames;
use dat_udat::*;

use crate::ptr::{InPtr, Out};

pub use call::{Answer, At, Fault, Positions};
pub use handle::Domain;

#[doc(hidden)]
pub use dat_udat as udat;
#[doc(hidden)]
pub use dat_udat20 as udat20;
#[doc(hidden)]
pub use host::{cstr, memory};

/// Slots of all versions.
pub mod slots {
    pub use crate::cno::*;
    pub use crate::context::*;
    pub use crate::cr::*;
    pub use crate::ep::connect::*;
    pub use crate::ep::modify::*;
    pub use crate::ep::*;
    pub use crate::evd::*;
    pub use crate::ia::*;
    pub use crate::lmr::*;
    pub use crate::post::*;
    pub use crate::psp::*;
    pub use crate::pz::*;
    pub use crate::rmr::*;
    pub use crate::rsp::*;
    pub use crate::srq::*;
    pub use crate::wait::*;
}

/// Returns `count` as a `DAT_COUNT`, at most `DAT_COUNT::MAX`.
pub fn count(count: usize) -> DAT_COUNT {
    DAT_COUNT::try_from(count).unwrap_or(DAT_COUNT::MAX)
}

/// The combination of a transport and a version. A provider library implements this trait for each version that it
/// serves.
pub trait Provider: Sized + 'static {
    /// The transport.
    type Transport: Transport;

    /// The version of the interface.
    type Version: Version;

    /// Returns the adapters and handles of the provider library, which its versions share.
    fn domain() -> &'static Domain<Self::Transport>;
}

/// A version of uDAPL: its provider table, codes, and the structures, masks and flags that versions do not share.
pub trait Version: Sized + 'static {
    /// The provider table, whose address begins each handle's cell.
    type Table: 'static;
    /// `DAT_EVENT`.
    type Event: Copy;
    /// `DAT_LMR_TRIPLET`.
    type LmrTriplet: Copy;
    /// `DAT_RMR_TRIPLET`.
    type RmrTriplet: Copy;
    /// `DAT_EP_ATTR`.
    type EpAttr: Copy;
    /// `DAT_EP_PARAM`.
    type EpParam: Copy;
    /// `DAT_IA_ATTR`.
    type IaAttr;
    /// `DAT_PROVIDER_ATTR`.
    type ProviderAttr;

    /// Major number of the version.
    const MAJOR: u32;
    /// The names of return codes.
    const CODE_NAMES: CodeNames;
    /// Symbol version of the registry's functions.
    const NODE: &'static CStr;
    /// The registry's function that converts the provider's handle of an adapter to the program's handle; `None` if
    /// programs use the provider's handles.
    const IA_HANDLES: Option<&'static CStr>;

    /// Minimum length of an asynchronous EVD that dat_ia_open creates.
    const MIN_ASYNC_QLEN: usize;
    /// Version-specific behaviour of the core.
    const API_CAPS: ApiCaps;

    /// All bits of dat_ia_query's adapter mask.
    const IA_FIELDS: DAT_IA_ATTR_MASK;
    /// All bits of dat_ia_query's provider mask.
    const PROVIDER_FIELDS: DAT_PROVIDER_ATTR_MASK;
    /// All bits of dat_ep_modify's mask.
    const EP_FIELDS: DAT_EP_PARAM_MASK;

    /// All rights that the version defines.
    const RIGHTS: Rights;
    /// Privilege bits that programs may set, without effect.
    const OTHER_RIGHTS: DAT_MEM_PRIV_FLAGS;
    /// All event streams that the version defines.
    const STREAMS: Streams;
    /// Flags of dat_ep_connect for multipathing, which no adapter supports.
    const MULTIPATH: &'static [DAT_CONNECT_FLAGS];
    /// `true` if dat_ep_create_with_srq accepts NULL attributes.
    const SRQ_DEFAULTS: bool;
    /// The state that a query returns for every SRQ.
    const SRQ_OPERATIONAL: DAT_SRQ_STATE;

    /// Returns the table of an adapter. The name must outlive the table.
    fn table<F: Provider<Version = Self>>(device_name: *const c_char) -> Self::Table;

    /// Writes a DTO completion that was dequeued from `evd`. `extra` is the value of an extended transfer
    /// ([`Event::Transfer`]).
    fn completion(out: Out<Self::Event>, evd: Handle, completion: &Completion, extra: u32);

    /// Writes any event that was dequeued from `evd`.
    fn event<F: Provider<Version = Self>>(out: Out<Self::Event>, evd: Handle, event: Event);

    /// Returns the return code of a fault, never `DAT_SUCCESS`.
    fn code(fault: Fault) -> DAT_RETURN;

    /// Converts a local triplet.
    fn local_segment(triplet: &Self::LmrTriplet) -> LocalSegment;

    /// Converts a remote triplet.
    fn remote_segment(triplet: &Self::RmrTriplet) -> RemoteSegment;

    /// Returns the pointer in a software event; `None` for NULL and other events.
    fn software_event(event: InPtr<Self::Event>) -> Option<usize>;

    /// Converts a new endpoint's attributes. With an SRQ, `max_recv_dtos` is the hard high watermark, and
    /// `max_recv_iov` is ignored. Returns `None` for an invalid value.
    fn ep_attributes(attr: &Self::EpAttr, srq: bool) -> Option<EpAttributes>;

    /// Returns the mask bit of an endpoint's field.
    fn ep_field(field: Field) -> DAT_EP_PARAM_MASK;

    /// Reads the new value of `field` from the argument of dat_ep_modify. For a list, also reads the length of the list
    /// if `mask` contains the bit of this length.
    fn ep_value<F: Provider<Version = Self>>(
        ep: &Endpoint<F::Transport>,
        field: Field,
        mask: DAT_EP_PARAM_MASK,
        param: InPtr<Self::EpParam>,
    ) -> Value<F::Transport>;

    /// Returns an adapter's attributes. The address in them is valid while the adapter is open.
    fn ia_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>) -> Self::IaAttr;

    /// Returns a provider's attributes. `thread_safe` is the registered value, by which registries find an instance's
    /// entry; providers are always thread-safe.
    fn provider_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>, thread_safe: bool) -> Self::ProviderAttr;
}

/// Defines the items of [`Version`] whose text all versions share. The version's types and constants, and its modules
/// `code`, `ep` and `table`, must be in scope.
#[macro_export]
macro_rules! version {
    () => {
        type Table = DAT_PROVIDER;
        type Event = DAT_EVENT;
        type LmrTriplet = DAT_LMR_TRIPLET;
        type RmrTriplet = DAT_RMR_TRIPLET;
        type EpAttr = DAT_EP_ATTR;
        type EpParam = DAT_EP_PARAM;
        type IaAttr = DAT_IA_ATTR;
        type ProviderAttr = DAT_PROVIDER_ATTR;

        const MAJOR: u32 = DAT_VERSION_MAJOR;
        const CODE_NAMES: $crate::udat::names::CodeNames =
            $crate::udat::names::CodeNames::new(DAT_RETURN_TYPE, DAT_RETURN_SUBTYPE);

        const IA_FIELDS: DAT_IA_ATTR_MASK = DAT_IA_FIELD_ALL;
        const PROVIDER_FIELDS: DAT_PROVIDER_ATTR_MASK = DAT_PROVIDER_FIELD_ALL;
        const EP_FIELDS: DAT_EP_PARAM_MASK = DAT_EP_FIELD_ALL;
        const SRQ_OPERATIONAL: DAT_SRQ_STATE = DAT_SRQ_STATE_OPERATIONAL;

        fn table<F: $crate::Provider<Version = Self>>(device_name: *const std::ffi::c_char) -> Self::Table {
            table::table::<F>(device_name)
        }

        fn code(fault: $crate::Fault) -> DAT_RETURN {
            code::code(fault)
        }

        fn software_event(event: $crate::ptr::InPtr<DAT_EVENT>) -> Option<usize> {
            use $crate::ptr::read_field;

            let pointer = read_field!(event, event_data.software_event_data.pointer)?;
            (read_field!(event, event_number) == Some(DAT_SOFTWARE_EVENT)).then(|| pointer.expose_provenance())
        }

        $crate::ep_fields!($crate::ep_methods);
    };
}

/// `u32` or `u64` as a length.
pub trait Size {
    /// Converts `size`, limited to the maximum of the type.
    fn size(size: u64) -> Self;
}

impl Size for u64 {
    fn size(size: u64) -> u64 {
        size
    }
}

impl Size for u32 {
    fn size(size: u64) -> u32 {
        u32::try_from(size).unwrap_or(u32::MAX)
    }
}
