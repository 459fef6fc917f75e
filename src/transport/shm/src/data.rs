//! The data path of a connection: queue pair, both directions, records and copies.

pub mod budget;
pub mod claim;
pub mod conn;
pub mod copy;
pub mod offer;
pub mod record;
pub mod responses;
pub mod route;
pub mod rx;
pub mod tx;
pub mod tx_ring;
