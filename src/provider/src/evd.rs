//! Event dispatchers. [`crate::wait`] waits for events, and [`crate::post`] dequeues them.

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::{Arg, Role};
use dat_core::{Cno, Evd, Ia};
use dat_udat::*;

use crate::attr::{c_feed, streams};
use crate::call::{making, slow};
use crate::handle::{find, find_in_or_null, give, handle_or_null};
use crate::ia::ia_handle;
use crate::ptr::{InPtr, OutPtr};
use crate::{At, Fault, Provider, Version, count};

pub(crate) type Event<F> = <<F as Provider>::Version as Version>::Event;

pub fn dat_evd_create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    evd_min_qlen: DAT_COUNT,
    cno_handle: DAT_CNO_HANDLE,
    evd_flags: DAT_EVD_FLAGS,
    evd_handle: OutPtr<DAT_EVD_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let cno = find_in_or_null::<F, _>(&ia, cno_handle, Role::Cno, Cno::ia)?;
        let qlen = usize::try_from(evd_min_qlen).map_err(|_| Fault::Argument(2))?;
        let streams = streams::<F::Version>(evd_flags).ok_or(Fault::Argument(4))?;
        let out = evd_handle.required(5)?;
        give(out, &Evd::create(&ia, qlen, cno.as_ref(), streams).at(&[(Arg::QueueLength, 2)])?)
    })
}

crate::query_slot!(dat_evd_query: Evd as Evd, DAT_EVD_PARAM_MASK, DAT_EVD_FIELD_ALL, DAT_EVD_PARAM, |evd| {
    let status = evd.status();
    let notification = if status.enabled { DAT_EVD_STATE_ENABLED } else { DAT_EVD_STATE_DISABLED };
    let waiting = if status.waitable { DAT_EVD_STATE_WAITABLE } else { DAT_EVD_STATE_UNWAITABLE };
    DAT_EVD_PARAM {
        ia_handle: ia_handle::<F>(evd.ia()),
        evd_qlen: count(status.qlen),
        evd_state: notification | waiting | c_feed(status.feed),
        cno_handle: handle_or_null(evd.cno().as_ref()),
        evd_flags: evd.streams.bits(),
    }
});

pub fn dat_evd_modify_cno<F: Provider>(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN {
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let cno = find_in_or_null::<F, _>(evd.ia(), cno_handle, Role::Cno, Cno::ia)?;
        evd.modify_cno(cno.as_ref()).at(&[])
    })
}

crate::simple_slot!(dat_evd_enable: Evd as Evd, enable);
crate::simple_slot!(dat_evd_disable: Evd as Evd, disable);
crate::simple_slot!(dat_evd_set_unwaitable: Evd as Evd, set_unwaitable);
crate::simple_slot!(dat_evd_clear_unwaitable: Evd as Evd, clear_unwaitable);

pub fn dat_evd_resize<F: Provider>(evd_handle: DAT_EVD_HANDLE, evd_min_qlen: DAT_COUNT) -> DAT_RETURN {
    making::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let qlen = usize::try_from(evd_min_qlen).map_err(|_| Fault::Argument(2))?;
        evd.resize(qlen).at(&[(Arg::QueueLength, 2)])
    })
}

pub fn dat_evd_post_se<F: Provider>(evd_handle: DAT_EVD_HANDLE, event: InPtr<Event<F>>) -> DAT_RETURN {
    slow::<F>(|| {
        let evd = find::<F, Evd<F::Transport>>(evd_handle, Role::Evd)?;
        let pointer = F::Version::software_event(event).ok_or(Fault::Argument(2))?;
        evd.post_software(pointer).at(&[(Arg::Evd, 1)])
    })
}

crate::simple_slot!(dat_evd_free: Evd as Evd, free);
