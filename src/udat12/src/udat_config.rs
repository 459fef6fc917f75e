//! Configuration that a program is compiled with

use crate::dat::{DAT_BOOLEAN, DAT_FALSE};
use crate::dat_platform_specific::DAT_UINT32;

/// Major version of the interface that a program is compiled for.
pub const DAT_VERSION_MAJOR: DAT_UINT32 = 1;

/// Minor version of the interface that a program is compiled for.
pub const DAT_VERSION_MINOR: DAT_UINT32 = 2;

/// Thread safety that dat_ia_open asks for; define it before including to ask for DAT_TRUE.
pub const DAT_THREADSAFE: DAT_BOOLEAN = DAT_FALSE;
