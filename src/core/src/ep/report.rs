//! The reports of a transport on the connection of an endpoint.

use std::hint::cold_path;

use host::lock::MutexGuard;
use host::memory::Room;

use crate::books::Completed;
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Ended, Receives};
use crate::ep::sending::TxGuard;
use crate::ep_state::{State, Trigger, next};
use crate::event::{ConnectionEvent, Status};
use crate::slab::Handle;
use crate::transport::report::{EndpointReports, LockedTx};
use crate::transport::{
    Closing, ConnectionReport, Delivery, FailedRequest, Mark, Place, RecvDone, RecvId, Segment, Special, Taken,
    Transport, Verdict,
};

impl<T: Transport> Endpoint<T> {
    /// Takes note of receives that ended before the connection was announced, or after it has ended.
    #[cold]
    fn finish_out_of_time(&self, receives: &mut Receives<T>, life: u64, done: &[RecvDone]) {
        done.iter().for_each(|done| self.keep_out_of_time(receives, life, done.into()));
    }

    /// Does what [`Endpoint::finish_out_of_time`] does, for one receive.
    pub(super) fn keep_out_of_time(&self, receives: &mut Receives<T>, life: u64, ended: Ended) {
        if receives.life != life {
            if let Some(srq) = &self.srq {
                self.flush_late(receives, srq, ended.done.id);
            }
        } else if receives.held.room(1).is_err() {
            self.finish(receives, ended);
        } else {
            // The transport is ahead of the event that announces the connection.
            receives.held.push(ended);
        }
    }

    /// Does what [`EndpointReports::recv_arrived`] does, in two steps.
    #[cold]
    fn arrived_otherwise(&self, mut receives: MutexGuard<'_, Receives<T>>, life: u64, done: RecvDone) -> Verdict {
        if receives.life != life {
            self.finish_out_of_time(&mut receives, life, &[done]);
            return Verdict::Continue;
        }
        drop(receives);
        let verdict = self.recv_taken(life, done.id);
        if verdict == Verdict::Continue {
            self.recvs_done(life, &[done]);
        }
        verdict
    }
}

impl<T: Transport> EndpointReports for Endpoint<T> {
    type Tx<'a> = TxGuard<'a, T>;

    #[inline(always)]
    fn deliver(&self, life: u64, len: u64, solicited: bool, place: impl Place) -> Delivery {
        let mut receives = self.receives.lock();
        if receives.life != life || !receives.connected {
            cold_path();
            return Delivery::Other;
        }
        receives.deliver(self.header.handle(), len, solicited, place, &self.ia.lmrs)
    }

    fn ep(&self) -> Handle {
        self.header.handle()
    }

    #[inline(always)]
    fn is_live(&self, segment: &Segment) -> bool {
        self.ia.lmrs.is_live(segment)
    }

    fn recv_take(&self, life: u64, taken: &mut Taken) -> bool {
        let mut receives = self.receives.lock();
        receives.life == life && receives.take(taken)
    }

    fn recv_taken(&self, life: u64, id: RecvId) -> Verdict {
        let Some(srq) = &self.srq else { return Verdict::Continue };
        srq.taken(id);
        let passed = {
            let mut receives = self.receives.lock();
            if receives.life != life {
                self.flush_late(&mut receives, srq, id);
                return Verdict::Continue;
            }
            if receives.taken.room(1).is_err() {
                self.flush_late(&mut receives, srq, id);
                return Verdict::Break;
            }
            receives.taken.push(id);
            receives.watermarks_passed()
        };
        self.tell_of(passed);
        if passed.hard { Verdict::Break } else { Verdict::Continue }
    }

    fn recv_arrived(&self, life: u64, done: RecvDone) -> Verdict {
        let mut receives = self.receives.lock();
        // Without a watermark to pass, nobody need see that the endpoint has the buffer for a moment.
        if let Some(srq) = &self.srq
            && receives.life == life
            && receives.connected
            && !receives.watched
        {
            if let Some(Completed { cookie, charge }) = srq.complete(done.id) {
                receives.complete(self.header.handle(), cookie, &Ended::from(&done), false, Some(charge));
            }
            return Verdict::Continue;
        }
        cold_path();
        self.arrived_otherwise(receives, life, done)
    }

    fn recvs_done(&self, life: u64, done: &[RecvDone]) {
        let mut receives = self.receives.lock();
        if receives.life == life && receives.connected {
            self.finish_recvs(&mut receives, done);
        } else {
            cold_path();
            self.finish_out_of_time(&mut receives, life, done);
        }
    }

    fn recv_special(&self, life: u64, done: RecvDone, what: Special) {
        self.special_done(life, done, what);
    }

    fn recv_announced(&self, life: u64) {
        let mut receives = self.receives.lock();
        if receives.life != life {
            return;
        }
        // Completions that wait for the connection are told later, and so is this.
        if let Some(held) = receives.held.last_mut() {
            held.done.solicited = true;
        } else if let Some(evd) = &receives.evd {
            evd.announce();
        }
    }

    fn requests_done(&self, life: u64, reached: Mark) -> bool {
        self.lock_tx_of(life).is_some_and(|mut tx| tx.request_done(reached))
    }

    #[inline(always)]
    fn lock_tx(&self, life: u64) -> Option<TxGuard<'_, T>> {
        self.lock_tx_of(life)
    }

    #[inline(always)]
    fn try_lock_tx(&self, life: u64) -> Option<TxGuard<'_, T>> {
        self.try_lock_tx_of(life)
    }

    fn drained(&self, life: u64) {
        let mut control = self.control.lock();
        if control.life != life || control.state != State::DisconnectPending {
            return;
        }
        let Some(qp) = control.qp.clone() else { return };
        if self.ia.transport.disconnect(&qp, false) == Closing::Done {
            self.end(&mut control, Some(ConnectionEvent::Disconnected), None, None);
        }
    }

    fn failed(&self, life: u64, recv: Option<RecvDone>, request: Option<(FailedRequest, Status)>) {
        let mut control = self.control.lock();
        if control.life != life || control.freed {
            return;
        }
        let event = match control.state {
            // The program has already asked for the end, and gets one event in all.
            State::DisconnectPending => ConnectionEvent::Disconnected,
            _ => ConnectionEvent::Broken,
        };
        log::debug!("endpoint {}: {event:?}", self.header.handle());
        self.end(&mut control, Some(event), recv, request);
    }

    fn connection(&self, life: u64, report: ConnectionReport) {
        let passed = {
            let mut control = self.control.lock();
            if control.life != life || control.freed {
                return;
            }
            match report {
                ConnectionReport::Established(private_data) => {
                    log::debug!("endpoint {}: {:?}", self.header.handle(), ConnectionEvent::Established);
                    self.establish(&mut control, private_data)
                }
                ended => {
                    let event = ending(control.state, &ended);
                    log::debug!("endpoint {}: {event:?}", self.header.handle());
                    if next(control.state, Trigger::Ended).is_ok() {
                        if let (ConnectionEvent::PeerRejected, ConnectionReport::PeerRejected(data)) = (event, ended) {
                            control.private_data = (!data.is_empty()).then(|| data.into());
                        }
                        self.end(&mut control, Some(event), None, None);
                    }
                    return;
                }
            }
        };
        self.act_on(passed);
    }
}

/// The event that ends an endpoint's connection or attempt, by its state.
fn ending(state: State, report: &ConnectionReport) -> ConnectionEvent {
    match (state, report) {
        (State::CompletionPending, _) => ConnectionEvent::AcceptCompletionError,
        (State::DisconnectPending, _) => ConnectionEvent::Disconnected,
        (State::ActiveConnectionPending, ConnectionReport::PeerRejected(_)) => ConnectionEvent::PeerRejected,
        (State::ActiveConnectionPending, ConnectionReport::TimedOut) => ConnectionEvent::TimedOut,
        (State::ActiveConnectionPending, ConnectionReport::Unreachable) => ConnectionEvent::Unreachable,
        (State::ActiveConnectionPending, _) => ConnectionEvent::NonPeerRejected,
        (_, ConnectionReport::Broken) => ConnectionEvent::Broken,
        _ => ConnectionEvent::Disconnected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_told_in_the_terms_of_the_state() {
        use ConnectionEvent as E;
        use ConnectionReport as R;
        let cases = [
            (State::ActiveConnectionPending, R::PeerRejected(Vec::new()), E::PeerRejected),
            (State::ActiveConnectionPending, R::NonPeerRejected, E::NonPeerRejected),
            (State::ActiveConnectionPending, R::TimedOut, E::TimedOut),
            (State::ActiveConnectionPending, R::Unreachable, E::Unreachable),
            (State::ActiveConnectionPending, R::Broken, E::NonPeerRejected),
            (State::CompletionPending, R::AcceptFailed, E::AcceptCompletionError),
            (State::CompletionPending, R::Disconnected, E::AcceptCompletionError),
            (State::Connected, R::Disconnected, E::Disconnected),
            (State::Connected, R::Broken, E::Broken),
            (State::DisconnectPending, R::Broken, E::Disconnected),
        ];
        for (state, report, event) in cases {
            assert_eq!(ending(state, &report), event, "{state:?} {report:?}");
        }
    }
}
