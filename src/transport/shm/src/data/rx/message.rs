//! Arriving messages and RDMA writes: in one record, in pieces, or as addresses in the sender's memory.

use arrayvec::ArrayVec;
use dat_core::event::Status;
use dat_core::transport::{MAX_SEGMENTS, RemoteSegment, Segment};
use dat_software::records::{Executed, Fatal, Halt, violation};

use super::{Advance, Arriving, Fetching, PAGE, SHARED_MIN, Turn, destination, is_solicited, read_target};
use crate::budget::Budget;
use crate::copy::{self, CopyError, Slice};
use crate::offer::{Answer, Part};
use crate::peer_segment::{Busy, End};
use crate::record::{self, EAGER_MAX};
use crate::ring::{Consumer, RecordView};

/// Of the next bytes of a message of `len` bytes, up to twice `slice`, offers the sender the first half, as offer
/// `number`. Returns the second half, this side's slice; `None` if there is no offer, and this side copies everything.
fn offer(end: &End, number: u64, position: u64, segments: &[Segment], slice: Slice, len: u64) -> Option<Slice> {
    if slice.len < SHARED_MIN {
        return None;
    }
    let offer = end.own_offer()?;
    let offset = slice.offset;
    let both = record::piece(len - offset, 2 * slice.len);
    let part = (both / 2).next_multiple_of(PAGE);
    let (target, zone) = copy::part_of(end.regions(), segments, offset, part)?;
    offer.make(number, &Part { position, offset, target, zone });
    Some(Slice { offset: offset + part, len: both - part, last: offset + both == len })
}

/// Decodes the sender's segments of a message or write, which start at byte `skip` of the payload. Their total length
/// must be `view.aux`.
fn read_places(ring: &Consumer, view: &RecordView, skip: usize) -> Result<ArrayVec<RemoteSegment, MAX_SEGMENTS>, Halt> {
    let payload = (view.len as usize).checked_sub(skip).ok_or_else(violation)?;
    let count = payload / record::TARGET;
    if count > MAX_SEGMENTS || payload % record::TARGET != 0 {
        return Err(violation());
    }
    let places = (0..count).map(|at| read_target(ring, view, skip + at * record::TARGET));
    let places = places.collect::<Result<ArrayVec<_, MAX_SEGMENTS>, Halt>>()?;
    let sum = places.iter().try_fold(0_u64, |sum, place| sum.checked_add(place.len));
    if sum == Some(view.aux) { Ok(places) } else { Err(violation()) }
}

impl Arriving {
    pub(super) fn message(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
        let bytes = ring.source(view);
        if bytes.len() as u64 > EAGER_MAX {
            return Err(violation());
        }
        self.incoming.begin_message(turn, view.aux, bytes.len() as u64)?;
        self.incoming.part(turn, bytes, is_solicited(view))
    }

    pub(super) fn remote_message(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> Executed {
        let places = read_places(ring, view, 0)?;
        self.incoming.begin_message(turn, view.aux, view.aux)?;
        self.begin_fetching(None, places, view.aux);
        self.fetch(turn, view, budget)
    }

    pub(super) fn remote_write(
        &mut self,
        turn: &Turn<'_>,
        ring: &Consumer,
        view: &RecordView,
        budget: &mut Budget,
    ) -> Executed {
        let places = read_places(ring, view, record::TARGET)?;
        let target = read_target(ring, view, 0)?;
        if target.len != view.aux || !self.incoming.is_idle() {
            return Err(violation());
        }
        let segment = copy::granted(turn.end, &target).ok_or(Fatal::of_peer(Status::RemoteAccess))?;
        self.begin_fetching(Some(segment), places, view.aux);
        self.fetch(turn, view, budget)
    }

    fn begin_fetching(&mut self, into: Option<Segment>, places: ArrayVec<RemoteSegment, MAX_SEGMENTS>, len: u64) {
        self.fetching = Some(Fetching { into, places, len, offset: 0, asked: false, offered: None, ahead: None });
    }

    /// Continues to fetch a message or write: in slices, with or without the sender's help, or by requesting the bytes.
    #[cold]
    pub(super) fn fetch(&mut self, turn: &Turn<'_>, view: &RecordView, budget: &mut Budget) -> Executed {
        let Some(fetching) = &mut self.fetching else { return Err(Halt::Wait) };
        let (end, into, len) = (turn.end, fetching.into, fetching.len);
        let segments = destination(&into, &self.incoming);
        while fetching.offset < len {
            if fetching.asked || turn.advance == Advance::Drain {
                return Err(Halt::Wait);
            }
            if let Some(to) = fetching.offered {
                end.offered().await_part(self.offered);
                match end.offered().resolve(self.offered) {
                    Answer::Awaited => return Err(Halt::Wait),
                    Answer::Written => fetching.offset = to,
                    Answer::Untaken => {}
                    Answer::Corrupt => return Err(violation()),
                }
                fetching.offered = None;
            }
            let offset = fetching.offset;
            let (now, outcome) = match fetching.ahead {
                Some((slice, word)) if slice.offset == offset => {
                    fetching.ahead = None;
                    (slice.len, copy::end_ahead(end, segments, slice, word))
                }
                ahead => {
                    let to = ahead.map_or(len, |(slice, _)| slice.offset);
                    let now = if end.peer_segment.reads_peer.get() {
                        budget.slice_of_message(end, to - offset)
                    } else {
                        Some(0)
                    };
                    let Some(now) = now else { return Err(Halt::Again) };
                    let slice = Slice { offset, len: now, last: offset + now == len };
                    if ahead.is_none() {
                        if let Some(slice) = offer(end, self.offered + 1, view.end(), segments, slice, len) {
                            self.offered += 1;
                            let read = copy::fetch_ahead(end, &fetching.places, segments, slice);
                            fetching.offered = Some(slice.offset);
                            match read {
                                Ok(word) => fetching.ahead = Some((slice, word)),
                                // The next iteration resolves the offer, then requests the missing bytes.
                                Err(CopyError::Refused) => {}
                                Err(error) => return Err(self.fetch_failed(error)),
                            }
                            continue;
                        }
                    }
                    (now, copy::fetch(end, &fetching.places, segments, slice))
                }
            };
            match outcome {
                Ok(()) => fetching.offset += now,
                Err(CopyError::Refused) => {
                    fetching.ahead = None;
                    // If the response ring has no room for the request, a later poll asks again ([`Busy::Asking`]).
                    let asked = turn.with_tx(|tx| {
                        let asked = tx.responses.ask_for(end, view.end(), offset);
                        end.set_busy(Busy::Asking, !asked);
                        asked
                    });
                    fetching.asked = asked.unwrap_or(false);
                    return Err(Halt::Wait);
                }
                Err(error) => return Err(self.fetch_failed(error)),
            }
        }
        if into.is_none() {
            self.incoming.end(turn, is_solicited(view))?;
        }
        self.fetching = None;
        Ok(())
    }

    #[cold]
    fn fetch_failed(&self, error: CopyError) -> Halt {
        let write = self.fetching.as_ref().is_some_and(|fetching| fetching.into.is_some());
        match error {
            // The peer has freed the memory of this message or write.
            CopyError::Failed(Status::RemoteAccess) => Fatal::of_peer(Status::LocalProtection).into(),
            CopyError::Failed(_) if write => Fatal::of_peer(Status::RemoteAccess).into(),
            CopyError::Failed(status) => self.incoming.recv_failed(status),
            _ => Halt::Ended,
        }
    }

    pub(super) fn write_piece(&mut self, turn: &Turn<'_>, ring: &Consumer, view: &RecordView) -> Executed {
        let payload = ring.source(view);
        let (target, bytes) = match self.incoming.target() {
            None => (Some(read_target(ring, view, 0)?), payload.split(record::TARGET).1),
            Some(_) => (None, payload),
        };
        self.incoming.begin_write(target, view.aux, bytes.len() as u64)?;
        self.incoming.part(turn, bytes, false)
    }
}
