//! Delivery of small messages to the receives of a connection.

use dat_core::event::Status;
use dat_core::transport::{Delivery, Placement, RecvDone};
use dat_software::datagrams::Receiver;
use host::cold_path;

use super::Conn;
use crate::pending::Pending;
use crate::rx::Stop;

impl Conn {
    /// Completes the next receive, if it has one segment, with a message of `len` bytes that `place` copies.
    ///
    /// # Errors
    /// The reason why the message is not delivered. Sets `failed` to a receive that is too short or whose memory is not
    /// registered. If there is no receive, the caller must call [`QpBase::take`](dat_software::qp::QpBase::take), so
    /// that a later post resumes the connection.
    #[inline(always)]
    pub fn deliver<'s>(
        &self,
        len: u64,
        solicited: bool,
        failed: &mut Option<RecvDone>,
        place: impl Placement<'s>,
    ) -> std::result::Result<(), Stop> {
        let delivery = match &self.base.receiver {
            Receiver::Shared(_) => {
                let delivery = self.base.sink.deliver_shared(len, solicited, place);
                if delivery == Delivery::Done {
                    self.base.note_stall(false);
                }
                delivery
            }
            _ => self.base.sink.deliver(len, solicited, place),
        };
        let (id, status) = match delivery {
            Delivery::Done => return Ok(()),
            Delivery::Other => {
                // The internal endpoint of a datagram connection has no receives; messages go to the datagram endpoint.
                cold_path();
                let datagrams = self.base.receiver.datagrams();
                let stored = datagrams.is_some_and(|receiver| receiver.deliver(len, solicited, place));
                return if stored { Ok(()) } else { Err(Stop::Other) };
            }
            Delivery::TooLong(id) => (id, Status::LocalLength),
            Delivery::NoMemory(id) => (id, Status::LocalProtection),
        };
        cold_path();
        *failed = Some(RecvDone { id, status, len: 0, solicited: false });
        Err(Stop::Failed)
    }

    /// Returns the outstanding transfers of all peers to and from this process's memory; `None` if there are none.
    pub fn transfers(&self) -> Option<Pending> {
        self.attachment.get()?.link.context()?.links.transfers()
    }
}
