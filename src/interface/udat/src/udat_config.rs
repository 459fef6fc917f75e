//! Configuration of the program at compile time

use crate::dat::{DAT_BOOLEAN, DAT_FALSE};

/// Thread safety that dat_ia_open requires. To require DAT_TRUE, define it before the include.
pub const DAT_THREADSAFE: DAT_BOOLEAN = DAT_FALSE;
