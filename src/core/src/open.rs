//! Opening an interface adapter, and closing it with all objects made from it.
//!
//! This is the one place that knows every kind of object.
//!
//! An abrupt close frees service points, requests, endpoints, SRQs, RMRs, LMRs, PZs, EVDs and CNOs, in this order, and
//! wakes all waiters.

use std::sync::Arc;

use crate::cno::Cno;
use crate::ep::Endpoint;
use crate::error::{Error, Resource, Result, Role};
use crate::evd::Evd;
use crate::event::Streams;
use crate::ia::{ApiCaps, AsyncOutlet, Ia};
use crate::lmr::Lmr;
use crate::pz::Pz;
use crate::rmr::Rmr;
use crate::slab::{Header, Kind, Object, Slab};
use crate::sp::{Cr, Csp, Psp, Rsp};
use crate::srq::Srq;
use crate::transport::{AdapterSink, Transport};
use crate::users::Use;

/// Makes types the objects of their kinds; those that have the adapter in a field show it.
macro_rules! objects {
    ($($object:ident: $kind:ident $(, in $ia:ident)?;)*) => {
        $(impl<T: Transport> Object for $object<T> {
            const KIND: Kind = Kind::$kind;

            fn header(&self) -> &Header {
                &self.header
            }
        }

        $(impl<T: Transport> $object<T> {
            /// The adapter it belongs to.
            pub fn ia(&self) -> &Arc<Ia<T>> {
                &self.$ia
            }
        })?)*
    };
}

objects! {
    Ia: Ia;
    Pz: Pz, in ia;
    Lmr: Lmr, in ia;
    Rmr: Rmr, in ia;
    Evd: Evd, in ia;
    Cno: Cno, in ia;
    Endpoint: Ep, in ia;
    Srq: Srq, in ia;
    Psp: Psp;
    Rsp: Rsp;
    Cr: Cr, in ia;
    Csp: Csp;
}

/// The dispatcher that takes the asynchronous events of an adapter.
pub enum AsyncEvd<T: Transport> {
    /// A dispatcher made with the adapter, for at least this many events.
    Create(usize),
    /// A dispatcher of another open instance.
    Given(Arc<Evd<T>>),
    /// A dispatcher elsewhere on the host; events of this instance are dropped.
    Elsewhere,
}

impl<T: Transport> Ia<T> {
    /// Opens an instance. The handles of all its objects come from `slab`.
    ///
    /// # Errors
    /// [`crate::error::Arg::QueueLength`] for a queue length of 0, [`Role::EvdAsync`] for a
    /// dispatcher that does not admit asynchronous events or belongs to another adapter, and
    /// those of [`Transport::open`].
    pub fn open(
        slab: &'static Slab<T>,
        name: &str,
        instance_data: &str,
        async_evd: AsyncEvd<T>,
        api_caps: ApiCaps,
    ) -> Result<Arc<Self>> {
        if let AsyncEvd::Given(evd) = &async_evd {
            let fits = evd.streams.contains(Streams::ASYNC) && evd.ia().name == name;
            if !fits {
                return Err(Error::InvalidHandle(Role::EvdAsync));
            }
        }
        let ia = Ia::new(slab, name, T::open(name, instance_data)?, api_caps)?;
        ia.transport.report_to(AdapterSink { adapter: Arc::downgrade(&ia) });
        ia.complete(async_evd).inspect_err(|_| {
            // Nobody else has it yet.
            let _ = ia.destroy();
        })?;
        Ok(ia)
    }

    /// Gives a new instance its dispatcher of asynchronous events and its handle.
    fn complete(self: &Arc<Self>, async_evd: AsyncEvd<T>) -> Result<()> {
        let (evd, own) = match async_evd {
            AsyncEvd::Create(qlen) => (Some(Evd::create(self, qlen, None, Streams::ASYNC)?), true),
            AsyncEvd::Given(evd) => (Some(evd), false),
            AsyncEvd::Elsewhere => (None, false),
        };
        if let Some(evd) = evd {
            let used = Some(Use::of(&evd).ok_or(Error::InvalidHandle(Role::EvdAsync))?);
            *self.async_outlet.lock() = Some(AsyncOutlet { evd, own, used });
        }
        self.slab.insert(self.clone()).ok_or(Error::InsufficientResources(Resource::Memory))?;
        Ok(())
    }

    /// Closes the instance only if the program has freed all objects it made.
    ///
    /// # Errors
    /// [`crate::error::StateError::IaInUse`]; nothing was changed then. [`Error::InvalidHandle`] if another thread closes it.
    pub fn close_graceful(&self) -> Result<()> {
        self.shut_if_unused(self.own_async_evd())?;
        self.destroy()
    }

    /// Closes the instance and destroys all objects made from it.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if another thread closes it. That is not waited for: it may wait for an agent of the
    /// program, which may be the caller.
    pub fn close_abrupt(&self) -> Result<()> {
        self.destroy()
    }

    fn destroy(&self) -> Result<()> {
        if !self.shut() {
            return Err(Error::InvalidHandle(Role::Ia));
        }
        self.each::<Psp<T>>(|psp| psp.free());
        self.each::<Rsp<T>>(|rsp| rsp.free());
        self.each::<Csp<T>>(|csp| csp.free());
        self.each::<Cr<T>>(|cr| cr.abandon());
        // All connections begin to end before the first one is waited for.
        self.each::<Endpoint<T>>(|ep| ep.let_go());
        self.each::<Endpoint<T>>(|ep| ep.free_anyway());
        self.each::<Srq<T>>(|srq| srq.free_anyway());
        self.each::<Rmr<T>>(|rmr| rmr.free());
        self.each::<Lmr<T>>(|lmr| lmr.free_anyway());
        self.each::<Pz<T>>(|pz| {
            self.disown(&**pz);
        });
        let own = self.own_async_evd();
        let outlet = self.async_outlet.lock().take();
        self.each::<Evd<T>>(|evd| {
            // One user is this adapter itself.
            let lent = own == Some(evd.header().handle()) && evd.header.users.count() > 1;
            if lent {
                evd.orphan();
            } else {
                evd.free_anyway();
            }
        });
        self.each::<Cno<T>>(|cno| cno.free_anyway());
        drop(outlet);
        self.agents.stop();
        self.slab.remove(self);
        self.transport.close();
        Ok(())
    }
}
