//! uDAPL over the core: all that the versions of the interface share.
//!
//! A *face* is the side of the core that a C program sees. It is made of a [`Version`] of the interface, which knows C
//! structures and return codes, and a transport; a provider library ties them together by implementing [`Provider`] for a
//! type of its own.
//!
//! A program's call comes through the provider table into a *slot*: the function with the name of the call, in the file
//! of the object that the call is about. Between them is a function that [`function!`] makes from the list of calls: it has
//! the C types of the arguments, and the slot has pointers that are safe to use. The list of calls, `for_each_call!` of the crate with the types of a version,
//! says what each call does and which codes it returns. A slot turns handles, pointers and flags into the terms of the
//! core, calls it, and turns the result back.
//!
//! A slot that has the same parameters in every version stands here, once, for any [`Provider`]: the trait [`Version`] has the
//! structures, masks and lists of flags in which the versions differ. Where these differ in the type
//! of a field or in a number alone, a macro has the text of both, whose names take the meaning that they have where the
//! macro is used. The crate of a version has the table, the slots with parameters of its own, and its side of the trait.
//!
//! | module | contents |
//! |---|---|
//! | [`slots`] | the slots of all objects |
//! | [`post`] | the fast slots: posting and dequeuing |
//! | [`wait`] | the slots that block, which a cancelled thread can leave |
//! | [`entry`] | `dat_provider_init` and `dat_provider_fini` |
//! | [`event`], [`attr`] | events and attributes in the form of the C structures |
//! | [`call`] | the frame around each call: panics, cancellation, faults |
//! | [`code`] | the return code of every fault |
//! | [`handle`] | handles as a program holds them, and the objects behind them |
//! | [`ptr`] | the program's pointers for input and output |
//! | [`table`](mod@table) | the provider table and its functions |
//! | [`registration`] | the adapters that the library was initialised for |
//! | [`fork`] | the state after a fork |
//!
//! # Panics and cancellation
//! A slow call runs in [`call::slow`], where a panic becomes a return code. A fast call runs in [`call::fast`] and
//! contains nothing that panics. The thread cannot be cancelled in either of them, but it can while it sleeps in
//! [`wait`].

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
pub mod wait;

use std::ffi::{CStr, c_char};

use dat_core::ep::Value;
use dat_core::ep::table::Field;
use dat_core::event::Completion;
use dat_core::transport::{RemoteSegment, Transport};
use dat_core::{ApiCaps, Cno, Endpoint, EpAttributes, Event, Handle, Ia, Lmr, LocalSegment, Rights, Rmr, Streams};
use dat_udat::*;

use crate::ptr::{InPtr, Out};

pub use call::{Answer, At, Fault, Positions};
pub use handle::{Adapter, Domain};

#[doc(hidden)]
pub use dat_core as core;
#[doc(hidden)]
pub use dat_udat as udat;
#[doc(hidden)]
pub use host::memory;

/// All slots that the versions share.
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

/// A count in the form of the interface. A number that does not fit becomes the largest count.
pub fn count(count: usize) -> DAT_COUNT {
    DAT_COUNT::try_from(count).unwrap_or(DAT_COUNT::MAX)
}

/// A version over a transport, with the place where one provider library keeps its handles. Each library implements it
/// once, for a type without values.
pub trait Provider: Sized + 'static {
    /// The transport, which moves the bytes.
    type Transport: Transport;

    /// The version, which the program sees.
    type Version: Version;

    /// All handles of the provider library.
    fn domain() -> &'static Domain<Self>;
}

/// A version of uDAPL: its table of functions, its events and codes, and what a slot has to know of the structures, masks
/// and flags in which the versions differ.
pub trait Version: Sized + 'static {
    /// The table through which programs and registries call a provider. The first word behind every handle is the
    /// address of one.
    type Table: 'static;
    /// An event in the form that the program gets, `DAT_EVENT`.
    type Event: Copy;
    /// A segment of registered memory, `DAT_LMR_TRIPLET`.
    type LmrTriplet: Copy;
    /// A segment of a peer's memory, `DAT_RMR_TRIPLET`.
    type RmrTriplet: Copy;
    /// The attributes of an endpoint, `DAT_EP_ATTR`.
    type EpAttr: Copy;
    /// What dat_ep_query tells and dat_ep_modify takes, `DAT_EP_PARAM`.
    type EpParam: Copy;
    /// The attributes of an adapter, `DAT_IA_ATTR`.
    type IaAttr;
    /// The attributes of a provider, `DAT_PROVIDER_ATTR`.
    type ProviderAttr;
    /// What dat_lmr_query tells, `DAT_LMR_PARAM`.
    type LmrParam;
    /// What dat_rmr_query tells, `DAT_RMR_PARAM`.
    type RmrParam;
    /// What dat_cno_query tells, `DAT_CNO_PARAM`.
    type CnoParam;

    /// The return code of a call that finds a queue empty: of [`dat_core::Error::QueueEmpty`].
    const QUEUE_EMPTY: DAT_RETURN;

    /// The major number of the version, with which its providers are registered.
    const MAJOR: u32;
    /// The version node under which a registry of this version exports its functions.
    const NODE: &'static CStr;
    /// The function of a registry that tells which handle the program has for an adapter; `None` if that is the handle
    /// of the provider in every registry of this version.
    const IA_HANDLES: Option<&'static CStr>;

    /// The fewest events for which the asynchronous dispatcher that dat_ia_open makes has room.
    const MIN_ASYNC_QLEN: usize;
    /// What the core does for programs of this version alone.
    const HABITS: ApiCaps;

    /// The bits that a mask of dat_ia_query may have for the adapter.
    const IA_FIELDS: DAT_IA_ATTR_MASK;
    /// The bits that a mask of dat_ia_query may have for the provider.
    const PROVIDER_FIELDS: DAT_PROVIDER_ATTR_MASK;
    /// The bits that a mask of dat_ep_query or dat_ep_modify may have.
    const EP_FIELDS: DAT_EP_PARAM_MASK;
    /// The bits that a mask of dat_lmr_query may have.
    const LMR_FIELDS: DAT_LMR_PARAM_MASK;
    /// The bits that a mask of dat_rmr_query may have.
    const RMR_FIELDS: DAT_RMR_PARAM_MASK;
    /// The bits that a mask of dat_cno_query may have.
    const CNO_FIELDS: DAT_CNO_PARAM_MASK;

    /// Rights and their bits in the interface.
    const RIGHTS: &'static [(Rights, DAT_MEM_PRIV_FLAGS)];
    /// Bits among those of rights that are accepted and mean nothing here.
    const OTHER_RIGHTS: DAT_MEM_PRIV_FLAGS;
    /// Event streams and their bits in the interface.
    const STREAMS: &'static [(Streams, DAT_EVD_FLAGS)];
    /// Flags of dat_ep_connect that ask for more than one path, which no adapter has.
    const MULTIPATH: &'static [DAT_CONNECT_FLAGS];
    /// Whether an endpoint on a shared receive queue can be made without attributes, and then gets the defaults.
    const SRQ_DEFAULTS: bool;
    /// The state of a shared receive queue that works.
    const SRQ_OPERATIONAL: DAT_SRQ_STATE;

    /// The table of the adapter called `device_name`, over the face `F`. The name stays in place while the table is
    /// used.
    fn table<F: Provider<Version = Self>>(device_name: *const c_char) -> Self::Table;

    /// Writes the C form of the end of a transfer that was taken from the dispatcher `evd`.
    fn completion(out: Out<Self::Event>, evd: Handle, completion: &Completion);

    /// Writes the C form of an event that was taken from the dispatcher `evd`.
    fn event<F: Provider<Version = Self>>(out: Out<Self::Event>, evd: Handle, event: Event);

    /// The return code of a fault, which is never `DAT_SUCCESS`.
    fn code(fault: Fault) -> DAT_RETURN;

    /// A triplet in the terms of the core.
    fn local_segment(triplet: &Self::LmrTriplet) -> LocalSegment;

    /// A triplet of a peer's memory in the terms of the core.
    fn remote_segment(triplet: &Self::RmrTriplet) -> RemoteSegment;

    /// The pointer in a software event, as a number; `None` for NULL and for any other event.
    fn software_event(event: InPtr<Self::Event>) -> Option<usize>;

    /// The attributes of a new endpoint as the program gives them in the argument at `position`. With a shared receive
    /// queue (`srq`) `max_recv_dtos` is the hard high watermark, and `max_recv_iov` is ignored.
    ///
    /// # Errors
    /// The argument is invalid if one of them is no valid value; [`dat_core::Error::ModelNotSupported`] for a type of
    /// service that other providers have.
    fn ep_attributes(attr: &Self::EpAttr, srq: bool, position: u32) -> Answer<EpAttributes>;

    /// The answer to dat_ep_query.
    fn ep_param<F: Provider<Version = Self>>(ep: &Endpoint<F::Transport>) -> Self::EpParam;

    /// The bit of a field in the mask of dat_ep_modify.
    fn ep_field(field: Field) -> DAT_EP_PARAM_MASK;

    /// The new value of a field of `ep` in the argument of dat_ep_modify. Nothing else of the structure is read, except
    /// the number of elements of a list if the mask names that too.
    fn ep_value<F: Provider<Version = Self>>(
        ep: &Endpoint<F::Transport>,
        field: Field,
        mask: DAT_EP_PARAM_MASK,
        param: InPtr<Self::EpParam>,
    ) -> Value<F::Transport>;

    /// The attributes of an adapter. The address stays in place while the adapter is open.
    fn ia_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>) -> Self::IaAttr;

    /// The attributes of the provider of an adapter. `thread_safe` is the value it was registered with: the provider is
    /// always thread-safe, but registries find the entry of an instance by this attribute.
    fn provider_attr<F: Provider<Version = Self>>(ia: &Ia<F::Transport>, thread_safe: bool) -> Self::ProviderAttr;

    /// The answer to dat_lmr_query.
    fn lmr_param<F: Provider<Version = Self>>(lmr: &Lmr<F::Transport>) -> Self::LmrParam;

    /// The answer to dat_rmr_query.
    fn rmr_param<F: Provider<Version = Self>>(rmr: &Rmr<F::Transport>) -> Self::RmrParam;

    /// The answer to dat_cno_query.
    fn cno_param<F: Provider<Version = Self>>(cno: &Cno<F::Transport>) -> Self::CnoParam;
}

/// What the implementations of [`Version`] have in common: the names of types and constants mean those of the version that
/// is in scope, and the modules `code`, `ep` and `table` those of its crate.
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
        type LmrParam = DAT_LMR_PARAM;
        type RmrParam = DAT_RMR_PARAM;
        type CnoParam = DAT_CNO_PARAM;

        const QUEUE_EMPTY: DAT_RETURN = DAT_QUEUE_EMPTY;
        const MAJOR: u32 = DAT_VERSION_MAJOR;

        const IA_FIELDS: DAT_IA_ATTR_MASK = DAT_IA_FIELD_ALL;
        const PROVIDER_FIELDS: DAT_PROVIDER_ATTR_MASK = DAT_PROVIDER_FIELD_ALL;
        const EP_FIELDS: DAT_EP_PARAM_MASK = DAT_EP_FIELD_ALL;
        const LMR_FIELDS: DAT_LMR_PARAM_MASK = DAT_LMR_FIELD_ALL;
        const RMR_FIELDS: DAT_RMR_PARAM_MASK = DAT_RMR_FIELD_ALL;
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

        $crate::ep_fields!(methods);
    };
}

/// A length in the form of an interface: of 64 bits, or of 32, where the largest number stands for all that are larger.
pub trait Size {
    /// The number of this type that stands for `size`.
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
