//! Which thread watches for data, which connections it polls, and which thread a peer wakes.
//!
//! | module | contents |
//! |---|---|
//! | `watch` | the progress thread's watch for data |
//! | `hot` | the few connections that polls check directly |
//! | `guard` | wakes a peer whose program makes no call |
//! | `control_region`, `alarm` | the published word and table of regions; the word on which a leader sleeps |
//! | `sleep`, `ready` | protocol of these words; ready bits |

pub mod alarm;
pub mod control_region;
pub mod guard;
pub mod hot;
pub mod ready;
pub mod sleep;
pub mod watch;
