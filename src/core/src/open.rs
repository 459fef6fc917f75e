//! Open and close of an interface adapter.
//!
//! Only this module knows every kind of object. An abrupt close frees service points, requests, endpoints, SRQs, RMRs,
//! LMRs, PZs, EVDs and CNOs, in this order, and wakes all waiters.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use host::memory::Room;

use crate::ah::Ah;
use crate::arena::{Arena, Header, Kind, Object};
use crate::cno::Cno;
use crate::ep::Endpoint;
use crate::error::{Error, Result, Role};
use crate::evd::Evd;
use crate::event::Streams;
use crate::ia::{ApiCaps, AsyncOutlet, Ia};
use crate::lmr::Lmr;
use crate::pz::Pz;
use crate::rmr::Rmr;
use crate::sp::{Cr, Csp, Psp, Rsp};
use crate::srq::Srq;
use crate::transport::{AdapterSink, Datagrams, Transport};
use crate::users::Use;

macro_rules! objects {
    ($($object:ident: $kind:ident $(, in $ia:ident $(, $pz:ident)?)?;)*) => {
        $(impl<T: Transport> Object for $object<T> {
            const KIND: Kind = Kind::$kind;

            fn header(&self) -> &Header {
                &self.header
            }
        }

        $(impl<T: Transport> $object<T> {
            /// Returns the adapter.
            pub fn ia(&self) -> &Arc<Ia<T>> {
                &self.$ia
            }

            $(
                /// Returns the protection zone, or `None` after the free.
                pub fn pz(&self) -> Option<Arc<Pz<T>>> {
                    self.$pz.lock().as_ref().map(|pz| pz.object().clone())
                }
            )?
        })?)*
    };
}

objects! {
    Ia: Ia;
    Pz: Pz, in ia;
    Lmr: Lmr, in ia, pz;
    Rmr: Rmr, in ia, pz;
    Evd: Evd, in ia;
    Cno: Cno, in ia;
    Endpoint: Ep, in ia;
    Srq: Srq, in ia, pz;
    Psp: Psp;
    Rsp: Rsp;
    Cr: Cr, in ia;
    Csp: Csp;
    Ah: Ah, in ia;
}

/// The EVD of an adapter's asynchronous events.
pub enum AsyncEvd<T: Transport> {
    /// A new EVD for at least this many events.
    Create(usize),
    /// An EVD of another instance of the same adapter.
    Given(Arc<Evd<T>>),
    /// An EVD outside this process. Core drops the adapter's asynchronous events.
    Elsewhere,
}

impl<T: Transport> Ia<T> {
    /// Opens an instance of the adapter `name`. Its objects get handles from `arena`, for cells that start with the
    /// word `face`. Each adapter of the arena has a different `face`.
    ///
    /// # Errors
    /// [`crate::error::Arg::QueueLength`] for an EVD of 0 events, [`Role::EvdAsync`] for an EVD that does not accept
    /// asynchronous events, belongs to another adapter or is being freed. Errors of [`Transport::open`].
    pub fn open(
        arena: &'static Arena<T>,
        face: usize,
        name: &str,
        instance_data: &str,
        async_evd: AsyncEvd<T>,
        api_caps: ApiCaps,
    ) -> Result<Arc<Self>> {
        if let AsyncEvd::Given(evd) = &async_evd {
            let fits = evd.streams.contains(Streams::ASYNC) && evd.ia().face == face;
            if !fits {
                return Err(Error::InvalidHandle(Role::EvdAsync));
            }
        }
        let ia = Ia::new(arena, face, name, instance_data, api_caps)?;
        ia.transport.report_to(AdapterSink { adapter: Arc::downgrade(&ia) });
        ia.complete(async_evd).inspect_err(|_| {
            // Fails only after an earlier close, but no other thread has the adapter yet.
            let _ = ia.close_abrupt();
        })?;
        Ok(ia)
    }

    fn complete(self: &Arc<Self>, async_evd: AsyncEvd<T>) -> Result<()> {
        let (evd, own) = match async_evd {
            AsyncEvd::Create(qlen) => (Some(Evd::create(self, qlen, None, Streams::ASYNC)?), true),
            AsyncEvd::Given(evd) => (Some(evd), false),
            AsyncEvd::Elsewhere => (None, false),
        };
        if let Some(evd) = evd {
            let evd = Use::of(&evd).ok_or(Error::InvalidHandle(Role::EvdAsync))?;
            evd.lent.fetch_add(usize::from(!own), Ordering::SeqCst);
            // Another thread may have closed the EVD's adapter, and so freed the EVD, before `lent` was increased.
            let is_gone = evd.is_gone();
            *self.async_outlet.lock() = Some(AsyncOutlet { evd, own });
            if is_gone {
                return Err(Error::InvalidHandle(Role::EvdAsync));
            }
        }
        self.arena.insert(self.face, self.clone()).ok_or(Error::NO_MEMORY)?;
        Ok(())
    }

    /// Closes the instance if the program has freed all its objects.
    ///
    /// # Errors
    /// [`crate::error::StateError::IaInUse`] if an object exists. [`Error::InvalidHandle`] if another thread closes the
    /// instance.
    pub fn close_graceful(&self) -> Result<()> {
        self.shut(true)?;
        self.destroy();
        Ok(())
    }

    /// Closes the instance and destroys all its objects.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if another thread closes the instance. The call does not wait for that thread, which
    /// may itself wait for an agent that makes this call.
    pub fn close_abrupt(&self) -> Result<()> {
        self.shut(false)?;
        self.destroy();
        Ok(())
    }

    fn destroy(&self) {
        self.each::<Psp<T>>(|psp| psp.free());
        self.each::<Rsp<T>>(|rsp| rsp.free());
        self.each::<Csp<T>>(|csp| csp.free());
        self.each::<Cr<T>>(|cr| cr.abandon());
        // Begins the disconnects of all endpoints, and closes all datagram queue pairs in one call, so that their ends
        // overlap.
        self.each::<Endpoint<T>>(|ep| ep.let_go());
        let mut datagram_qps = Vec::new();
        let _: Option<()> = self.find(|ep: &Endpoint<T>| {
            // If memory is exhausted, the free of the endpoint closes its queue pair.
            let has_room = datagram_qps.room(1).is_ok();
            datagram_qps.extend(ep.datagram_qp().filter(|_| has_room));
            None
        });
        T::DatagramQp::close(&self.transport, &datagram_qps);
        self.each::<Endpoint<T>>(|ep| ep.free_anyway());
        self.each::<Srq<T>>(|srq| srq.free_anyway());
        self.each::<Rmr<T>>(|rmr| rmr.free());
        self.each::<Lmr<T>>(|lmr| lmr.free_anyway());
        self.each::<Pz<T>>(|pz| {
            self.disown(&**pz);
        });
        let outlet = self.async_outlet.lock().take();
        self.each::<Evd<T>>(|evd| evd.orphan());
        self.each::<Cno<T>>(|cno| cno.free_anyway());
        drop(outlet);
        self.agents.stop();
        self.arena.remove(self);
        self.transport.close();
    }
}
