//! One end of a connection, and how its data moves.
//!
//! | module | contents |
//! |---|---|
//! | `conn` | one end of a connection: phase, what waits for a receive, the receiving direction, the core's sink and behind it the sending direction |
//! | `rx`, `tx`, `srq` | the receiving and the sending direction; the shared receive queue |
//! | `responses`, `tx_ring` | what the peer asked for; a ring as the side that fills it uses it |
//! | `copy`, `budget`, `record` | moving bytes; how many at a time; the contents of records |
//! | `offer` | a part of a message that both sides copy |
//! | `claim` | which side carries out a record that either side can |

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
