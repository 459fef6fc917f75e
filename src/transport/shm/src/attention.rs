//! Who looks at what: which thread watches for news, which connections it polls, and whom a peer wakes.
//!
//! | module | contents |
//! |---|---|
//! | `watch` | looking after data that nobody fetches |
//! | `hot` | the few connections that a polling thread looks at itself |
//! | `guard` | waking a peer whose program makes no call |
//! | `control_region`, `alarm` | what a process publishes: the word that says which thread to wake, the table of regions; the word on which a wait sleeps that sleeps alone |
//! | `sleep`, `ready` | what these words say, and whom they wake; the ready bits |

pub mod alarm;
pub mod control_region;
pub mod guard;
pub mod hot;
pub mod ready;
pub mod sleep;
pub mod watch;
