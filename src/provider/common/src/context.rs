//! Calls that accept a handle of any kind. They neither allocate nor panic.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::Role;
use dat_core::{Cno, Cr, Csp, Endpoint, Evd, Header, Ia, Kind, Lmr, Object, Psp, Pz, Rmr, Rsp, Srq};
use dat_udat::*;

use crate::call::fast;
use crate::handle::find;
use crate::post::word;
use crate::ptr::OutPtr;
use crate::{Answer, Fault, Provider};

#[inline]
fn with_header<F: Provider, R>(handle: DAT_HANDLE, f: impl FnOnce(&Header) -> R) -> Answer<R> {
    fn go<F: Provider, O: Object, R>(handle: DAT_HANDLE, f: impl FnOnce(&Header) -> R) -> Answer<R> {
        Ok(f(find::<F, O>(handle, Role::Any)?.header()))
    }
    match F::domain().kind(handle) {
        None | Some(Kind::Ah) => Err(Fault::Handle(Role::Any)),
        Some(Kind::Ia) => go::<F, Ia<F::Transport>, R>(handle, f),
        Some(Kind::Pz) => go::<F, Pz<F::Transport>, R>(handle, f),
        Some(Kind::Lmr) => go::<F, Lmr<F::Transport>, R>(handle, f),
        Some(Kind::Rmr) => go::<F, Rmr<F::Transport>, R>(handle, f),
        Some(Kind::Evd) => go::<F, Evd<F::Transport>, R>(handle, f),
        Some(Kind::Cno) => go::<F, Cno<F::Transport>, R>(handle, f),
        Some(Kind::Ep) => go::<F, Endpoint<F::Transport>, R>(handle, f),
        Some(Kind::Srq) => go::<F, Srq<F::Transport>, R>(handle, f),
        Some(Kind::Psp) => go::<F, Psp<F::Transport>, R>(handle, f),
        Some(Kind::Rsp) => go::<F, Rsp<F::Transport>, R>(handle, f),
        Some(Kind::Cr) => go::<F, Cr<F::Transport>, R>(handle, f),
        Some(Kind::Csp) => go::<F, Csp<F::Transport>, R>(handle, f),
    }
}

pub fn dat_set_consumer_context<F: Provider>(dat_handle: DAT_HANDLE, context: DAT_CONTEXT) -> DAT_RETURN {
    fast::<F>(|| with_header::<F, ()>(dat_handle, |header| header.set_context(word(context))))
}

pub fn dat_get_consumer_context<F: Provider>(dat_handle: DAT_HANDLE, context: OutPtr<DAT_CONTEXT>) -> DAT_RETURN {
    fast::<F>(|| {
        let word = with_header::<F, u64>(dat_handle, Header::context)?;
        context.required(2)?.write(DAT_CONTEXT { as_64: word });
        Ok(())
    })
}

pub fn dat_get_handle_type<F: Provider>(
    dat_handle: DAT_HANDLE,
    dat_handle_type: OutPtr<DAT_HANDLE_TYPE>,
) -> DAT_RETURN {
    fast::<F>(|| {
        let kind = F::domain().kind(dat_handle).ok_or(Fault::Handle(Role::Any))?;
        if kind == Kind::Ah {
            return Err(Fault::Handle(Role::Any));
        }
        // The first kind is 1; the first type is DAT_HANDLE_TYPE_CR, 0.
        dat_handle_type.required(2)?.write(kind as DAT_HANDLE_TYPE - 1);
        Ok(())
    })
}
