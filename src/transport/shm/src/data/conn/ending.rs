//! The end of a connection, as it is reported to the endpoint and to the peer.

use std::sync::Arc;

use dat_core::event::Status;
use dat_core::transport::{ConnectionReport, FailedRequest, RecvDone};

use super::Conn;
use crate::pending::Pending;
use crate::wire::CloseReason;

/// The report to the endpoint when its connection is over.
pub enum Report {
    /// A receive or a request has failed, or the connection as such.
    Failed(Option<RecvDone>, Option<(FailedRequest, Status)>),
    /// The connection, or the attempt at one, has ended.
    Ended(ConnectionReport),
}

/// The end of a connection while transfers of the peer are still under way. It is reported to the endpoint and to the peer
/// once they can no longer touch the program's memory.
pub struct Ending {
    pub(super) conn: Arc<Conn>,
    pub(super) pending: Pending,
    pub(super) reason: CloseReason,
    pub(super) report: Report,
}

impl Ending {
    /// The transfers of the peer.
    pub fn pending(&mut self) -> &mut Pending {
        &mut self.pending
    }

    /// Reports the end. Called when the transfers are over, without a lock.
    pub fn tell(self) {
        self.conn.tell(self.reason, self.report);
    }
}
