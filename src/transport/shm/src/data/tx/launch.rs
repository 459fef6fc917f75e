//! The start of requests: through the ring, or by copies from and to the peer's memory.

use arrayvec::ArrayVec;
use dat_core::transport::{MAX_SEGMENTS, Operation, RemoteSegment, Request, Segment};
use dat_software::user::Source;

use super::{Done, Reading, StartOutcome, Tx, WaitReason};
use crate::budget::Budget;
use crate::copy::{self, Copied, CopyError, Slice};
use crate::peer_segment::End;
use crate::record::{self, Acknowledge, EAGER_MAX, Header, TARGET, kind};
use crate::route::{Peer, Route, Transfer, route};
use crate::sleep::Notice;
use crate::tx_ring::Put;

impl Tx {
    /// Puts a datagram into the ring. Returns `false` if a request waits or there is no room. A datagram has no mark,
    /// as it needs no completion.
    pub fn try_send(&mut self, end: &End, datagram: &Request<'_>) -> bool {
        let sent = self.is_free(false) && self.put_message(end, datagram.is_solicited(), datagram).is_some();
        if sent {
            end.notify_peer(Notice::Record);
        }
        sent
    }

    /// Executes a request as far as possible now. If the request must wait, ensures a poll that resumes it.
    #[inline]
    pub(super) fn launch(&mut self, end: &End, request: &Request<'_>, budget: &mut Budget) -> StartOutcome {
        loop {
            match self.attempt(end, request, budget) {
                // The peer has consumed all records since the attempt, so no notification follows: attempts again.
                StartOutcome::Waits(WaitReason::Peer) if !self.ask(end, Acknowledge::Needed) => {}
                launch => return launch,
            }
        }
    }

    #[inline]
    pub(super) fn attempt(&mut self, end: &End, request: &Request<'_>, budget: &mut Budget) -> StartOutcome {
        if self.failed {
            return StartOutcome::Waits(WaitReason::End);
        }
        let len = request.len;
        match request.operation {
            Operation::Send { solicited } => {
                let acknowledge = self.acknowledge(request.signalled);
                let kind = if len <= EAGER_MAX { kind::MESSAGE } else { kind::MESSAGE_PIECE };
                self.message(end, Header { kind, solicited, acknowledge, aux: len }, request, budget)
            }
            Operation::Write(_) | Operation::Read(_) if len == 0 => StartOutcome::Started(Done::Now),
            Operation::Write(remote) => self.write(end, &RemoteSegment { len, ..remote }, request, budget),
            Operation::Read(remote) => self.read(end, &remote, request, budget),
            Operation::SendInvalidate { solicited, key, .. } => {
                self.send_invalidate(end, solicited, key, request, budget)
            }
            Operation::WriteImmediate { to, value, solicited, .. } => {
                self.write_immediate(end, &RemoteSegment { len, ..to }, (value, solicited), request, budget)
            }
            Operation::Atomic { addr, key, change, .. } => self.atomic(end, addr, key, change, request),
        }
    }

    /// Returns the path of the request that is being started, which its first attempt chooses.
    fn route(&mut self, end: &End, transfer: Transfer, len: u64) -> Route {
        if let Some(route) = self.part.route {
            return route;
        }
        let segment = &end.peer_segment;
        let (is_local, is_readable) = (segment.is_local(), segment.reads_peer.get());
        let is_remote = transfer != Transfer::Message && !is_local && is_readable;
        let peer = Peer {
            is_local,
            is_readable,
            reads: segment.peer_reads.get(),
            polls: is_remote && self.is_left_to_peer(end),
            is_behind: is_remote && self.is_behind_write(),
        };
        let route = route(transfer, len, &peer);
        // If the record is needed only to follow an earlier write, a later attempt chooses the path again.
        if route != Route::Record || peer.polls {
            self.part.route = Some(route);
        }
        route
    }

    /// Sends a message through the ring, or announces a long one, which the peer reads from this process's memory.
    #[inline]
    pub(super) fn message(
        &mut self,
        end: &End,
        header: Header,
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        if self.route(end, Transfer::Message, request.len) != Route::Announced {
            return self.pieces(end, header, &[], request, budget);
        }
        let places = places_of(request.segments);
        let launch = self.put_bytes(end, Header { kind: kind::REMOTE_MESSAGE, ..header }, places.as_flattened());
        let StartOutcome::Started(Done::At(position)) = launch else { return launch };
        end.notify_peer(Notice::Record);
        StartOutcome::Started(Done::Announced(position))
    }

    /// Copies a request up to byte `to` in slices; if `last`, the transfer ends there. Returns `None` if the kernel
    /// refuses.
    #[inline]
    pub(super) fn slices(
        &mut self,
        end: &End,
        to: u64,
        last: bool,
        budget: &mut Budget,
        copy: impl Fn(Slice) -> Copied,
    ) -> Option<StartOutcome> {
        let mut done = self.part.done;
        let stopped = loop {
            if done == to {
                break Some(StartOutcome::Started(Done::Now));
            }
            let Some(len) = budget.slice(end, to - done) else { break Some(StartOutcome::Waits(WaitReason::Turn)) };
            match copy(Slice { offset: done, len, last: last && done + len == to }) {
                Ok(()) => done += len,
                Err(CopyError::Refused) => break None,
                Err(CopyError::Failed(status)) => break Some(StartOutcome::Started(Done::Failed(status))),
                Err(CopyError::PeerGone) => break Some(StartOutcome::Started(Done::Never)),
            }
        };
        self.part.done = done;
        stopped
    }

    /// Returns whether the peer must still consume a record that changes its memory: copies wait, so that later posts
    /// do not become visible earlier.
    #[inline]
    pub(super) fn is_behind_write(&mut self) -> bool {
        self.written > 0 && self.is_not_consumed()
    }

    #[cold]
    pub(super) fn is_not_consumed(&mut self) -> bool {
        let consumed = self.revocable.done >= self.written || self.tx_ring.has_consumed(self.written);
        if consumed {
            self.written = 0;
        }
        !consumed
    }

    pub(super) fn write(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        let len = remote.len;
        let tail = if end.peer_segment.is_local() { 0 } else { copy::tail_of_write(end, remote) };
        loop {
            let next = match self.route(end, Transfer::Write { splits: tail > 0 }, len) {
                Route::Record => {
                    let launch = match self.has_room_for_revocable(end) {
                        true => self.short_write(end, remote, request),
                        false => StartOutcome::Waits(WaitReason::Peer),
                    };
                    match launch {
                        StartOutcome::Waits(_) if !self.is_behind_write() => Route::Direct,
                        launch => return launch,
                    }
                }
                Route::Shared => match self.remote_write(end, remote, request) {
                    Some(launch) => return launch,
                    None => Route::Direct,
                },
                Route::Local | Route::Direct if self.is_behind_write() => return StartOutcome::Waits(WaitReason::Peer),
                Route::Local => {
                    let copy = |slice| copy::to_self(end, remote, request.segments, slice);
                    return self.slices(end, len, true, budget, copy).unwrap_or(StartOutcome::Waits(WaitReason::Turn));
                }
                Route::Direct => {
                    let copy = |slice| copy::to_peer(end, remote, request.segments, slice);
                    match self.slices(end, len - tail, tail == 0, budget, copy) {
                        Some(StartOutcome::Started(Done::Now)) if tail > 0 => {}
                        Some(launch) => return launch,
                        None => {}
                    }
                    self.part.start = self.part.done;
                    Route::Pieces
                }
                Route::Pieces | Route::Announced => return self.write_pieces(end, remote, request, budget),
            };
            self.part.route = Some(next);
        }
    }

    /// Puts the remaining bytes of a write into the ring. The peer stores them.
    fn write_pieces(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        let len = remote.len;
        let start = self.part.start;
        let target =
            record::target(&RemoteSegment { addr: remote.addr.wrapping_add(start), len: len - start, ..*remote });
        let acknowledge = Acknowledge::of(request.signalled);
        let header = Header { kind: kind::WRITE_PIECE, solicited: false, acknowledge, aux: len - start };
        let launch = self.pieces(end, header, &target, request, budget);
        if let StartOutcome::Started(Done::At(position)) = launch {
            (self.written, self.revocable.behind) = (position, position);
            end.watch_peer(position);
        }
        launch
    }

    pub(super) fn read(
        &mut self,
        end: &End,
        remote: &RemoteSegment,
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        let (id, len) = (request.id, request.len);
        loop {
            let next = match self.route(end, Transfer::Read, len) {
                Route::Record => {
                    let has_room = self.reading.len() < self.reads_out && self.has_room_for_revocable(end);
                    let remote = RemoteSegment { len, ..*remote };
                    match has_room.then(|| self.short_read(end, &remote, request)).flatten() {
                        Some(launch) => return launch,
                        None => Route::Direct,
                    }
                }
                Route::Local | Route::Direct if self.is_behind_write() => return StartOutcome::Waits(WaitReason::Peer),
                Route::Local => {
                    let copy = |slice| copy::from_self(end, remote, request.segments, slice);
                    return self.slices(end, len, true, budget, copy).unwrap_or(StartOutcome::Waits(WaitReason::Turn));
                }
                Route::Direct => {
                    let copy = |slice| copy::from_peer(end, remote, request.segments, slice);
                    match self.slices(end, len, true, budget, copy) {
                        Some(launch) => return launch,
                        None => Route::Pieces,
                    }
                }
                Route::Pieces | Route::Announced | Route::Shared => break,
            };
            self.part.route = Some(next);
        }
        // By [`Route::Pieces`]: the peer sends the remaining bytes.
        if self.reading.len() >= self.reads_out {
            return StartOutcome::Waits(WaitReason::Answer);
        }
        let offset = self.part.done;
        let target =
            record::target(&RemoteSegment { addr: remote.addr.wrapping_add(offset), len: len - offset, ..*remote });
        let header =
            Header { kind: kind::READ, solicited: false, acknowledge: Acknowledge::Completion, aux: len - offset };
        let launch = self.put_bytes(end, header, &target);
        let StartOutcome::Started(Done::At(position)) = launch else { return launch };
        end.notify_peer(Notice::Record);
        self.expect_answer(end, Reading { id, len, offset, end: position });
        StartOutcome::Started(Done::Reading)
    }

    /// Puts `head` and `take` bytes of a request from `offset` into the ring as one record.
    #[inline(always)]
    pub(super) fn put_part(
        &mut self,
        end: &End,
        header: Header,
        head: &[u8],
        request: &Request<'_>,
        [offset, take]: [u64; 2],
    ) -> Put {
        self.put(end, header, head.len() + take as usize, |room| {
            room.write(Source::of(head));
            let mut wrote = 0;
            let there = copy::gather(end.regions(), request.segments, offset, take, |bytes| wrote += room.write(bytes));
            there && wrote as u64 == take
        })
    }

    /// Puts `head` and the request's remaining bytes into the ring, as several records if necessary. If the ring has no
    /// room, the next call continues.
    #[inline]
    pub(super) fn pieces(
        &mut self,
        end: &End,
        header: Header,
        head: &[u8],
        request: &Request<'_>,
        budget: &mut Budget,
    ) -> StartOutcome {
        let start = self.part.start;
        let mut went = false;
        let launch = loop {
            let offset = self.part.done;
            let head = if offset == start { head } else { &[] };
            let take = record::piece(request.len - offset, EAGER_MAX);
            if !budget.record(end, request.len, take) {
                break StartOutcome::Waits(WaitReason::Turn);
            }
            let put = self.put_part(end, header, head, request, [offset, take]);
            if let Put::At(_) = put {
                went = true;
                if offset + take < request.len {
                    self.part.done = offset + take;
                    continue;
                }
            }
            break put.into();
        };
        if went {
            end.notify_peer(Notice::Record);
        }
        launch
    }
}

impl From<Put> for StartOutcome {
    fn from(put: Put) -> Self {
        match put {
            Put::At(position) => StartOutcome::Started(Done::At(position)),
            Put::NoRoom => StartOutcome::Waits(WaitReason::Peer),
            Put::Failed(status) => StartOutcome::Started(Done::Failed(status)),
        }
    }
}

/// Encodes the addresses of the segments for the peer.
pub(super) fn places_of(segments: &[Segment]) -> ArrayVec<[u8; TARGET], MAX_SEGMENTS> {
    let place = |&Segment { addr, len, key, .. }: &Segment| RemoteSegment { addr, len, key: key as u32 };
    segments.iter().filter(|segment| segment.len > 0).map(|segment| record::target(&place(segment))).collect()
}
