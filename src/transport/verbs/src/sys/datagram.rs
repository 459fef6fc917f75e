//! UD queue pairs and address handles.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::sync::Arc;

use dat_core::transport::Segment;
use rdma_sys::*;

use super::cm::CmId;
use super::device::Context;
use super::memory::Pd;
use super::qp::{RawQp, elements, solicited_if};
use super::{Owned, zeroed};

/// The Q_Key of all UD queue pairs, as in the C implementation.
const Q_KEY: u32 = 0x7865_4321;

pub type AddressHandle = Owned<ibv_ah, Arc<Pd>>;

/// The attributes of an address handle, from rdma_cm or from a peer's [`Port`].
#[derive(Clone, Copy)]
pub struct Way(pub(super) ibv_ah_attr);

/// The address of a port, from which peers create a [`Way`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Port {
    pub gid: [u8; 16],
    pub lid: u16,
    pub service_level: u8,
    /// Exceeds 1 if the path contains routers.
    pub hop_limit: u8,
    pub traffic_class: u8,
}

impl Way {
    /// Creates a way from GID index `from` of port `number` to another port. With `global`, each packet has a GRH, as
    /// [`needs_grh`] requires.
    pub fn new(number: u8, from: u8, to: &Port, global: bool) -> Self {
        Way(ibv_ah_attr {
            grh: ibv_global_route {
                dgid: ibv_gid { raw: to.gid },
                flow_label: 0,
                sgid_index: from,
                hop_limit: to.hop_limit,
                traffic_class: to.traffic_class,
            },
            dlid: to.lid,
            sl: to.service_level,
            src_path_bits: 0,
            static_rate: 0,
            is_global: (global || to.hop_limit > 1).into(),
            port_num: number,
        })
    }
}

impl AddressHandle {
    pub fn new(pd: &Arc<Pd>, way: &Way) -> io::Result<Self> {
        let mut attr = way.0;
        // SAFETY: a live zone; `attr` is readable.
        Owned::made(pd.clone(), |pd| unsafe { ibv_create_ah(pd.as_ptr(), &raw mut attr) })
    }
}

impl CmId {
    /// Returns the address of the local port of the resolved route; only its GID if no path is known.
    pub fn own_port(&self) -> Port {
        // SAFETY: the union begins with the GID, for which any bytes are valid.
        let gid = unsafe { mem::transmute_copy::<_, [u8; 16]>(&self.route.addr.addr) };
        // SAFETY: the identifier and its first path, if any, are live.
        let path = unsafe { self.route.path_rec.as_ref() }.filter(|_| self.route.num_paths > 0);
        let Some(path) = path else { return Port { gid, ..Port::default() } };
        Port {
            gid,
            lid: u16::from_be(path.slid),
            service_level: path.sl,
            hop_limit: path.hop_limit,
            traffic_class: path.traffic_class,
        }
    }
}

impl Context {
    pub fn gid_indices(&self, port: u8, gid: &[u8; 16]) -> Vec<u8> {
        let count = self.query_port(port).map_or(0, |port| port.gid_tbl_len).clamp(0, 256);
        (0..=u8::MAX)
            .take(count as usize)
            .filter(|&index| self.query_gid(port, index).is_ok_and(|at| at == *gid))
            .collect()
    }
}

impl RawQp {
    pub fn make_ready(&self, port: u8, pkey_index: u16) -> io::Result<()> {
        let initial =
            ibv_qp_attr_mask::IBV_QP_PKEY_INDEX | ibv_qp_attr_mask::IBV_QP_PORT | ibv_qp_attr_mask::IBV_QP_QKEY;
        self.change(ibv_qp_state::IBV_QPS_INIT, initial, |attr| {
            (attr.port_num, attr.pkey_index, attr.qkey) = (port, pkey_index, Q_KEY);
        })?;
        self.change(ibv_qp_state::IBV_QPS_RTR, ibv_qp_attr_mask(0), |_| {})?;
        self.change(ibv_qp_state::IBV_QPS_RTS, ibv_qp_attr_mask::IBV_QP_SQ_PSN, |_| {})
    }

    pub fn post_datagram(
        &self,
        id: u64,
        segments: &[Segment],
        (way, number): (&AddressHandle, u32),
        solicited: bool,
    ) -> io::Result<()> {
        let mut elements = elements(segments);
        let mut wr: ibv_send_wr = zeroed();
        wr.wr_id = id;
        wr.sg_list = elements.as_mut_ptr();
        wr.num_sge = elements.len() as c_int;
        wr.opcode = ibv_wr_opcode::IBV_WR_SEND;
        wr.send_flags = ibv_send_flags::IBV_SEND_SIGNALED.0 | solicited_if(solicited);
        wr.wr.ud = ud_t { ah: way.as_ptr(), remote_qpn: number, remote_qkey: Q_KEY };
        self.hand_over(&mut wr)
    }
}

/// IBV_LINK_LAYER_ETHERNET and IBV_QPF_GRH_REQUIRED, missing in the bindings.
const ETHERNET: u8 = 2;
const GRH_REQUIRED: u8 = 1;

/// Returns whether each packet needs a GRH, as on an Ethernet port, which has only GIDs.
pub fn needs_grh(port: &ibv_port_attr) -> bool {
    port.link_layer == ETHERNET || port.flags & GRH_REQUIRED != 0
}
