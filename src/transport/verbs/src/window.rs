//! Memory windows.
//!
//! | scope | device | Soft-RoCE |
//! |---|---|---|
//! | zone | type 1 window | registration of the range |
//! | endpoint | type 2 window over the region | type 2 window over a registration of the range |
//!
//! Soft-RoCE restricts peers only to the range of a registration, not of a window (Linux 6.1, 6.12, 7.3). There a bind
//! request after a message that waits for a receive would stop the queue pair: the device repeats both and rejects the
//! bind. So a bind with zone scope posts an empty write instead, and a bind with endpoint scope waits until all earlier
//! requests have completed.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{BindTarget, Request, Scope, SeqNo, Windows};
use host::cancel::uncancelled;
use host::lock::Mutex;
use host::memory::{self, Room};
use rdma_sys::ibv_mw_type;

use crate::Verbs;
use crate::device::Device;
use crate::memory::{Anchor, Region, Zone};
use crate::qp::{Qp, wr};
use crate::status::exhausted;
use crate::sys::memory::{Access, LOCAL_WRITE, MW_BIND, Mr, Mw, Pd, REMOTE_ATOMIC, REMOTE_WRITE, remote_access};
use crate::sys::qp::{Range, RawQp};

pub struct Window {
    bound: Bound,
    /// Each outstanding bind has a clone, so the reference count shows whether there is any.
    under_way: Arc<()>,
}

enum Bound {
    Device { mw: Arc<Mw>, region: Mutex<Option<Arc<Mr>>>, anchor: Arc<Anchor> },
    Range { pd: Arc<Pd>, under: Mutex<Option<Under>> },
    Single(Arc<Single>),
}

/// A window with endpoint scope. Each bind creates a new type 2 window of the device, which can be bound only once.
struct Single {
    pd: Arc<Pd>,
    /// Set if each bind also registers its range, as on Soft-RoCE.
    ranges: bool,
    shown: Mutex<Option<Arc<Shown>>>,
}

/// A binding to one queue pair. Must be dropped before the queue pair is destroyed.
pub struct Shown {
    mw: Mw,
    key: u32,
    /// Number of the queue pair, because queue pairs may have windows with the same key.
    qp: u32,
    /// After `mw`, because it must be dropped later.
    under: Under,
    /// First address, length, and access flags.
    range: (u64, u64, u32),
}

impl Shown {
    /// Posts the bind. `request` is its work request identifier, and whether it is fenced.
    pub fn post(&self, raw: &RawQp, request: (u64, bool)) -> io::Result<()> {
        let (addr, length, access) = self.range;
        raw.post_bind_single(request, &self.mw, self.key, (self.under.mr(), addr, length, access))
    }
}

struct Under {
    /// Keeps the region registered.
    region: Arc<Mr>,
    range: Option<Mr>,
}

impl Under {
    fn mr(&self) -> &Mr {
        self.range.as_ref().unwrap_or(&self.region)
    }
}

/// Objects that a bind needs until it has completed.
#[derive(Default)]
pub struct BoundWindow {
    _device: Option<(Arc<Mw>, Arc<Anchor>)>,
    /// The old and new region.
    _regions: [Option<Arc<Mr>>; 2],
    _under: Option<Under>,
    /// The old and new binding of a `Single`.
    shown: [Option<Arc<Shown>>; 2],
    _under_way: Option<Arc<()>>,
}

/// Maximum time that the free of a window or region waits for outstanding binds.
const BIND_TIMEOUT: Duration = Duration::from_secs(1);
const BIND_POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Polls for completions of binds until `needed` returns `false`: until then peers can access old bindings, and the
/// program may never poll. Returns whether that was within [`BIND_TIMEOUT`]. Called without a lock.
pub fn await_binds(device: &Device, needed: impl Fn() -> bool) -> bool {
    let limit = Instant::now() + BIND_TIMEOUT;
    while needed() {
        let mut qps = device.qps();
        qps.retain(|qp| qp.sends.lock().has_binds());
        device.drain_queues_of(&qps);
        if needed() {
            if Instant::now() >= limit {
                return false;
            }
            uncancelled(|| thread::sleep(BIND_POLL_INTERVAL));
        }
    }
    true
}

impl Windows<Verbs> for Window {
    fn create(verbs: &Verbs, zone: &Zone, scope: Scope) -> Result<Self> {
        let device = &verbs.device;
        device.check_device()?;
        let (pd, ranges) = (zone.pd.clone(), device.limits.quirks.exposes_region_of_window);
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

    /// Returns key 0 after an unbind or for a closed queue.
    fn post_bind(
        &self,
        verbs: &Verbs,
        (qp, ()): (&Arc<Qp>, &mut ()),
        request: &Request<'_>,
        target: Option<&BindTarget<'_, Region>>,
    ) -> Result<(u32, SeqNo)> {
        let id = request.id;
        let target = target.map(|target| BindTarget { rights: verbs.device.limits.granted(target.rights), ..*target });
        let mut queue = qp.sends.lock();
        if !queue.is_open() {
            return Ok((0, SeqNo(id)));
        }
        let ranges = matches!(&self.bound, Bound::Single(single) if single.ranges);
        let waits = ranges && (!queue.has_room() || (target.is_some() && !queue.is_back()));
        if waits {
            queue.room_for_bind()?;
        } else if !queue.has_room() {
            return Err(Error::NO_MEMORY);
        }
        qp.singles.lock().room()?;
        let (key, bound) = self.bind(&qp.raw, (wr::send(id), request.fence), target.as_ref(), waits)?;
        if let Bound::Single(single) = &self.bound {
            // The queue is open, so the end of the connection will revoke the window.
            let mut singles = qp.singles.lock();
            if let [Some(before), _] = &bound.shown {
                if before.qp == qp.number() {
                    singles.bound.remove(&before.key);
                }
            }
            if target.is_some() {
                singles.bound.insert(key, Arc::downgrade(single));
            }
        }
        if waits {
            queue.wait_with_bind(request, bound.shown[1].clone(), bound);
        } else {
            queue.posted_bind(id, bound);
        }
        drop(queue);
        if request.fence {
            qp.note_fence();
        }
        Ok((key, SeqNo(id)))
    }

    fn await_rebind(&self, _verbs: &Verbs) {}

    fn revoke(&self, verbs: &Verbs) {
        // After a timeout, the outstanding bind keeps its region registered.
        await_binds(&verbs.device, || Arc::strong_count(&self.under_way) > 1);
    }
}

impl Window {
    /// Posts a bind to `target`, or an unbind for `None`. `request` is the work request identifier, and whether to
    /// fence. Returns the new key (0 after an unbind), and the objects that the bind needs. If the bind `waits`, posts
    /// nothing: the caller adds the bind to the backlog.
    fn bind(
        &self,
        raw: &RawQp,
        request: (u64, bool),
        target: Option<&BindTarget<'_, Region>>,
        waits: bool,
    ) -> Result<(u32, BoundWindow)> {
        let failed = exhausted(Resource::Region);
        let _under_way = Some(self.under_way.clone());
        match &self.bound {
            Bound::Device { mw, region, anchor } => {
                let mut region = region.lock();
                let nothing = (&anchor.mr, anchor.bytes.as_ptr() as u64, 0, 0);
                let range = target.map_or(nothing, |target| range_of(&target.region.mr, target));
                raw.post_bind(request, mw, range).map_err(failed)?;
                let now = target.map(|target| target.region.mr.clone());
                let before = std::mem::replace(&mut *region, now.clone());
                let bound = BoundWindow {
                    _device: Some((mw.clone(), anchor.clone())),
                    _regions: [before, now],
                    _under_way,
                    ..BoundWindow::default()
                };
                Ok((if target.is_some() { mw.rkey } else { 0 }, bound))
            }
            Bound::Range { pd, under } => {
                let mut under = under.lock();
                let now = target.map(|target| register(pd, target, remote_access(target.rights)));
                let now = now.transpose().map_err(&failed)?;
                raw.post_nothing(request).map_err(&failed)?;
                let key = now.as_ref().map_or(0, |now| now.mr().rkey);
                Ok((
                    key,
                    BoundWindow { _under: std::mem::replace(&mut *under, now), _under_way, ..BoundWindow::default() },
                ))
            }
            Bound::Single(single) => {
                let mut shown = single.shown.lock();
                let now = target.map(|target| single.show(target, raw.number())).transpose()?;
                let posted = match &now {
                    _ if waits => Ok(()),
                    Some(now) => now.post(raw, request),
                    None => raw.post_nothing(request),
                };
                posted.map_err(failed)?;
                let key = now.as_ref().map_or(0, |now| now.key);
                let before = std::mem::replace(&mut *shown, now.clone());
                Ok((key, BoundWindow { shown: [before, now], _under_way, ..BoundWindow::default() }))
            }
        }
    }
}

impl Single {
    fn show(&self, target: &BindTarget<'_, Region>, qp: u32) -> Result<Arc<Shown>> {
        let failed = exhausted(Resource::Region);
        let under = if self.ranges {
            // Without remote rights, because peers must use the window.
            register(&self.pd, target, MW_BIND).map_err(&failed)?
        } else {
            Under { region: target.region.mr.clone(), range: None }
        };
        let mw = Mw::new(&self.pd, ibv_mw_type::IBV_MW_TYPE_2).map_err(failed)?;
        let range = (target.addr, target.len, remote_access(target.rights) as u32);
        Ok(memory::arc(Shown { key: mw.next_key(), mw, qp, under, range })?)
    }

    fn revoke(&self, key: u32, qp: u32) {
        let gone = self.shown.lock().take_if(|shown| (shown.key, shown.qp) == (key, qp));
        drop(gone);
    }
}

fn range_of<'a>(mr: &'a Mr, target: &BindTarget<'_, Region>) -> Range<'a> {
    (mr, target.addr, target.len, remote_access(target.rights) as u32)
}

/// Registers the range of a binding. Remote writes also require the local right to write.
fn register(pd: &Arc<Pd>, target: &BindTarget<'_, Region>, access: Access) -> io::Result<Under> {
    let writes = remote_access(target.rights) & (REMOTE_WRITE | REMOTE_ATOMIC) != 0;
    let local = if writes { LOCAL_WRITE } else { 0 };
    let range = Mr::new(pd, target.addr, usize::try_from(target.len).unwrap_or(usize::MAX), access | local)?;
    Ok(Under { region: target.region.mr.clone(), range: Some(range) })
}

/// The bound type 2 windows of a queue pair, by key.
#[derive(Default)]
pub struct Type2Windows {
    bound: HashMap<u32, Weak<Single>>,
    /// Windows that the peer has revoked, to be freed.
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

    /// Records that the peer has revoked a window. Returns whether it was bound.
    pub fn note_revoked(&mut self, key: u32) -> bool {
        let Some(window) = self.bound.remove(&key) else { return false };
        self.revoked.push((key, window));
        true
    }
}

impl Qp {
    /// Frees the objects of completed binds, and reports the binds to core. Called without a lock.
    pub fn finish_binds(&self) {
        loop {
            let bound = self.sends.lock().take_completed_bind();
            if bound.is_none() {
                return;
            }
            drop(bound);
            let finished = self.sends.lock().bind_freed();
            if let Some(finished) = finished {
                self.requests_done(finished);
            }
        }
    }

    /// Returns whether revoked windows, or objects of completed binds, wait to be freed.
    pub fn has_unused(&self) -> bool {
        !self.singles.lock().revoked.is_empty() || self.sends.lock().has_completed_bind()
    }

    /// Frees revoked windows. Called without a lock.
    pub fn free_revoked(&self) {
        // `pop` keeps the capacity, because `note_revoked` adds entries where it cannot allocate.
        let next = || self.singles.lock().revoked.pop();
        while let Some((key, window)) = next() {
            self.free_binding(key, &window);
        }
    }

    /// Ends all bindings to this queue pair before it is destroyed. The work queues must be closed.
    pub fn end_binds(&self) {
        let binds = self.sends.lock().take_binds();
        drop(binds);
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
