//! Memory that peers access, and how a process revokes the access.
//!
//! | module | contents |
//! |---|---|
//! | `pending` | waits for peers' transfers in progress |
//! | `transfers` | table of transfers in progress |
//! | `copy_target` | the target thread of peers' copies |

pub mod copy_target;
pub mod pending;
pub mod transfers;
