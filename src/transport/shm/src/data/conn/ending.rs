use std::sync::Arc;

use dat_core::event::Status;
use dat_core::transport::{ConnectionReport, FailedRequest, RecvDone};

use super::Conn;
use crate::pending::Pending;
use crate::wire::CloseReason;

/// The report to the endpoint at the end of its connection.
pub enum Report {
    /// A receive, a request or the connection has failed.
    Failed(Option<RecvDone>, Option<(FailedRequest, Status)>),
    /// The connection or the attempt has ended.
    Ended(ConnectionReport),
}

/// The end of a connection with transfers of the peer in progress. It is reported when these can no longer touch the
/// program's memory.
pub struct Ending {
    pub(super) conn: Arc<Conn>,
    pub(super) pending: Pending,
    pub(super) reason: CloseReason,
    pub(super) report: Report,
}

impl Ending {
    /// Returns the peer's transfers.
    pub fn pending(&mut self) -> &mut Pending {
        &mut self.pending
    }

    /// Reports the end. Called without locks after the transfers have ended.
    pub fn tell(self) {
        self.conn.tell(self.reason, self.report);
    }
}
