//! Counters of adapters, endpoints and EVDs, with the C library's numbers. docs/compat.md lists the counters that are
//! always 0.
//!
//! A reset stores the current values as a baseline ([`CounterBaseline`]), which queries subtract.

use std::ffi::{CStr, CString, c_int};
use std::fmt::Write;
use std::process;

use dat_core::counters::{ConnStat, Tally};
use dat_core::error::Role;
use dat_core::event::{AsyncReason, ConnectionEvent, Transfer};
use dat_core::transport::Transport;
use dat_core::{AttachedData, Endpoint, Evd, Ia, Kind};
use dat_udat20::*;
use host::va_list::VaList;

use crate::call::{OUT_OF_MEMORY, operation};
use crate::handle::find;
use crate::ptr::{OutPtr, Parameter};
use crate::v20::Udat20;
use crate::{Answer, Fault, Provider};

const OF_ADAPTER: usize = DCNT_IA_ALL_COUNTERS as usize;
const OF_ENDPOINT: usize = DCNT_EP_ALL_COUNTERS as usize;
const OF_EVD: usize = DCNT_EVD_ALL_COUNTERS as usize;

/// Counters of the device: number, group, and name in sysfs.
const SAMPLED: [(DAT_IA_COUNTERS, DAT_IA_COUNTER_TYPE, &str); 18] = [
    (DCNT_IA_LNK_ERR_RCV, DCNT_IA_LNK, "port_rcv_errors"),
    (DCNT_IA_LNK_ERR_RCV_REM_PHYS, DCNT_IA_LNK, "port_rcv_remote_physical_errors"),
    (DCNT_IA_LNK_ERR_RCV_CONSTRAINT, DCNT_IA_LNK, "port_rcv_constraint_errors"),
    (DCNT_IA_LNK_ERR_XMT_DISCARDS, DCNT_IA_LNK, "port_xmit_discards"),
    (DCNT_IA_LNK_ERR_XMT_CONTRAINT, DCNT_IA_LNK, "port_xmit_constraint_errors"),
    (DCNT_IA_LNK_ERR_INTEGRITY, DCNT_IA_LNK, "local_link_integrity_errors"),
    (DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN, DCNT_IA_LNK, "excessive_buffer_overrun_errors"),
    (DCNT_IA_LNK_WARN_RCV_SW_RELAY, DCNT_IA_LNK, "port_rcv_switch_relay_errors"),
    (DCNT_IA_LNK_WARN_XMT_WAIT, DCNT_IA_LNK, "port_xmit_wait"),
    (DCNT_IA_DIAG_ERR_RQ_RAE, DCNT_IA_DIAG, "rq_num_rae"),
    (DCNT_IA_DIAG_ERR_RQ_OOS, DCNT_IA_DIAG, "rq_num_oos"),
    (DCNT_IA_DIAG_ERR_RQ_RIRE, DCNT_IA_DIAG, "rq_num_rire"),
    (DCNT_IA_DIAG_ERR_RQ_UDSDPRD, DCNT_IA_DIAG, "rq_num_udsdprd"),
    (DCNT_IA_DIAG_ERR_SQ_RAE, DCNT_IA_DIAG, "sq_num_rae"),
    (DCNT_IA_DIAG_ERR_SQ_OOS, DCNT_IA_DIAG, "sq_num_oos"),
    (DCNT_IA_DIAG_ERR_SQ_RIRE, DCNT_IA_DIAG, "sq_num_rire"),
    (DCNT_IA_DIAG_ERR_SQ_RREE, DCNT_IA_DIAG, "sq_num_rree"),
    (DCNT_IA_DIAG_ERR_SQ_TREE, DCNT_IA_DIAG, "sq_num_tree"),
];

struct CounterBaseline<const N: usize> {
    /// Values of the counters at the last reset, which queries subtract; 0 before the first reset.
    zeros: [u64; N],
    /// Sampled device counters: the values at the start of sampling, or the differences after its stop.
    sampled: [u64; N],
}

impl<const N: usize> CounterBaseline<N> {
    fn with<R>(kept: &AttachedData, f: impl FnOnce(&mut Self) -> R) -> Answer<R> {
        kept.with(|| Ok(CounterBaseline { zeros: [0; N], sampled: [0; N] }), f).ok_or(OUT_OF_MEMORY)
    }

    /// Reports counter `counter`, or all if `counter` is `N`, and then resets the reported counters if `reset` is set.
    /// `values` are the object's counters without resets. Fails without a reset if `tell` fails.
    fn tell(
        &mut self,
        names: &'static [(u32, &'static CStr)],
        values: [u64; N],
        Choice { counter, reset }: Choice,
        tell: &mut Tell<'_>,
    ) -> Answer<()> {
        let counter = usize::try_from(counter).ok().filter(|&counter| counter <= N).ok_or(Fault::Argument(3))?;
        let is_chosen = |at: usize| counter == N || counter == at;
        for (at, (value, zero)) in values.iter().zip(&self.zeros).enumerate().filter(|(at, _)| is_chosen(*at)) {
            let name = names.get(at).map_or(c"", |(_, name)| name);
            tell(at, name, value.saturating_sub(*zero))?;
        }
        if reset {
            let zeros = self.zeros.iter_mut().zip(values).enumerate().filter(|(at, _)| is_chosen(*at));
            zeros.for_each(|(_, (zero, value))| *zero = value);
        }
        Ok(())
    }
}

impl CounterBaseline<OF_ADAPTER> {
    /// Stores the device's values of a group when sampling starts, and their differences when it stops.
    fn sample(&mut self, group: DAT_IA_COUNTER_TYPE, start: bool, value: impl Fn(&str) -> u64) {
        for (counter, _, name) in SAMPLED.iter().filter(|(_, of, _)| *of == group) {
            let at = *counter as usize;
            let sampled = &mut self.sampled[at];
            *sampled = if start { value(name) } else { value(name).saturating_sub(*sampled) };
            self.zeros[at] = 0;
        }
    }
}

#[derive(Clone, Copy)]
struct Choice {
    counter: c_int,
    reset: bool,
}

/// A function that receives number, name and value of a counter.
type Tell<'a> = dyn FnMut(usize, &CStr, u64) -> Answer<()> + 'a;

fn counters_of<F: Provider<Version = Udat20>>(handle: DAT_HANDLE, choice: Choice, tell: &mut Tell<'_>) -> Answer<()> {
    let role = Role::Any;
    match F::domain().kind(handle) {
        Some(Kind::Ia) => {
            let ia = find::<F, Ia<F::Transport>>(handle, role)?;
            CounterBaseline::with(&ia.counter_baseline, |counter_baseline| {
                let values = of_adapter(&ia, counter_baseline.sampled);
                counter_baseline.tell(DAT_IA_COUNTERS, values, choice, tell)
            })?
        }
        Some(Kind::Ep) => {
            let ep = find::<F, Endpoint<F::Transport>>(handle, role)?;
            CounterBaseline::with(&ep.counter_baseline, |counter_baseline| {
                counter_baseline.tell(DAT_EP_COUNTERS, of_endpoint(&ep), choice, tell)
            })?
        }
        Some(Kind::Evd) => {
            let evd = find::<F, Evd<F::Transport>>(handle, role)?;
            CounterBaseline::with(&evd.counter_baseline, |counter_baseline| {
                counter_baseline.tell(DAT_EVD_COUNTERS, of_evd(&evd), choice, tell)
            })?
        }
        _ => Err(Fault::Handle(role)),
    }
}

/// Stores counters in an array (dat_ib_query_counters). As in the C library, the index is always the counter's number.
///
/// # Safety
/// The arguments are `int`, `DAT_UINT64 *` with room up to the last requested counter, and `int`.
pub(crate) unsafe fn query<F: Provider<Version = Udat20>>(handle: DAT_HANDLE, arguments: &mut VaList) -> DAT_RETURN {
    // SAFETY: the caller passes these arguments.
    let [counter, out, reset] = unsafe { arguments.next_words() };
    // The upper half of an `int` is undefined.
    let choice = Choice { counter: counter as c_int, reset: reset as u32 != 0 };
    operation::<F>("dat_ib_query_counters", handle, || {
        counters_of::<F>(handle, choice, &mut |at: usize, _: &CStr, value| {
            // SAFETY: the caller passes NULL or a writable array.
            let first = unsafe { OutPtr::<DAT_UINT64>::of(VaList::pointer(out)) }.required(4)?;
            // SAFETY: the caller's array has room for this counter.
            unsafe { OutPtr::of(first.as_ptr().wrapping_add(at)) }.offer(value);
            Ok(())
        })
    })
}

/// Prints counters (dat_ib_print_counters).
///
/// # Safety
/// The arguments are `int` and `int`.
pub(crate) unsafe fn print<F: Provider<Version = Udat20>>(handle: DAT_HANDLE, arguments: &mut VaList) -> DAT_RETURN {
    // SAFETY: the caller passes two `int`.
    let [counter, reset] = unsafe { arguments.next_words() };
    let choice = Choice { counter: counter as c_int, reset: reset as u32 != 0 };
    operation::<F>("dat_ib_print_counters", handle, || {
        let (host, process) = (host::print::host_name(), process::id());
        let mut text = String::new();
        counters_of::<F>(handle, choice, &mut |_, name: &CStr, value| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, " {host}:{process:#x}: {} = {value} ", name.to_string_lossy());
            Ok(())
        })?;
        host::print::print(&CString::new(text).unwrap_or_default());
        Ok(())
    })
}

/// Starts or stops the sampling of a group (dat_ib_start_counter, dat_ib_stop_counter).
///
/// # Safety
/// The argument is `DAT_IA_COUNTER_TYPE`.
pub(crate) unsafe fn sample<F: Provider<Version = Udat20>>(
    handle: DAT_HANDLE,
    arguments: &mut VaList,
    start: bool,
) -> DAT_RETURN {
    // SAFETY: the caller passes a `DAT_IA_COUNTER_TYPE`.
    let group = unsafe { arguments.next_word() } as DAT_IA_COUNTER_TYPE;
    let name = if start { "dat_ib_start_counter" } else { "dat_ib_stop_counter" };
    operation::<F>(name, handle, || {
        let ia = find::<F, Ia<F::Transport>>(handle, Role::Ia)?;
        if !matches!(group, DCNT_IA_CM | DCNT_IA_LNK | DCNT_IA_DIAG) {
            return Err(Fault::Argument(3));
        }
        CounterBaseline::<OF_ADAPTER>::with(&ia.counter_baseline, |counter_baseline| {
            counter_baseline.sample(group, start, |name| ia.attributes().fabric.counter(name));
        })
    })
}

/// Adds the adapter's counters to `values`, the sampled device counters.
fn of_adapter<T: Transport>(ia: &Ia<T>, mut values: [u64; OF_ADAPTER]) -> [u64; OF_ADAPTER] {
    use ConnStat::{Accept, Connect, Disconnect, PassiveUp, PeerDisconnect, Reject, Request};
    let mut add = |counter: DAT_IA_COUNTERS, value: u64| values[counter as usize] += value;
    // Read before the number of all PSPs, so `any` never exceeds that number.
    let any = ia.happened(ConnStat::AnyQualifier);
    for (kind, made, freed) in [
        (Kind::Pz, DCNT_IA_PZ_CREATE, DCNT_IA_PZ_FREE),
        (Kind::Lmr, DCNT_IA_LMR_CREATE, DCNT_IA_LMR_FREE),
        (Kind::Rmr, DCNT_IA_RMR_CREATE, DCNT_IA_RMR_FREE),
        (Kind::Rsp, DCNT_IA_RSP_CREATE, DCNT_IA_RSP_FREE),
        (Kind::Evd, DCNT_IA_EVD_CREATE, DCNT_IA_EVD_FREE),
        (Kind::Ep, DCNT_IA_EP_CREATE, DCNT_IA_EP_FREE),
        (Kind::Srq, DCNT_IA_SRQ_CREATE, DCNT_IA_SRQ_FREE),
    ] {
        let (all, gone) = ia.made(kind);
        add(made, all);
        add(freed, gone);
    }
    let (points, gone) = ia.made(Kind::Psp);
    [points, ia.made(Kind::Rsp).0, ia.made(Kind::Csp).0].into_iter().for_each(|made| add(DCNT_IA_CM_LISTEN, made));
    add(DCNT_IA_PSP_CREATE, points.saturating_sub(any));
    add(DCNT_IA_PSP_CREATE_ANY, any);
    add(DCNT_IA_PSP_FREE, gone);
    add(DCNT_IA_DIAG_ERR_RQ_UDSDPRD, ia.counters().lost);
    let ended = ConnStat::Ended;
    let raised = ConnStat::Async;
    for (what, counters) in [
        (Request, &[DCNT_IA_SP_CR, DCNT_IA_CM_REQ_RX][..]),
        (Accept, &[DCNT_IA_SP_CR_ACCEPTED, DCNT_IA_CM_REP_TX]),
        (Reject, &[DCNT_IA_SP_CR_REJECTED, DCNT_IA_CM_USER_REJ_TX]),
        (Connect, &[DCNT_IA_CM_REQ_TX]),
        (ConnStat::ActiveUp, &[DCNT_IA_CM_REP_RX, DCNT_IA_CM_RTU_TX, DCNT_IA_CM_ACTIVE_EST]),
        (PassiveUp, &[DCNT_IA_CM_RTU_RX, DCNT_IA_CM_PASSIVE_EST]),
        (Disconnect, &[DCNT_IA_CM_DREQ_TX]),
        (PeerDisconnect, &[DCNT_IA_CM_DREQ_RX, DCNT_IA_CM_DREP_TX]),
        (ended(ConnectionEvent::PeerRejected), &[DCNT_IA_CM_USER_REJ_RX]),
        (ended(ConnectionEvent::NonPeerRejected), &[DCNT_IA_CM_ERR_REFUSED]),
        (ended(ConnectionEvent::TimedOut), &[DCNT_IA_CM_ERR_TIMEOUT]),
        (ended(ConnectionEvent::Broken), &[DCNT_IA_CM_ERR_RESET]),
        (ended(ConnectionEvent::Unreachable), &[DCNT_IA_CM_ERR]),
        (ended(ConnectionEvent::AcceptCompletionError), &[DCNT_IA_CM_ERR]),
        (raised(AsyncReason::IaCatastrophic), &[DCNT_IA_ASYNC_ERROR]),
        (raised(AsyncReason::SrqLowWatermark), &[DCNT_IA_ASYNC_ERROR]),
        (raised(AsyncReason::EpSoftHighWatermark), &[DCNT_IA_ASYNC_QP_ERROR]),
        (raised(AsyncReason::EndpointLeftShared), &[DCNT_IA_ASYNC_QP_ERROR]),
        (raised(AsyncReason::EvdOverflow), &[DCNT_IA_ASYNC_CQ_ERROR]),
    ] {
        counters.iter().for_each(|counter| add(*counter, ia.happened(what)));
    }
    values
}

fn of_endpoint<T: Transport>(ep: &Endpoint<T>) -> [u64; OF_ENDPOINT] {
    let tallies = ep.counters().tallies;
    let (connects, disconnects, receives) = ep.asked();
    let invalidated = tallies.of(Transfer::RecvInvalidated);
    let Tally { operations, bytes } = tallies.of(Transfer::Recv);
    let received = Tally {
        operations: operations.wrapping_add(invalidated.operations),
        bytes: bytes.wrapping_add(invalidated.bytes),
    };
    let mut values = [0; OF_ENDPOINT];
    for (Tally { operations, bytes }, counter) in [
        (tallies.of(Transfer::Send), DCNT_EP_POST_SEND),
        (tallies.of(Transfer::SendDatagram), DCNT_EP_POST_SEND_UD),
        (tallies.of(Transfer::Write), DCNT_EP_POST_WRITE),
        (tallies.of(Transfer::WriteImmediate), DCNT_EP_POST_WRITE_IMM),
        (tallies.of(Transfer::Read), DCNT_EP_POST_READ),
        (received, DCNT_EP_RECV),
        (tallies.of(Transfer::RecvDatagram), DCNT_EP_RECV_UD),
        (tallies.of(Transfer::RecvImmediate), DCNT_EP_RECV_RDMA_IMM),
    ] {
        // The byte counter follows the counter of operations.
        values.iter_mut().skip(counter as usize).zip([operations, bytes]).for_each(|(place, value)| *place = value);
    }
    values[DCNT_EP_CONNECT as usize] = connects;
    values[DCNT_EP_DISCONNECT as usize] = disconnects;
    values[DCNT_EP_POST_RECV as usize] = receives;
    values[DCNT_EP_POST_CMP_SWAP as usize] = tallies.of(Transfer::CompareSwap).operations;
    values[DCNT_EP_POST_FETCH_ADD as usize] = tallies.of(Transfer::FetchAdd).operations;
    values
}

fn of_evd<T: Transport>(evd: &Evd<T>) -> [u64; OF_EVD] {
    let counts = evd.counts();
    let mut values = [0; OF_EVD];
    values[DCNT_EVD_WAIT as usize] = counts.waits;
    values[DCNT_EVD_WAIT_BLOCKED as usize] = counts.slept;
    values[DCNT_EVD_DEQUEUE_FOUND as usize] = counts.dequeued;
    values[DCNT_EVD_CONN_CALLBACK as usize] = counts.connection_events;
    values
}

#[cfg(test)]
mod tests;
