//! An open adapter of a test.

use std::sync::Arc;

use super::{Buffer, End, connect};
use crate::arena::Arena;
use crate::ep::{Endpoint, EpAttributes, EpParts};
use crate::evd::Evd;
use crate::event::Streams;
use crate::ia::{ApiCaps, Ia};
use crate::mem::{Base, Rights};
use crate::open::AsyncEvd;
use crate::pz::Pz;
use crate::srq::Srq;
use crate::transport::Transport;

const EVD_LENGTH: usize = 512;

/// An open adapter with a protection zone. The drop closes it abruptly.
pub struct Adapter<T: Transport> {
    pub ia: Arc<Ia<T>>,
    pub pz: Arc<Pz<T>>,
}

impl<T: Transport> Drop for Adapter<T> {
    fn drop(&mut self) {
        // A test may have closed it already.
        let _ = self.ia.close_abrupt();
    }
}

impl<T: Transport> Adapter<T> {
    pub fn open(name: &str, instance: &str) -> Self {
        Self::open_with(name, instance, ApiCaps { extended: true, ..ApiCaps::default() })
    }

    pub fn open_with(name: &str, instance: &str, api_caps: ApiCaps) -> Self {
        let arena: &'static Arena<T> = Box::leak(Box::new(Arena::new()));
        let ia = Ia::open(arena, 0, name, instance, AsyncEvd::Create(64), api_caps).unwrap();
        Adapter { pz: Pz::create(&ia).unwrap(), ia }
    }

    pub fn events(&self) -> Arc<Evd<T>> {
        let evd = self.ia.async_evd().expect("it was opened with one");
        self.ia.arena.get::<Evd<T>>(evd).expect("it lives as long as the adapter")
    }

    pub fn evd(&self, streams: Streams) -> Arc<Evd<T>> {
        Evd::create(&self.ia, EVD_LENGTH, None, streams).unwrap()
    }

    pub fn end(&self) -> End<T> {
        self.end_with(None, |_| {})
    }

    pub fn end_on(&self, srq: &Arc<Srq<T>>) -> End<T> {
        self.end_with(Some(srq), |_| {})
    }

    pub fn end_with(&self, srq: Option<&Arc<Srq<T>>>, change: impl FnOnce(&mut EpAttributes)) -> End<T> {
        let transfers = || self.evd(Streams::TRANSFERS | Streams::BINDS);
        let (receives, requests, connections) = (transfers(), transfers(), self.evd(Streams::CONNECTIONS));
        self.end_to(&self.pz, [&receives, &requests, &connections], srq, change)
    }

    pub fn end_to(
        &self,
        pz: &Arc<Pz<T>>,
        [receives, requests, connections]: [&Arc<Evd<T>>; 3],
        srq: Option<&Arc<Srq<T>>>,
        change: impl FnOnce(&mut EpAttributes),
    ) -> End<T> {
        let parts = EpParts {
            pz: Some(pz),
            recv_evd: Some(receives),
            request_evd: Some(requests),
            connect_evd: Some(connections),
            srq,
        };
        let mut attributes = EpAttributes::defaults(self.ia.attributes());
        change(&mut attributes);
        End {
            ep: Endpoint::create(&self.ia, &parts, Some(attributes)).unwrap(),
            receives: receives.clone(),
            requests: requests.clone(),
            connections: connections.clone(),
        }
    }

    pub fn pair(&self) -> (End<T>, End<T>) {
        let (a, b) = (self.end(), self.end());
        connect(&a, &b);
        (a, b)
    }

    pub fn srq(&self, recvs: usize) -> Arc<Srq<T>> {
        Srq::create(&self.ia, &self.pz, recvs, 1).unwrap()
    }

    pub fn buffer(&self, len: usize) -> Buffer<T> {
        let remote = Rights::REMOTE_READ | Rights::REMOTE_WRITE;
        self.buffer_with(len, Rights::LOCAL_READ | Rights::LOCAL_WRITE | remote)
    }

    pub fn buffer_from_zero(&self, len: usize, rights: Rights) -> Buffer<T> {
        Buffer::with_base(&self.ia, &self.pz, len, rights, Base::Zero)
    }

    pub fn buffer_with(&self, len: usize, rights: Rights) -> Buffer<T> {
        Buffer::new(&self.ia, &self.pz, len, rights)
    }
}
