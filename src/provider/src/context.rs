//! Calls that accept a handle of any kind. They neither allocate nor panic.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use std::sync::atomic::{AtomicU64, Ordering};

use dat_core::Kind;
use dat_core::error::Role;
use dat_udat::*;

use crate::call::fast;
use crate::post::word;
use crate::ptr::OutPtr;
use crate::{Answer, Fault, Provider};

fn with_context<F: Provider, R>(handle: DAT_HANDLE, f: impl FnOnce(&AtomicU64) -> R) -> Answer<R> {
    F::domain().cell(handle).and_then(|cell| cell.with_context(f)).ok_or(Fault::Handle(Role::Any))
}

pub fn dat_set_consumer_context<F: Provider>(dat_handle: DAT_HANDLE, context: DAT_CONTEXT) -> DAT_RETURN {
    fast::<F>(|| with_context::<F, _>(dat_handle, |place| place.store(word(context), Ordering::Release)))
}

pub fn dat_get_consumer_context<F: Provider>(dat_handle: DAT_HANDLE, context: OutPtr<DAT_CONTEXT>) -> DAT_RETURN {
    fast::<F>(|| {
        let word = with_context::<F, _>(dat_handle, |place| place.load(Ordering::Acquire))?;
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
