//! The binary interface of libfabric, as far as it is used: structures of the symbol version `FABRIC_1.3`, which every
//! libfabric since 1.9 has. What is never called is a bare pointer.

#![allow(missing_docs)] // the names are those of libfabric's headers, whose manual pages explain them

use std::ffi::{c_char, c_int, c_void};

pub const FI_MSG: u64 = 1 << 1;
pub const FI_RECV: u64 = 1 << 10;
pub const FI_TRANSMIT: u64 = 1 << 11;
pub const FI_COMPLETION: u64 = 1 << 24;
pub const FI_SELECTIVE_COMPLETION: u64 = 1 << 59;

pub const FI_SOCKADDR_IN: u32 = 2;
pub const FI_SOCKADDR_IN6: u32 = 3;
pub const FI_MR_VIRT_ADDR: c_int = 1 << 4;
pub const FI_PROGRESS_MANUAL: c_int = 2;
pub const FI_THREAD_SAFE: c_int = 1;
pub const FI_EP_MSG: c_int = 1;
pub const FI_GETWAIT: c_int = 5;
pub const FI_ENABLE: c_int = 6;
pub const FI_WAIT_NONE: c_int = 0;
pub const FI_WAIT_FD: c_int = 3;
pub const FI_CQ_FORMAT_MSG: c_int = 2;
pub const FI_CONNREQ: u32 = 1;
pub const FI_CONNECTED: u32 = 2;
pub const FI_SHUTDOWN: u32 = 3;
/// An error is to be read from a queue.
pub const FI_EAVAIL: c_int = 259;

/// The version of the interface that is asked for.
pub const VERSION: u32 = 1 << 16 | 14;

type Unused = *const c_void;

#[repr(C)]
pub struct Fid {
    pub fclass: usize,
    pub context: *mut c_void,
    pub ops: *const FiOps,
}

#[repr(C)]
pub struct FiOps {
    pub size: usize,
    pub close: unsafe extern "C" fn(*mut Fid) -> c_int,
    pub bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    pub control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
    pub ops_open: Unused,
}

#[repr(C)]
pub struct TxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub inject_size: usize,
    pub size: usize,
    pub iov_limit: usize,
    pub rma_iov_limit: usize,
    pub tclass: u32,
}

#[repr(C)]
pub struct EpAttr {
    pub kind: c_int,
    pub protocol: u32,
    pub protocol_version: u32,
    pub max_msg_size: usize,
    pub msg_prefix_size: usize,
    // More follows, which only libfabric reads.
}

#[repr(C)]
pub struct DomainAttr {
    pub domain: *mut c_void,
    pub name: *mut c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_mgmt: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
    // More follows, which only libfabric reads.
}

#[repr(C)]
pub struct FabricAttr {
    pub fabric: *mut c_void,
    pub name: *mut c_char,
    pub prov_name: *mut c_char,
    pub prov_version: u32,
    pub api_version: u32,
}

#[repr(C)]
pub struct FiInfo {
    pub next: *mut FiInfo,
    pub caps: u64,
    pub mode: u64,
    pub addr_format: u32,
    pub src_addrlen: usize,
    pub dest_addrlen: usize,
    pub src_addr: *mut c_void,
    pub dest_addr: *mut c_void,
    pub handle: *mut Fid,
    pub tx_attr: *mut TxAttr,
    pub rx_attr: *mut c_void,
    pub ep_attr: *mut EpAttr,
    pub domain_attr: *mut DomainAttr,
    pub fabric_attr: *mut FabricAttr,
    pub nic: *mut c_void,
}

#[repr(C)]
pub struct FidFabric {
    pub fid: Fid,
    pub ops: *const FiOpsFabric,
    pub api_version: u32,
}

#[repr(C)]
pub struct FiOpsFabric {
    pub size: usize,
    pub domain: unsafe extern "C" fn(*mut FidFabric, *mut FiInfo, *mut *mut FidDomain, *mut c_void) -> c_int,
    pub passive_ep: unsafe extern "C" fn(*mut FidFabric, *mut FiInfo, *mut *mut FidPep, *mut c_void) -> c_int,
    pub eq_open: unsafe extern "C" fn(*mut FidFabric, *mut EqAttr, *mut *mut FidEq, *mut c_void) -> c_int,
    pub wait_open: Unused,
    pub trywait: unsafe extern "C" fn(*mut FidFabric, *mut *mut Fid, c_int) -> c_int,
}

#[repr(C)]
pub struct FidDomain {
    pub fid: Fid,
    pub ops: *const FiOpsDomain,
    pub mr: Unused,
}

#[repr(C)]
pub struct FiOpsDomain {
    pub size: usize,
    pub av_open: Unused,
    pub cq_open: unsafe extern "C" fn(*mut FidDomain, *mut CqAttr, *mut *mut FidCq, *mut c_void) -> c_int,
    pub endpoint: unsafe extern "C" fn(*mut FidDomain, *mut FiInfo, *mut *mut FidEp, *mut c_void) -> c_int,
}

#[repr(C)]
pub struct FidEp {
    pub fid: Fid,
    pub ops: Unused,
    pub cm: *const FiOpsCm,
    pub msg: *const FiOpsMsg,
    pub rma: Unused,
    pub tagged: Unused,
    pub atomic: Unused,
    pub collective: Unused,
}

#[repr(C)]
pub struct FidPep {
    pub fid: Fid,
    pub ops: Unused,
    pub cm: *const FiOpsCm,
}

#[repr(C)]
pub struct FiOpsCm {
    pub size: usize,
    pub setname: Unused,
    pub getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
    pub getpeer: unsafe extern "C" fn(*mut FidEp, *mut c_void, *mut usize) -> c_int,
    pub connect: unsafe extern "C" fn(*mut FidEp, *const c_void, *const c_void, usize) -> c_int,
    pub listen: unsafe extern "C" fn(*mut FidPep) -> c_int,
    pub accept: unsafe extern "C" fn(*mut FidEp, *const c_void, usize) -> c_int,
    pub reject: unsafe extern "C" fn(*mut FidPep, *mut Fid, *const c_void, usize) -> c_int,
    pub shutdown: unsafe extern "C" fn(*mut FidEp, u64) -> c_int,
    pub join: Unused,
}

#[repr(C)]
pub struct FiMsg {
    pub msg_iov: *const libc::iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub context: *mut c_void,
    pub data: u64,
}

#[repr(C)]
pub struct FiOpsMsg {
    pub size: usize,
    pub recv: unsafe extern "C" fn(*mut FidEp, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize,
    pub recvv: Unused,
    pub recvmsg: unsafe extern "C" fn(*mut FidEp, *const FiMsg, u64) -> isize,
    pub send: Unused,
    pub sendv: Unused,
    pub sendmsg: unsafe extern "C" fn(*mut FidEp, *const FiMsg, u64) -> isize,
    pub inject: unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64) -> isize,
}

#[repr(C)]
pub struct EqAttr {
    pub size: usize,
    pub flags: u64,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_set: *mut c_void,
}

#[repr(C)]
pub struct EqErrEntry {
    pub fid: *mut Fid,
    pub context: *mut c_void,
    pub data: u64,
    pub err: c_int,
    pub prov_errno: c_int,
    pub err_data: *mut c_void,
    pub err_data_size: usize,
}

/// An entry on a connection, with room for the bytes that came with it.
#[repr(C)]
pub struct EqCmEntry {
    pub fid: *mut Fid,
    pub info: *mut FiInfo,
    pub data: [u8; CM_DATA],
}

/// The most bytes that come with an event: twice as many as the provider tcp sends.
pub const CM_DATA: usize = 512;

#[repr(C)]
pub struct FidEq {
    pub fid: Fid,
    pub ops: *const FiOpsEq,
}

#[repr(C)]
pub struct FiOpsEq {
    pub size: usize,
    pub read: unsafe extern "C" fn(*mut FidEq, *mut u32, *mut c_void, usize, u64) -> isize,
    pub readerr: unsafe extern "C" fn(*mut FidEq, *mut EqErrEntry, u64) -> isize,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct CqMsgEntry {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
}

#[repr(C)]
pub struct CqErrEntry {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
    pub olen: usize,
    pub err: c_int,
    pub prov_errno: c_int,
    pub err_data: *mut c_void,
    pub err_data_size: usize,
}

#[repr(C)]
pub struct CqAttr {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_cond: c_int,
    pub wait_set: *mut c_void,
}

#[repr(C)]
pub struct FidCq {
    pub fid: Fid,
    pub ops: *const FiOpsCq,
}

#[repr(C)]
pub struct FiOpsCq {
    pub size: usize,
    pub read: unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize,
    pub readfrom: Unused,
    pub readerr: unsafe extern "C" fn(*mut FidCq, *mut CqErrEntry, u64) -> isize,
}
