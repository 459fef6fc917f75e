//! Memory that peers copy to and from, and how a process gets it back.
//!
//! | module | contents |
//! |---|---|
//! | `pending` | waiting for transfers that peers have under way |
//! | `transfers` | the table of transfers under way |
//! | `copy_target` | the thread through which peers copy |

pub mod copy_target;
pub mod pending;
pub mod transfers;
