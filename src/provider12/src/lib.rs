//! uDAPL 1.2 over the core: its codes, attributes, events and slots.
//!
//! A program's call comes through the provider table ([`table`]) into a *slot*: the function with the name of the call,
//! in the file of the object that the call is about. The list of calls, [`dat_udat12::for_each_call`], says what each
//! call does and which codes it returns. A slot turns handles, pointers and flags into the terms of the core, calls it,
//! and turns the result back. Code that is the same for all versions of the interface is in [`dat_face`]; code for
//! uDAPL 1.2 is here:
//!
//! | module | contents |
//! |---|---|
//! | [`code`] | the return code of every fault |
//! | `event`, `attr` | events and attributes in the form of the C structures |
//! | [`post`] | the fast slots: posting and dequeuing |
//! | [`wait`] | the slots that block |
//! | [`provider`] | `dat_provider_init` and `dat_provider_fini` |
//!
//! A transport becomes a provider library by [`export_provider!`].

mod attr;
pub mod cno;
pub mod code;
pub mod context;
pub mod cr;
pub mod ep;
pub mod evd;
mod event;
pub mod ia;
pub mod lmr;
pub mod post;
pub mod provider;
pub mod psp;
pub mod pz;
pub mod rmr;
pub mod rsp;
pub mod srq;
pub mod table;
pub mod wait;

#[cfg(test)]
mod tests;

use std::ffi::c_char;

use dat_core::event::Completion;
use dat_core::{Event, Handle};
use dat_face::handle::raw;
use dat_face::ptr::Out;
use dat_face::{Face, Fault, Version};
use dat_udat12::{DAT_EVENT, DAT_PROVIDER, DAT_RETURN};

#[doc(hidden)]
pub use dat_face as face;
#[doc(hidden)]
pub use dat_udat12 as udat12;
#[doc(hidden)]
pub use host::memory;

/// uDAPL 1.2 as a version of the interface.
pub enum Udat12 {}

/// A provider table.
#[repr(transparent)]
pub struct Table(DAT_PROVIDER);

// SAFETY: the pointers in a table point to functions and to a name that stays in place, and nothing in it changes.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// The table in the form that programs and registries use.
    pub fn as_ptr(&self) -> *const DAT_PROVIDER {
        &self.0
    }
}

impl Version for Udat12 {
    type Table = Table;
    type Event = DAT_EVENT;

    fn table<F: Face<Version = Self>>(device_name: *const c_char) -> Table {
        Table(table::table::<F>(device_name))
    }

    #[inline]
    fn completion(out: Out<DAT_EVENT>, evd: Handle, completion: &Completion) {
        event::write_completion(out, raw(evd), completion);
    }

    fn event<F: Face<Version = Self>>(out: Out<DAT_EVENT>, evd: Handle, event: Event) {
        event::write_event::<F>(out, raw(evd), event);
    }

    const QUEUE_EMPTY: DAT_RETURN = code::QUEUE_EMPTY;

    fn code(fault: Fault) -> DAT_RETURN {
        code::code(fault)
    }
}
