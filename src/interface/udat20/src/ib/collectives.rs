//! Collective operations
//!
//! The providers of this project return DAT_NOT_IMPLEMENTED for these operations.

use core::ffi::{c_int, c_uint, c_void};

use crate::dat::DAT_HANDLE;

c_types! {
    DAT_IB_COLLECTIVE_HANDLE = DAT_HANDLE, "Group of a collective operation.";
    DAT_IB_COLLECTIVE_RANK = c_uint, "Number of a member in its group.";
    DAT_IB_COLLECTIVE_ID = c_uint, "Number of a group.";
    DAT_IB_COLLECTIVE_MEMBER = *mut c_void, "Member of a group.";
}

c_enum! {
    /// Type of the data of a reduction.
    dat_ib_collective_data_type as DAT_IB_COLLECTIVE_DATA_TYPE;
    DAT_IB_COLLECTIVE_TYPE_INT8 = 0, "The type int8.";
    DAT_IB_COLLECTIVE_TYPE_UINT8 = 1, "The type uint8.";
    DAT_IB_COLLECTIVE_TYPE_INT16 = 2, "The type int16.";
    DAT_IB_COLLECTIVE_TYPE_UINT16 = 3, "The type uint16.";
    DAT_IB_COLLECTIVE_TYPE_INT32 = 4, "The type int32.";
    DAT_IB_COLLECTIVE_TYPE_UINT32 = 5, "The type uint32.";
    DAT_IB_COLLECTIVE_TYPE_INT64 = 6, "The type int64.";
    DAT_IB_COLLECTIVE_TYPE_UINT64 = 7, "The type uint64.";
    DAT_IB_COLLECTIVE_TYPE_FLOAT = 8, "The type float.";
    DAT_IB_COLLECTIVE_TYPE_DOUBLE = 9, "The type double.";
    DAT_IB_COLLECTIVE_TYPE_LONG_DOUBLE = 10, "The type long double.";
    DAT_IB_COLLECTIVE_TYPE_SHORT_INT = 11, "The type short int.";
    DAT_IB_COLLECTIVE_TYPE_2INT = 12, "The type 2int.";
    DAT_IB_COLLECTIVE_TYPE_FLOAT_INT = 13, "The type float int.";
    DAT_IB_COLLECTIVE_TYPE_LONG_INT = 14, "The type long int.";
    DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT = 15, "The type double int.";
}

c_enum! {
    /// Operation of a reduction.
    dat_ib_collective_reduce_data_op as DAT_IB_COLLECTIVE_REDUCE_DATA_OP;
    DAT_IB_COLLECTIVE_REDUCE_OP_MAX = 0, "Greatest value.";
    DAT_IB_COLLECTIVE_REDUCE_OP_MIN = 1, "Least value.";
    DAT_IB_COLLECTIVE_REDUCE_OP_SUM = 2, "Sum.";
    DAT_IB_COLLECTIVE_REDUCE_OP_PROD = 3, "Product.";
    DAT_IB_COLLECTIVE_REDUCE_OP_LAND = 4, "Logical and.";
    DAT_IB_COLLECTIVE_REDUCE_OP_BAND = 5, "Bitwise and.";
    DAT_IB_COLLECTIVE_REDUCE_OP_LOR = 6, "Logical or.";
    DAT_IB_COLLECTIVE_REDUCE_OP_BOR = 7, "Bitwise or.";
    DAT_IB_COLLECTIVE_REDUCE_OP_LXOR = 8, "Logical exclusive or.";
    DAT_IB_COLLECTIVE_REDUCE_OP_BXOR = 9, "Bitwise exclusive or.";
    DAT_IB_COLLECTIVE_REDUCE_OP_MAXLOC = 10, "Greatest value and its place.";
    DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC = 11, "Least value and its place.";
}

c_struct! {
    /// Members of a group.
    struct dat_ib_collective_group as DAT_IB_COLLECTIVE_GROUP;
    local_size: c_int, "Members on this host.";
    local_rank: c_int, "Number of this member among the members on this host.";
    local_ranks: *mut c_int, "Numbers in the group of the members on this host.";
    external_size: c_int, "Hosts.";
    external_rank: c_int, "Number of this host.";
    external_ranks: *mut c_int, "Numbers of one member of each host.";
    intranode_table: *mut c_int, "For each member, its number on its host.";
    internode_table: *mut c_int, "For each member, the number of its host.";
    is_comm_world: c_int, "Not 0 if the group has all members of the program.";
}
