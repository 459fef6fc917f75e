//! Which thread watches for data, which connections it polls, and which thread a peer wakes.

pub mod alarm;
pub mod control_region;
pub mod guard;
pub mod hot;
pub mod ready;
pub mod sleep;
pub mod watch;
