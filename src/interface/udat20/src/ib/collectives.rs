//! Collective operations
//!
//! The providers of this project return DAT_NOT_IMPLEMENTED for these operations.

use core::ffi::{c_int, c_uint, c_void};

use crate::dat::DAT_HANDLE;
use dat_udat::names::c_enum;

/// Group of a collective operation.
pub type DAT_IB_COLLECTIVE_HANDLE = DAT_HANDLE;
/// Number of a member in its group.
pub type DAT_IB_COLLECTIVE_RANK = c_uint;
/// Number of a group.
pub type DAT_IB_COLLECTIVE_ID = c_uint;
/// Member of a group.
pub type DAT_IB_COLLECTIVE_MEMBER = *mut c_void;

/// Type of the data of a reduction.
pub type DAT_IB_COLLECTIVE_DATA_TYPE = c_enum;
pub const DAT_IB_COLLECTIVE_TYPE_INT8: DAT_IB_COLLECTIVE_DATA_TYPE = 0;
pub const DAT_IB_COLLECTIVE_TYPE_UINT8: DAT_IB_COLLECTIVE_DATA_TYPE = 1;
pub const DAT_IB_COLLECTIVE_TYPE_INT16: DAT_IB_COLLECTIVE_DATA_TYPE = 2;
pub const DAT_IB_COLLECTIVE_TYPE_UINT16: DAT_IB_COLLECTIVE_DATA_TYPE = 3;
pub const DAT_IB_COLLECTIVE_TYPE_INT32: DAT_IB_COLLECTIVE_DATA_TYPE = 4;
pub const DAT_IB_COLLECTIVE_TYPE_UINT32: DAT_IB_COLLECTIVE_DATA_TYPE = 5;
pub const DAT_IB_COLLECTIVE_TYPE_INT64: DAT_IB_COLLECTIVE_DATA_TYPE = 6;
pub const DAT_IB_COLLECTIVE_TYPE_UINT64: DAT_IB_COLLECTIVE_DATA_TYPE = 7;
pub const DAT_IB_COLLECTIVE_TYPE_FLOAT: DAT_IB_COLLECTIVE_DATA_TYPE = 8;
pub const DAT_IB_COLLECTIVE_TYPE_DOUBLE: DAT_IB_COLLECTIVE_DATA_TYPE = 9;
pub const DAT_IB_COLLECTIVE_TYPE_LONG_DOUBLE: DAT_IB_COLLECTIVE_DATA_TYPE = 10;
pub const DAT_IB_COLLECTIVE_TYPE_SHORT_INT: DAT_IB_COLLECTIVE_DATA_TYPE = 11;
pub const DAT_IB_COLLECTIVE_TYPE_2INT: DAT_IB_COLLECTIVE_DATA_TYPE = 12;
pub const DAT_IB_COLLECTIVE_TYPE_FLOAT_INT: DAT_IB_COLLECTIVE_DATA_TYPE = 13;
pub const DAT_IB_COLLECTIVE_TYPE_LONG_INT: DAT_IB_COLLECTIVE_DATA_TYPE = 14;
pub const DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT: DAT_IB_COLLECTIVE_DATA_TYPE = 15;

/// Operation of a reduction.
pub type DAT_IB_COLLECTIVE_REDUCE_DATA_OP = c_enum;
/// Greatest value.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_MAX: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 0;
/// Least value.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_MIN: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 1;
pub const DAT_IB_COLLECTIVE_REDUCE_OP_SUM: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 2;
pub const DAT_IB_COLLECTIVE_REDUCE_OP_PROD: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 3;
/// Logical and.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_LAND: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 4;
/// Bitwise and.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_BAND: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 5;
/// Logical or.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_LOR: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 6;
/// Bitwise or.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_BOR: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 7;
/// Logical exclusive or.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_LXOR: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 8;
/// Bitwise exclusive or.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_BXOR: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 9;
/// Greatest value and its location.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_MAXLOC: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 10;
/// Least value and its location.
pub const DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC: DAT_IB_COLLECTIVE_REDUCE_DATA_OP = 11;

/// Members of a group.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_IB_COLLECTIVE_GROUP {
    /// Number of members on this host.
    pub local_size: c_int,
    /// Number of this member among the members on this host.
    pub local_rank: c_int,
    /// Numbers in the group of the members on this host.
    pub local_ranks: *mut c_int,
    /// Number of hosts.
    pub external_size: c_int,
    /// Number of this host.
    pub external_rank: c_int,
    /// Numbers of one member of each host.
    pub external_ranks: *mut c_int,
    /// For each member, its number on its host.
    pub intranode_table: *mut c_int,
    /// For each member, the number of its host.
    pub internode_table: *mut c_int,
    /// Not 0 if the group has all members of the program.
    pub is_comm_world: c_int,
}
