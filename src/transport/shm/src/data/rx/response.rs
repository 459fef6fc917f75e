//! Arrived records of the response ring: responses to this side's reads and atomic operations, requested bytes of
//! messages and writes, and the peer's requests for such bytes.

use dat_core::event::Status;
use dat_software::records::{Executed, Fatal, Halt, violation};
use dat_software::user::Source;
use dat_software::wire::word;

use super::{Arriving, Turn, destination, read};
use crate::budget::Budget;
use crate::copy;
use crate::record::kind;
use crate::ring::{Consumer, RecordView};

impl Arriving {
    pub(super) fn answer(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> Executed {
        if view.kind != kind::FETCH && !budget.record(turn.end, view.aux, view.len.into()) {
            return Err(Halt::Again);
        }
        let bytes = ring.source(view);
        match view.kind {
            kind::READ_DATA => Ok(turn.with_tx(|tx| tx.on_read_data(turn.end, bytes))??),
            kind::MESSAGE_DATA => self.message_data(turn, view.aux, bytes),
            kind::FETCH => fetch(turn, ring, view),
            _ => Err(violation()),
        }
    }

    fn message_data(&mut self, turn: &Turn<'_>, all: u64, bytes: Source<'_>) -> Executed {
        let fetching = self.fetching.as_mut().filter(|fetching| fetching.asked).ok_or_else(violation)?;
        let offset = fetching.offset;
        let len = bytes.len() as u64;
        if len == 0 || len > fetching.len - offset || all != fetching.len {
            return Err(violation());
        }
        fetching.offset += len;
        let last = fetching.offset == fetching.len;
        let into = fetching.into;
        if copy::scatter(turn.end.regions(), destination(&into, &self.incoming), offset, bytes, last) {
            Ok(())
        } else if into.is_some() {
            Err(Fatal::of_peer(Status::RemoteAccess).into())
        } else {
            Err(self.incoming.recv_failed(Status::LocalProtection))
        }
    }
}

fn fetch(turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
    let bytes = read::<16>(ring, view, 0)?;
    let [position, offset] = [0, 8].map(|at| word(&bytes, at));
    if view.len as usize != bytes.len() || !turn.with_tx(|tx| tx.on_fetch(position, offset))? {
        return Err(violation());
    }
    turn.end.repoll();
    Ok(())
}
