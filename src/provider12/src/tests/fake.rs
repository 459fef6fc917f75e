//! A transport that moves no bytes: what its peer would do is done by the test.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dat_core::Rights;
use dat_core::addr::Address;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::*;
use parking_lot::Mutex;

pub struct Fake {
    attributes: AdapterAttributes,
    /// Queue pairs in the order they were made.
    pub qps: Mutex<Vec<EndpointSink<Fake>>>,
    /// Whom to tell of what befalls the adapter.
    pub adapter: Mutex<Option<AdapterSink<Fake>>>,
    /// Listeners in the order they were made.
    pub listeners: Mutex<Vec<(u64, ListenerSink<Fake>)>>,
}

static NUMBER: AtomicU32 = AtomicU32::new(1);

fn number() -> u32 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

pub struct Zone(u32);

impl ZoneId for Zone {
    fn id(&self) -> u32 {
        self.0
    }
}

pub struct Region(u32);

impl RegionKeys for Region {
    fn local_key(&self) -> u32 {
        self.0
    }

    fn remote_key(&self) -> u32 {
        self.0
    }
}

pub const MAX_PRIVATE_DATA: usize = 100;
pub const QUALIFIER_IN_USE: u64 = 666;
pub const QUALIFIER_CHOSEN: u64 = 1024;

impl Transport for Fake {
    type Zone = Zone;
    type Region = Region;
    type Window = ();
    type Cq = ();
    type Srq = ();
    type Qp = ();
    type Listener = ();
    type Incoming = ();

    fn open(_name: &str, instance: &str) -> Result<Arc<Self>> {
        if instance == "no device" {
            return Err(Error::InsufficientResources(Resource::Device));
        }
        if instance == "panic" {
            panic!("on purpose");
        }
        Ok(Arc::new(Fake {
            attributes: AdapterAttributes {
                vendor: "vendor".into(),
                provider: "fake".into(),
                hardware_version: (1, 2),
                firmware_version: (3, 4),
                address: Address::loopback(),
                max_eps: 8,
                max_dto_per_ep: 64,
                max_rdma_read_per_ep_in: 4,
                max_rdma_read_per_ep_out: 4,
                max_rdma_read_in: 32,
                max_rdma_read_out: 31,
                max_evds: 64,
                max_evd_qlen: 1000,
                max_segments: 8,
                max_segments_read: 4,
                max_segments_write: 4,
                max_lmrs: 64,
                max_lmr_block: 1 << 40,
                max_lmr_address: u64::MAX,
                max_pzs: 64,
                max_message: 1 << 30,
                max_rdma: 1 << 30,
                max_rmrs: 4,
                max_rmr_address: u64::MAX,
                max_srqs: 4,
                max_eps_per_srq: 4,
                max_recvs_per_srq: 64,
                max_private_data: MAX_PRIVATE_DATA,
                optimal_alignment: 64,
                srq: true,
                srq_low_watermark: true,
                rmr: true,
            },
            qps: Mutex::default(),
            adapter: Mutex::default(),
            listeners: Mutex::default(),
        }))
    }

    fn attributes(&self) -> &AdapterAttributes {
        &self.attributes
    }

    fn report_to(&self, sink: AdapterSink<Self>) {
        *self.adapter.lock() = Some(sink);
    }

    fn zone_create(&self) -> Result<Zone> {
        Ok(Zone(number()))
    }

    fn register(&self, _: &Zone, _: u64, _: u64, _: Rights) -> Result<Region> {
        Ok(Region(number()))
    }

    fn window_create(&self, _: &Zone) -> Result<()> {
        Ok(())
    }

    fn cq_create(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn poll(&self, _: Option<&()>, _: Poll) {}

    fn arm(&self, _: Option<&()>) -> Option<RawFd> {
        None
    }

    fn disarm(&self, _: Option<&()>, _: Option<RawFd>) {}

    fn srq_create(&self, _: &Zone, _: usize, _: usize) -> Result<()> {
        Ok(())
    }

    fn srq_post(&self, _: &(), _: &Recv<'_>) -> Result<()> {
        Ok(())
    }

    fn srq_kick(&self, _: &()) {}

    fn srq_resize(&self, _: &(), _: usize) -> Result<()> {
        Ok(())
    }

    fn srq_arm_limit(&self, _: &(), _: usize) -> Result<()> {
        Ok(())
    }

    fn qp_create(&self, init: QpInit<'_, Self>) -> Result<Arc<()>> {
        self.qps.lock().push(init.sink);
        Ok(Arc::new(()))
    }

    fn post_recv(&self, _: &(), _: &Recv<'_>) -> Result<()> {
        Ok(())
    }

    fn recv_kick(&self, _: &Arc<()>) {}

    fn post(&self, _: &Arc<()>, _: &Request<'_>) -> Result<()> {
        Ok(())
    }

    fn post_bind(&self, _: &Arc<()>, _: RequestId, _: &(), _: Option<&BindTarget<'_, Region>>, _: bool) -> Result<u32> {
        Ok(number())
    }

    fn reap(&self, _: &Arc<()>) {}

    fn listen(&self, qualifier: Option<u64>, sink: ListenerSink<Self>) -> Result<((), u64)> {
        if qualifier == Some(QUALIFIER_IN_USE) {
            return Err(Error::QualifierInUse);
        }
        let qualifier = qualifier.unwrap_or(QUALIFIER_CHOSEN);
        self.listeners.lock().push((qualifier, sink));
        Ok(((), qualifier))
    }

    fn connect(&self, _: &Arc<()>, _: &Connect<'_>) -> Result<()> {
        Ok(())
    }

    fn accept(&self, incoming: &mut Option<()>, _: &Arc<()>, _: &[u8]) -> Result<()> {
        incoming.take();
        Ok(())
    }

    fn reject(&self, (): (), _: Rejection) {}

    fn local_qualifier(&self, (): &()) -> u64 {
        77
    }

    fn disconnect(&self, _: &Arc<()>, _: bool) -> Closing {
        Closing::Done
    }
}

impl Fake {
    /// Where the address of the adapter is.
    pub fn attributes_address(&self) -> dat_udat12::DAT_IA_ADDRESS_PTR {
        crate::attr::address_ptr(&self.attributes.address)
    }
}
