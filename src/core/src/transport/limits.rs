//! The abilities and limits of an adapter, and the sizes requested of it.

use crate::addr::Address;
use crate::error::{Arg, Error, Resource, Result};
use crate::slab::Kind;
use crate::transport::datagrams::MAX_DATAGRAM;

/// The kind of network behind an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricKind {
    /// The memory of one host.
    Memory,
    /// InfiniBand, or its protocol over Ethernet.
    InfiniBand,
    /// RDMA over TCP.
    Iwarp,
    /// TCP without RDMA.
    Fabric,
}

/// The network behind an adapter, as far as programs ask for it by name.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Its kind.
    pub kind: FabricKind,
    /// The name of the device.
    pub device: String,
    /// The most bytes of one packet.
    pub mtu: usize,
    /// The globally unique number of the device, if it has one.
    pub node_guid: Option<u64>,
    /// The global address of the port, as it is on the wire, if it has one.
    pub gid: Option<[u8; 16]>,
    /// The port of the device, from 1.
    pub port: u8,
    /// Whether the port can carry data.
    pub active: bool,
}

/// Limits and abilities of an open adapter.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the names are those of the specification's attributes
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
    /// Bytes of the longest message, and of the longest RDMA transfer. Less than 4 GiB, since there are faces that have only 32
    /// bits for the length of a transfer.
    pub max_transfer: u64,
    pub max_rmrs: usize,
    pub max_rmr_address: u64,
    pub max_srqs: usize,
    pub max_eps_per_srq: usize,
    pub max_recvs_per_srq: usize,
    pub max_private_data: usize,
    /// The most private data of a rejection.
    pub max_reject_data: usize,
    pub optimal_alignment: usize,
    pub srq: bool,
    pub srq_low_watermark: bool,
    /// Whether there are windows. Without them no remote memory region can be made; `max_rmrs` means nothing then, and
    /// `endpoint_windows` and `invalidate` are false.
    pub rmr: bool,
    /// Whether peers can be made to count the bytes of a region or a window from 0.
    pub zero_based: bool,
    /// Whether a write can bring a value.
    pub immediate: bool,
    /// Whether there are atomic operations.
    pub atomics: bool,
    /// Whether a send can revoke a window of the peer.
    pub invalidate: bool,
    /// Whether a window can be for one endpoint alone.
    pub endpoint_windows: bool,
    /// Whether there are endpoints for datagrams, each of which can have many peers. One datagram has `fabric.mtu` bytes at
    /// most.
    pub datagrams: bool,
    pub fabric: Fabric,
}

impl Fabric {
    /// The memory of this host, for a transport that is named `device`.
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
    /// The most objects of a kind that there can be at a time, and the resource that is lacking beyond them.
    pub fn most(&self, kind: Kind) -> (usize, Resource) {
        match kind {
            Kind::Pz => (self.max_pzs, Resource::Zone),
            Kind::Lmr => (self.max_lmrs, Resource::Region),
            Kind::Rmr => (self.max_rmrs, Resource::Region),
            Kind::Evd => (self.max_evds, Resource::Evd),
            Kind::Ep => (self.max_eps, Resource::Endpoint),
            Kind::Srq => (self.max_srqs, Resource::Srq),
            // The attributes know no limit of these.
            Kind::Ia | Kind::Cno | Kind::Psp | Kind::Rsp | Kind::Csp | Kind::Cr | Kind::Ah => {
                (usize::MAX, Resource::Memory)
            }
        }
    }

    /// Checks whether a connection request, or the answer to one, can carry `len` bytes of private data. A face asks
    /// before it reads the bytes; nothing behind it asks again.
    ///
    /// # Errors
    /// [`Arg::PrivateDataSize`] if `len` is more than `max_private_data`.
    pub fn check_private_data(&self, len: usize) -> Result<()> {
        if len > self.max_private_data {
            return Err(Error::InvalidParameter(Arg::PrivateDataSize));
        }
        Ok(())
    }

    /// Does what [`AdapterAttributes::check_private_data`] does, for the rejection of a connection request.
    ///
    /// # Errors
    /// [`Arg::PrivateDataSize`] if `len` is more than `max_reject_data`.
    pub fn check_reject_data(&self, len: usize) -> Result<()> {
        if len > self.max_reject_data {
            return Err(Error::InvalidParameter(Arg::PrivateDataSize));
        }
        Ok(())
    }
}

/// Sizes of a new queue pair.
#[derive(Clone, Copy, Debug)]
pub struct QpSizes {
    /// Receives outstanding at a time; 0 with a shared receive queue.
    pub recvs: usize,
    /// Requests outstanding at a time.
    pub requests: usize,
    /// Whether these are defaults. A transport may make shorter queues then, and keep what they do not take.
    pub usual: bool,
    /// Segments of a receive.
    pub recv_segments: usize,
    /// Segments of a request.
    pub request_segments: usize,
    /// The peer's reads served at a time.
    pub reads_in: u8,
    /// Own reads outstanding at a time.
    pub reads_out: u8,
}
