//! The limits and attributes of an adapter, and the sizes of a queue pair.

use std::path::Path;

use host::sysfs;

use crate::addr::Address;
use crate::arena::Kind;
use crate::error::Resource;
use crate::transport::datagrams::MAX_DATAGRAM;

/// The kind of an adapter's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FabricKind {
    /// Shared memory of one host.
    Memory,
    /// InfiniBand or RoCE.
    InfiniBand,
    Iwarp,
    /// TCP without RDMA.
    Fabric,
}

/// An adapter's network, for the named attributes.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Fabric {
    pub kind: FabricKind,
    pub device: String,
    pub mtu: usize,
    /// GUID of the device, if any.
    pub node_guid: Option<u64>,
    /// GID of the port in wire format, if any.
    pub gid: Option<[u8; 16]>,
    /// Port of the device, from 1.
    pub port: u8,
    pub active: bool,
}

/// The limits and attributes of an open adapter.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // names of the specification
pub struct AdapterAttributes {
    pub vendor: String,
    pub provider: String,
    pub hardware_version: (u32, u32),
    pub firmware_version: (u32, u32),
    pub address: Address,
    pub max_eps: usize,
    pub max_dto_per_ep: usize,
    pub max_rdma_read_per_ep_in: usize,
    pub max_rdma_read_per_ep_out: usize,
    pub max_rdma_read_in: usize,
    pub max_rdma_read_out: usize,
    pub max_evds: usize,
    pub max_evd_qlen: usize,
    pub max_segments: usize,
    pub max_segments_read: usize,
    pub max_segments_write: usize,
    pub max_lmrs: usize,
    pub max_lmr_block: u64,
    pub max_lmr_address: u64,
    pub max_pzs: usize,
    /// Maximum bytes of a message or an RDMA transfer, below 4 GiB because some API versions have 32-bit lengths.
    pub max_transfer: u64,
    pub max_rmrs: usize,
    pub max_rmr_address: u64,
    pub max_srqs: usize,
    pub max_eps_per_srq: usize,
    pub max_recvs_per_srq: usize,
    /// Maximum length of the private data of a request or an accept, which the API layer checks.
    pub max_private_data: usize,
    /// Maximum length of the private data of a rejection, which the API layer checks.
    pub max_reject_data: usize,
    pub optimal_alignment: usize,
    pub srq: bool,
    pub srq_low_watermark: bool,
    /// `true` if an endpoint can have another zone than its SRQ.
    pub srq_zone_difference: bool,
    /// `true` if memory windows are supported. Otherwise `max_rmrs` is meaningless, and `endpoint_windows` and
    /// `invalidate` are false.
    pub rmr: bool,
    /// `true` if the peers' address of a region or window can start at 0.
    pub zero_based: bool,
    pub immediate: bool,
    pub atomics: bool,
    /// `true` if a send can revoke a window of the peer.
    pub invalidate: bool,
    /// `true` if a window can be restricted to one endpoint.
    pub endpoint_windows: bool,
    /// `true` if datagram endpoints are supported. A datagram has at most `fabric.mtu` bytes.
    pub datagrams: bool,
    pub fabric: Fabric,
}

impl Fabric {
    /// Returns the device counter with this kernel name; 0 if there is none.
    pub fn counter(&self, name: &str) -> u64 {
        match self.kind {
            FabricKind::Memory | FabricKind::Fabric => 0,
            FabricKind::InfiniBand | FabricKind::Iwarp => {
                sysfs::counter(Path::new(sysfs::ROOT), self.device.as_ref(), self.port, name).unwrap_or(0)
            }
        }
    }

    /// Returns the network of an adapter for shared memory.
    pub fn memory(device: String) -> Self {
        Fabric {
            kind: FabricKind::Memory,
            device,
            mtu: MAX_DATAGRAM,
            node_guid: None,
            gid: None,
            port: 1,
            active: true,
        }
    }
}

impl AdapterAttributes {
    /// Returns the maximum number of objects of a kind, and the resource that the error at this limit names.
    pub fn most(&self, kind: Kind) -> (usize, Resource) {
        match kind {
            Kind::Pz => (self.max_pzs, Resource::Zone),
            Kind::Lmr => (self.max_lmrs, Resource::Region),
            Kind::Rmr => (self.max_rmrs, Resource::Region),
            Kind::Evd => (self.max_evds, Resource::Evd),
            Kind::Ep => (self.max_eps, Resource::Endpoint),
            Kind::Srq => (self.max_srqs, Resource::Srq),
            // No limit.
            Kind::Ia | Kind::Cno | Kind::Psp | Kind::Rsp | Kind::Csp | Kind::Cr | Kind::Ah => {
                (usize::MAX, Resource::Memory)
            }
        }
    }
}

/// The sizes of a new queue pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct QpSizes {
    /// Maximum outstanding receives; 0 with an SRQ.
    pub recvs: usize,
    /// Maximum outstanding requests.
    pub requests: usize,
    /// `true` if `recvs` and `requests` are defaults. A transport may then create shorter queues, and store the excess
    /// work.
    pub usual: bool,
    /// Maximum segments of a receive.
    pub recv_segments: usize,
    /// Maximum segments of a request.
    pub request_segments: usize,
    /// Maximum concurrent reads by the peer.
    pub reads_in: u8,
    /// Maximum outstanding reads.
    pub reads_out: u8,
}
