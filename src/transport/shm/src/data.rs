//! Connections and their data.
//!
//! | module | contents |
//! |---|---|
//! | `conn` | one end of a connection: phase, receive direction, the core's sink, transmit direction |
//! | `rx`, `tx`, `srq` | receive and transmit direction; shared receive queue |
//! | `responses`, `tx_ring` | responses to the peer; a ring from its producer's view |
//! | `copy`, `budget`, `record` | copies; their limits; contents of records |
//! | `offer` | a part of a message that both sides copy |
//! | `claim` | the side that executes a record |

pub mod budget;
pub mod claim;
pub mod conn;
pub mod copy;
pub mod offer;
pub mod record;
pub mod responses;
pub mod rx;
pub mod srq;
pub mod tx;
pub mod tx_ring;
