//! The early end of an exchange with the peer.

use std::fmt;
use std::time::Duration;

/// The reason why an exchange with the peer failed.
#[derive(Debug)]
pub enum Stop {
    /// A signal or a timer requested the end of the tool.
    Interrupted,
    /// The connection has ended, or cannot be established.
    Gone(String),
    /// The response did not arrive in time.
    Late(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Interrupted => "interrupted",
            Stop::Gone(reason) | Stop::Late(reason) => reason,
        })
    }
}

impl std::error::Error for Stop {}

/// Converts the error of a call, which mostly fails because the connection has just ended.
impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::Gone(error.to_string())
    }
}

impl From<dat::Error> for Stop {
    fn from(error: dat::Error) -> Self {
        Stop::Gone(error.to_string())
    }
}

/// Returns the reason of [`Stop::Late`].
pub fn late(timeout: Duration) -> String {
    format!("no reply within {timeout:?}")
}
