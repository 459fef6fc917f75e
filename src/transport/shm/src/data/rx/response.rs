//! Records of the response ring.

use dat_core::event::Status;

use super::{Arriving, Fatal, RecordOutcome, Turn, destination, fail, read_place};
use crate::budget::Budget;
use crate::copy;
use crate::record::{self, kind};
use crate::ring::{Consumer, RecordView};

impl Arriving {
    pub(super) fn answer(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> RecordOutcome {
        if view.kind != kind::FETCH && !budget.record(turn.end, view.aux, view.len.into()) {
            return RecordOutcome::Again;
        }
        match view.kind {
            kind::READ_DATA => read_data(turn, ring, view),
            kind::MESSAGE_DATA => self.message_data(turn, ring, view),
            kind::FETCH => fetch(turn, ring, view),
            _ => fail(None, None),
        }
    }

    fn message_data(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
        let bytes = ring.source(view, 0, view.len as usize);
        let Some(fetching) = self.fetching.as_mut().filter(|fetching| fetching.asked) else {
            return fail(None, None);
        };
        let offset = fetching.offset;
        let len = bytes.len() as u64;
        if len == 0 || len > fetching.len - offset || view.aux != fetching.len {
            return fail(None, None);
        }
        fetching.offset += len;
        let last = fetching.offset == fetching.len;
        let into = fetching.into;
        if !copy::scatter(turn.end.regions(), destination(&into, &self.taken), offset, bytes, last) {
            if into.is_some() {
                return fail(None, Some(Status::RemoteAccess));
            }
            let recv = self.done(Status::LocalProtection, 0, false);
            return fail(Some(recv), Some(Status::RemoteResponder));
        }
        RecordOutcome::Consumed
    }
}

fn read_data(turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
    let bytes = ring.source(view, 0, view.len as usize);
    match turn.conn.with_tx(|tx| tx.on_read_data(turn.end, bytes)) {
        None => RecordOutcome::Stop,
        Some(Ok(())) => RecordOutcome::Consumed,
        Some(Err(failed)) => RecordOutcome::Fail(Fatal { request: failed, ..Fatal::default() }),
    }
}

fn fetch(turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> RecordOutcome {
    if view.len as usize != record::PLACE {
        return fail(None, None);
    }
    let (position, offset) = read_place(ring, view, 0);
    match turn.conn.with_tx(|tx| tx.on_fetch(position, offset)) {
        None => return RecordOutcome::Stop,
        Some(true) => {}
        Some(false) => return fail(None, None),
    }
    turn.end.repoll();
    RecordOutcome::Consumed
}
