use std::sync::Arc;

use dat_core::event::Status;
use dat_core::transport::{ConnectionReport, FailedRequest, RecvDone};

use super::Conn;
use crate::pending::Pending;
use crate::wire::CloseReason;

pub enum Report {
    Failed(Option<RecvDone>, Option<(FailedRequest, Status)>),
    Ended(ConnectionReport),
}

/// The end of a connection, reported once the peer's transfers have ended.
pub struct Ending {
    pub(super) conn: Arc<Conn>,
    pub(super) pending: Pending,
    pub(super) reason: CloseReason,
    pub(super) report: Report,
}

impl Ending {
    pub fn pending(&mut self) -> &mut Pending {
        &mut self.pending
    }

    /// Reports the end. Called without locks after the transfers have ended.
    pub fn tell(self) {
        self.conn.tell(self.reason, self.report);
    }
}
