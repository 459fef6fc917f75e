//! Memory windows.
//!
//! A window that serves all queue pairs of its zone is a window of the device of type 1, or on Soft-RoCE, which does
//! not keep peers within the range of such a window, a registration of just the range. A window that serves one queue
//! pair is one of type 2, over the region, or on Soft-RoCE over a registration of just the range: there the device
//! keeps peers within the registration, and to the queue pair of the window.
//!
//! On Soft-RoCE a bind behind a message that waits for its receive would stop the queue pair, so what is posted there
//! is a write of no byte.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{BindTarget, Scope};
use host::cancel::uncancelled;
use host::lock::Mutex;
use host::memory::{self, Room};
use rdma_sys::ibv_mw_type;

use crate::device::Device;
use crate::memory::{Anchor, LOCAL_WRITE, MW_BIND, REMOTE_ATOMIC, REMOTE_WRITE, Region, Shared, Zone, remote_access};
use crate::qp::{Qp, wr};
use crate::status::exhausted;
use crate::sys::memory::{Access, Mr, Mw, Pd};
use crate::sys::qp::{Range, RawQp};

/// A window, to which remote rights can be bound.
pub struct Window {
    bound: Bound,
    /// Each of its binds under way has another reference.
    pub(crate) under_way: Arc<()>,
}

enum Bound {
    /// A window of the device, and the region that it shows.
    Device { mw: Arc<Mw>, region: Mutex<Option<Arc<Shared>>>, anchor: Arc<Anchor> },
    /// A registration of just the range.
    Range { pd: Arc<Pd>, under: Mutex<Option<Under>> },
    /// A window for one queue pair.
    Single(Arc<Single>),
}

/// A window for one queue pair. The device binds such a window once, so each binding makes another.
struct Single {
    pd: Arc<Pd>,
    /// Each binding registers just its range.
    ranges: bool,
    shown: Mutex<Option<Arc<Shown>>>,
}

/// A binding to one queue pair, which ends when the value is dropped: before the queue pair is destroyed, which the device's
/// window refers to.
struct Shown {
    mw: Mw,
    key: u32,
    /// The number of the queue pair: each one has its own windows, and the device may hand out a key again.
    qp: u32,
    /// Dropped after the window.
    under: Under,
}

/// The memory under a window.
struct Under {
    /// The region, which is not freed before.
    region: Arc<Shared>,
    /// A registration of just the range, where that is needed.
    range: Option<Mr>,
}

impl Under {
    fn mr(&self) -> &Mr {
        self.range.as_ref().unwrap_or(&self.region.mr)
    }
}

/// Objects that a bind needs until it is done, even if the program frees its own references meanwhile.
#[derive(Default)]
pub struct Kept {
    _device: Option<(Arc<Mw>, Arc<Anchor>)>,
    /// The regions that the window was and will be bound to.
    _regions: [Option<Arc<Shared>>; 2],
    /// The range that peers could reach before.
    _under: Option<Under>,
    /// What a window for one queue pair showed, and will show.
    shown: [Option<Arc<Shown>>; 2],
    /// The reference of a bind under way.
    _under_way: Option<Arc<()>>,
}

/// The longest time for which a free waits for binds under way.
const BIND_LIMIT: Duration = Duration::from_secs(1);
/// Time between two fetches meanwhile.
const BIND_TICK: Duration = Duration::from_micros(200);

/// Fetches completions until no bind needs an object, as `needed` says. The program may never fetch, and until then what
/// a window shows is open to peers. False if it takes too long. Called without a lock.
pub fn await_binds(device: &Device, needed: impl Fn() -> bool) -> bool {
    let limit = Instant::now() + BIND_LIMIT;
    while needed() {
        let mut qps = device.qps();
        qps.retain(|qp| !qp.sends.lock().binds.is_empty());
        device.drain_queues_of(&qps);
        if needed() {
            if Instant::now() >= limit {
                return false;
            }
            uncancelled(|| thread::sleep(BIND_TICK));
        }
    }
    true
}

impl Window {
    /// Makes an unbound window.
    pub fn new(device: &Device, zone: &Zone, scope: Scope) -> Result<Self> {
        let (pd, ranges) = (zone.pd.clone(), device.limits.soft_roce);
        let bound = match scope {
            Scope::Endpoint => Bound::Single(memory::arc(Single { pd, ranges, shown: Mutex::default() })?),
            Scope::Zone if ranges => Bound::Range { pd, under: Mutex::default() },
            Scope::Zone => {
                let mw = Mw::new(&pd, ibv_mw_type::IBV_MW_TYPE_1).map_err(exhausted(Resource::Region))?;
                Bound::Device { mw: memory::arc(mw)?, region: Mutex::default(), anchor: zone.anchor()? }
            }
        };
        Ok(Window { bound, under_way: memory::arc(())? })
    }

    /// Binds the window to `target`, or unbinds it, by the request `id` of the queue pair `raw`. Gives the key that peers use from then on, 0 if there is none, and the objects that must stay until the bind is
    /// done.
    fn bind(&self, raw: &RawQp, id: u64, target: Option<&BindTarget<'_, Region>>) -> Result<(u32, Kept)> {
        let failed = exhausted(Resource::Region);
        let _under_way = Some(self.under_way.clone());
        match &self.bound {
            Bound::Device { mw, region, anchor } => {
                let mut region = region.lock();
                let nothing = (&anchor.mr, anchor.bytes.as_ptr() as u64, 0, 0);
                let range = target.map_or(nothing, |target| range_of(&target.region.shared.mr, target));
                raw.post_bind(id, mw, range).map_err(failed)?;
                let now = target.map(|target| target.region.shared.clone());
                let before = std::mem::replace(&mut *region, now.clone());
                let kept = Kept {
                    _device: Some((mw.clone(), anchor.clone())),
                    _regions: [before, now],
                    _under_way,
                    ..Kept::default()
                };
                Ok((if target.is_some() { mw.rkey } else { 0 }, kept))
            }
            Bound::Range { pd, under } => {
                let mut under = under.lock();
                let now = target.map(|target| register(pd, target, remote_access(target.rights)));
                let now = now.transpose().map_err(&failed)?;
                raw.post_nothing(id).map_err(&failed)?;
                let key = now.as_ref().map_or(0, |now| now.mr().rkey);
                Ok((key, Kept { _under: std::mem::replace(&mut *under, now), _under_way, ..Kept::default() }))
            }
            Bound::Single(single) => {
                let mut shown = single.shown.lock();
                let now = target.map(|target| single.show(target, raw.number())).transpose()?;
                let posted = match (&now, target) {
                    (Some(now), Some(target)) => {
                        raw.post_bind_single(id, &now.mw, now.key, range_of(now.under.mr(), target))
                    }
                    _ => raw.post_nothing(id),
                };
                posted.map_err(failed)?;
                let key = now.as_ref().map_or(0, |now| now.key);
                let before = std::mem::replace(&mut *shown, now.clone());
                Ok((key, Kept { shown: [before, now], _under_way, ..Kept::default() }))
            }
        }
    }
}

impl Single {
    /// What a binding to `target` will show over the queue pair of this number.
    fn show(&self, target: &BindTarget<'_, Region>, qp: u32) -> Result<Arc<Shown>> {
        let failed = exhausted(Resource::Region);
        let under = if self.ranges {
            // Peers reach it by the window alone.
            register(&self.pd, target, MW_BIND).map_err(&failed)?
        } else {
            Under { region: target.region.shared.clone(), range: None }
        };
        let mw = Mw::new(&self.pd, ibv_mw_type::IBV_MW_TYPE_2).map_err(failed)?;
        Ok(memory::arc(Shown { key: mw.next_key(), mw, qp, under })?)
    }

    /// Ends the binding of this key over the queue pair of this number, if there still is one, without a request.
    fn revoke(&self, key: u32, qp: u32) {
        let gone = self.shown.lock().take_if(|shown| (shown.key, shown.qp) == (key, qp));
        drop(gone);
    }
}

/// The range of a registration that a binding shows.
fn range_of<'a>(mr: &'a Mr, target: &BindTarget<'_, Region>) -> Range<'a> {
    (mr, target.addr, target.len, remote_access(target.rights) as u32)
}

/// Registers just the range of a binding. The device demands the local right to write with the remote one.
fn register(pd: &Arc<Pd>, target: &BindTarget<'_, Region>, access: Access) -> io::Result<Under> {
    let writes = remote_access(target.rights) & (REMOTE_WRITE | REMOTE_ATOMIC) != 0;
    let local = if writes { LOCAL_WRITE } else { 0 };
    let range = Mr::new(pd, target.addr, usize::try_from(target.len).unwrap_or(usize::MAX), access | local)?;
    Ok(Under { region: target.region.shared.clone(), range: Some(range) })
}

/// The windows that serve a queue pair alone and were bound on it, by key.
#[derive(Default)]
pub struct Type2Windows {
    bound: HashMap<u32, Weak<Single>>,
    /// Those that the peer has revoked; their objects of the device are still to be freed.
    revoked: Vec<(u32, Weak<Single>)>,
}

impl Type2Windows {
    fn room(&mut self) -> Result<()> {
        if self.bound.len() == self.bound.capacity() {
            self.bound.retain(|_, window| window.strong_count() > 0);
        }
        self.revoked.room(self.bound.len() + 1)?;
        Ok(self.bound.room(1)?)
    }

    /// The peer has revoked the window of this key. True if there was one.
    pub fn note_revoked(&mut self, key: u32) -> bool {
        let Some(window) = self.bound.remove(&key) else { return false };
        self.revoked.push((key, window));
        true
    }
}

impl Qp {
    /// Hands over the bind of a window to `target`, or its unbinding. Gives the key that peers use from then on.
    pub fn post_bind(&self, id: u64, window: &Window, target: Option<&BindTarget<'_, Region>>) -> Result<u32> {
        let mut queue = self.sends.lock();
        if !queue.is_open() {
            return Ok(0);
        }
        if queue.is_full() {
            return Err(Error::InsufficientResources(Resource::Memory));
        }
        self.singles.lock().room()?;
        let (key, kept) = window.bind(&self.raw, wr::send(id), target)?;
        if let Bound::Single(single) = &window.bound {
            // The end of the connection revokes it, and has not begun, because the queue is open.
            let mut singles = self.singles.lock();
            if let [Some(before), _] = &kept.shown {
                if before.qp == self.number() {
                    singles.bound.remove(&before.key);
                }
            }
            if target.is_some() {
                singles.bound.insert(key, Arc::downgrade(single));
            }
        }
        queue.posted_bind(id, kept);
        Ok(key)
    }

    /// Frees what the device has of windows that the peer has revoked. Called without a lock.
    pub fn free_revoked(&self) {
        // The room stays: completions add to it where nothing can be asked for.
        let next = || self.singles.lock().revoked.pop();
        while let Some((key, window)) = next() {
            self.free_binding(key, &window);
        }
    }

    /// Ends the bindings of windows to this queue pair alone, before it is destroyed: they refer to it. The work queues
    /// are closed.
    pub fn end_binds(&self) {
        self.sends.lock().binds.clear();
        let Type2Windows { bound, revoked } = std::mem::take(&mut *self.singles.lock());
        for (key, window) in bound.into_iter().chain(revoked) {
            self.free_binding(key, &window);
        }
    }

    fn free_binding(&self, key: u32, window: &Weak<Single>) {
        if let Some(window) = window.upgrade() {
            window.revoke(key, self.number());
        }
    }
}
