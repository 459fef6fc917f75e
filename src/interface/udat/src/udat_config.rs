//! Configuration that a program is compiled with

use crate::dat::{DAT_BOOLEAN, DAT_FALSE};

place!(version);

/// Thread safety that dat_ia_open asks for; define it before including to ask for DAT_TRUE.
pub const DAT_THREADSAFE: DAT_BOOLEAN = DAT_FALSE;
