use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use dat_core::transport::RemoteSegment;

use super::*;
use crate::user::copy;

const ALL: Rights = Rights::all();

#[derive(Default)]
struct Rows([Row; 2]);

impl Mirror for Arc<Rows> {
    fn row(&self, index: usize) -> Option<&Row> {
        self.0.get(index)
    }
}

fn table() -> RegionTable {
    RegionTable::new(None, ROWS as u32)
}

fn region(addr: u64, len: u64, rights: Rights, zone: u32) -> NewRow {
    NewRow { addr, len, first: addr, rights, users: Users::of_zone(zone), window: false }
}

fn enter(table: &RegionTable, addr: u64, len: u64, rights: Rights, zone: u32) -> Option<u32> {
    insert(table, &region(addr, len, rights, zone))
}

fn insert(table: &RegionTable, entry: &NewRow) -> Option<u32> {
    // SAFETY: the callers make no copies.
    unsafe { table.insert(entry) }
}

fn at(key: u32, addr: u64, len: u64) -> RemoteSegment {
    RemoteSegment { addr, len, key }
}

/// Returns what the owner grants to a peer whose connection has its end in `zone`.
fn check(table: &RegionTable, key: u32, addr: u64, len: u64, wanted: Rights, zone: u32) -> Result<(), RemoteFault> {
    table.grant(&at(key, addr, len), wanted, &AccessContext::new(zone, 1)).map(|found| assert_eq!(found.addr(), addr))
}

fn is_live(table: &RegionTable, key: u32) -> bool {
    table.acquire(key).is_some()
}

#[test]
fn a_mirror_says_what_the_owner_entered() {
    let rows = Arc::new(Rows::default());
    let table = RegionTable::new(Some(Box::new(rows.clone())), 2);
    let entry = NewRow { first: 5, ..region(1000, 100, Rights::REMOTE_READ, 7) };
    let key = insert(&table, &entry).expect("row");
    let row = &rows.0[split_key(key).0];
    let words = [&row.users, &row.first, &row.len, &row.addr].map(|word| word.load(Ordering::Relaxed));
    assert_eq!(words, [entry.users.0, 5, 100, 1000]);
    assert_eq!(row.rights.load(Ordering::Relaxed), Rights::REMOTE_READ.bits().into());
    assert_eq!(row.generation.load(Ordering::Relaxed), split_key(key).1);
    assert!(table.remove(key));
    assert_eq!(row.generation.load(Ordering::Relaxed), 0);
}

#[test]
fn a_table_has_as_many_rows_as_it_was_made_with() {
    let table = RegionTable::new(None, 3);
    let keys: Vec<u32> = (0..3).filter_map(|i| enter(&table, i, 1, ALL, 1)).collect();
    assert!(keys.len() == 3 && table.is_full() && enter(&table, 0, 1, ALL, 1).is_none());
    assert!(table.remove(keys[1]));
    assert!(enter(&table, 0, 1, ALL, 1).is_some_and(|key| split_key(key).0 == 1));
}

#[test]
fn keys_that_name_nothing_are_refused() {
    let table = table();
    let key = enter(&table, 0, 10, ALL, 1).expect("row");
    for bad in [0, 1, key + 1, key ^ (1 << INDEX_BITS), u32::MAX, ROWS as u32 - 1] {
        assert_eq!(check(&table, bad, 0, 1, Rights::NONE, 1), Err(RemoteFault::Key), "{bad:x}");
        assert!(table.acquire(bad).is_none(), "{bad:x}");
        assert!(!table.remove(bad), "{bad:x}");
        assert!(!is_live(&table, bad), "{bad:x}");
    }
    assert!(is_live(&table, key));
    assert!(table.remove(key));
    assert!(!table.remove(key));
    assert!(table.acquire(key).is_none());
}

#[test]
fn ranges_beyond_the_address_space_are_refused() {
    let table = table();
    assert_eq!(enter(&table, u64::MAX, 2, ALL, 1), None);
    assert_eq!(insert(&table, &NewRow { first: u64::MAX, ..region(0, 2, ALL, 1) }), None);
    assert!(enter(&table, u64::MAX, 0, ALL, 1).is_some());
}

#[test]
fn a_key_does_not_come_back_soon() {
    let table = table();
    let mut seen = HashSet::new();
    for _ in 0..100_000 {
        let key = enter(&table, 0, 1, ALL, 1).expect("row");
        assert!(key != 0 && seen.insert(key));
        assert!(table.remove(key));
    }
    let rows: HashSet<u32> = seen.iter().map(|key| key & (ROWS as u32 - 1)).collect();
    assert!(rows.len() <= QUARANTINE + 1, "memory stays small");
}

#[test]
fn generations_go_around_without_0() {
    let table = table();
    table.free.lock().fresh = ROWS as u32 - 1;
    let mut keys = HashSet::new();
    for _ in 1..GENERATIONS {
        let key = enter(&table, 0, 1, ALL, 1).expect("the one row");
        assert!(key >> INDEX_BITS != 0 && keys.insert(key));
        assert!(table.remove(key));
    }
    assert!(keys.contains(&enter(&table, 0, 1, ALL, 1).expect("the one row")));
}

#[test]
fn all_rows_can_be_used_and_no_more() {
    let table = table();
    let keys: Vec<u32> = (0..ROWS as u64).map(|i| enter(&table, i, 1, ALL, 1).expect("row")).collect();
    assert_eq!(enter(&table, 0, 1, ALL, 1), None);
    for (i, &key) in keys.iter().enumerate() {
        assert_eq!(check(&table, key, i as u64, 1, ALL, 1), Ok(()));
    }
    assert!(table.remove(keys[12_345]));
    let key = enter(&table, 5, 5, ALL, 1).expect("the row that was removed");
    assert!(!keys.contains(&key));
    assert_eq!(enter(&table, 0, 1, ALL, 1), None);
}

#[test]
fn pins_give_memory_inside_the_region_alone() {
    let table = table();
    let mut memory = *b"0123456789";
    let base = memory.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: `memory` lives longer than the table is used.
    let key = unsafe { table.insert(&region(base + 2, 6, Rights::LOCAL_WRITE | Rights::REMOTE_READ, 3)) }.expect("row");
    let region_ref = table.acquire(key).expect("live");
    assert_eq!((region_ref.zone(), region_ref.rights()), (Some(3), Rights::LOCAL_WRITE | Rights::REMOTE_READ));
    let mut out = [0; 6];
    let source = region_ref.source(base + 2, 6).expect("inside");
    assert_eq!(copy(Target::of(&mut out), source), 6);
    assert_eq!(&out, b"234567");
    let target = region_ref.target(base + 7, 1).expect("inside");
    copy(target, Source::of(b"x"));
    copy(Target::of(&mut out), source);
    assert_eq!(&out, b"23456x");
    assert_eq!(region_ref.source(base + 1, 2).err(), Some(RemoteFault::Bounds));
    assert_eq!(region_ref.target(base + 7, 2).err(), Some(RemoteFault::Bounds));
    // SAFETY: `memory` lives longer than the table is used.
    let readable = unsafe { table.insert(&region(base + 2, 6, Rights::LOCAL_READ, 3)) }.expect("row");
    assert_eq!(table.acquire(readable).expect("live").target(base + 2, 1).err(), Some(RemoteFault::Rights));
}

#[test]
fn removal_waits_for_counted_references() {
    let table = table();
    let key = insert(&table, &region(0, 1, ALL, 1)).expect("row");
    let [first, second] = [(); 2].map(|()| table.acquire_counted(key).expect("row"));
    let removed = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(table.remove(key));
            removed.store(true, Ordering::SeqCst);
        });
        let deadline = Instant::now() + Duration::from_secs(10);
        while table.acquire(key).is_some() {
            assert!(Instant::now() < deadline);
            thread::yield_now();
        }
        assert!(table.acquire_counted(key).is_none(), "there are no new references");
        drop(first);
        assert!(!removed.load(Ordering::SeqCst));
        drop(second);
    });
    assert!(removed.load(Ordering::SeqCst));
    let next = insert(&table, &region(0, 1, ALL, 1)).expect("row");
    assert!(table.remove(next));
}

#[test]
fn removal_waits_for_pins() {
    let rows = Arc::new(Rows::default());
    let table = RegionTable::new(Some(Box::new(rows.clone())), 2);
    let key = insert(&table, &region(0, 1, ALL, 1)).expect("row");
    let region_refs = [table.acquire(key).expect("live"), table.acquire(key).expect("live")];
    assert_eq!(rows.0[0].generation.load(Ordering::Relaxed), 1, "peers see it");
    let removed = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(table.remove(key));
            removed.store(true, Ordering::SeqCst);
        });
        let deadline = Instant::now() + Duration::from_secs(10);
        while table.acquire(key).is_some() || rows.0[0].generation.load(Ordering::Relaxed) != 0 {
            assert!(Instant::now() < deadline);
            thread::yield_now();
        }
        assert!(table.acquire(key).is_none());
        let [first, second] = region_refs;
        drop(first);
        assert!(!removed.load(Ordering::SeqCst));
        drop(second);
    });
    assert!(removed.load(Ordering::SeqCst));
}

#[test]
fn pins_and_removals_race() {
    let table = table();
    let rounds = 20_000_u32;
    let latest = AtomicU32::new(0);
    let memory = AtomicU64::new(0);
    let addr = (&raw const memory).expose_provenance() as u64;
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..rounds {
                // SAFETY: `memory` lives until the scope ends and is only seen as an atomic.
                let key = unsafe { table.insert(&region(addr, 8, ALL, round)) }.expect("row");
                memory.store(1, Ordering::Relaxed);
                latest.store(key, Ordering::Release);
                if round % 8 == 0 {
                    thread::yield_now();
                }
                assert!(table.remove(key));
                memory.store(0, Ordering::Relaxed);
            }
            latest.store(u32::MAX, Ordering::Release);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let key = latest.load(Ordering::Acquire);
                    if key == u32::MAX {
                        break;
                    }
                    if let Some(region_ref) = table.acquire(key) {
                        assert_eq!(memory.load(Ordering::Relaxed), 1);
                        assert_eq!(region_ref.check(addr, 8, ALL), Ok(()));
                        assert_eq!(memory.load(Ordering::Relaxed), 1);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    for chunk in &table.chunks {
        assert!(chunk.get().is_none_or(|rows| rows.iter().all(|row| row.state.load(Ordering::Relaxed) == 0)));
    }
}

#[test]
fn peers_count_as_the_row_says_and_the_owner_counts_addresses() {
    let table = table();
    let mut memory = *b"0123456789";
    let base = memory.as_mut_ptr().expose_provenance() as u64;
    let entry = NewRow { first: 0, ..region(base + 2, 6, Rights::REMOTE_READ | Rights::REMOTE_WRITE, 3) };
    // SAFETY: `memory` lives longer than the table is used.
    let key = unsafe { table.insert(&entry) }.expect("row");
    let end = AccessContext::new(3, 1);
    let wanted = Rights::REMOTE_WRITE;
    for (addr, len, found) in [(0, 6, base + 2), (5, 1, base + 7), (6, 0, base + 8)] {
        assert_eq!(table.grant(&at(key, addr, len), wanted, &end).map(|granted| granted.addr()), Ok(found));
    }
    for (addr, len) in [(6, 1), (0, 7), (base + 2, 1), (u64::MAX, 1), (u64::MAX, 2)] {
        assert_eq!(table.grant(&at(key, addr, len), wanted, &end).err(), Some(RemoteFault::Bounds), "{addr:#x}+{len}");
    }
    let granted = table.grant(&at(key, 1, 4), wanted, &end).expect("inside");
    assert_eq!(granted.addr(), base + 3);
    let mut out = [0; 8];
    assert_eq!(copy(Target::of(&mut out), granted.source(1, 2)), 2);
    assert_eq!(&out[..2], b"45");
    assert_eq!(copy(Target::of(&mut out), granted.source(3, u64::MAX)), 1, "the range ends");
    assert!(granted.source(5, 1).is_empty() && granted.target(4, 1).is_empty());
    copy(granted.target(3, 9), Source::of(b"xyz"));
    assert!(table.grant(&at(key, 0, 1), Rights::REMOTE_READ, &end).expect("inside").target(0, 1).is_empty());
    let region_ref = table.acquire(key).expect("live");
    assert_eq!((region_ref.number_of(base + 2), region_ref.number_of(base + 7)), (0, 5));
    assert_eq!(region_ref.check(base + 2, 6, wanted), Ok(()));
    assert_eq!(region_ref.check(0, 1, wanted), Err(RemoteFault::Bounds));
    drop((region_ref, granted));
    assert_eq!(&memory, b"012345x789");
}

#[test]
fn a_row_can_be_open_to_one_connection() {
    let table = table();
    let (zone, port) = (3, 1 << 40);
    let users = Users::of_connection(port);
    let key = insert(&table, &NewRow { users, window: true, ..region(64, 8, ALL, zone) }).expect("row");
    for (end, open) in [
        (AccessContext::new(zone, port), true),
        (AccessContext::new(zone, port + 1), false),
        (AccessContext::new(zone, 0), false),
    ] {
        let granted = table.grant(&at(key, 64, 8), ALL, &end).ok();
        assert_eq!(granted.map(|granted| granted.addr()), open.then_some(64), "{end:?}");
    }
    assert_eq!(table.acquire(key).expect("live").zone(), None);
    let late = AccessContext::new(0, 0);
    assert_eq!(table.grant(&at(key, 64, 8), ALL, &late).err(), Some(RemoteFault::Users));
    late.set(zone, port);
    assert!(table.grant(&at(key, 64, 8), ALL, &late).is_ok());
}

#[test]
fn peers_invalidate_windows_that_are_open_to_them_and_nothing_else() {
    let table = table();
    let (zone, port) = (3, 77);
    let region = region(64, 8, ALL, zone);
    let users = Users::of_connection(port);
    let whole = insert(&table, &region).expect("row");
    let [of_zone, of_one] =
        [region.users, users].map(|users| insert(&table, &NewRow { users, window: true, ..region }).expect("row"));
    let [here, elsewhere] = [AccessContext::new(zone, port), AccessContext::new(zone + 1, port + 1)];
    let next = AccessContext::new(zone, port + 1);
    assert_eq!(table.invalidate(whole, &here), None, "no window");
    for key in [of_zone, of_one, 0, u32::MAX] {
        assert_eq!(table.may_invalidate(key, &elsewhere).or(table.invalidate(key, &elsewhere)), None, "{key:x}");
    }
    assert_eq!(table.may_invalidate(of_one, &next).or(table.invalidate(of_one, &next)), None);
    assert_eq!(table.may_invalidate(of_zone, &next), Some(region.users));
    assert_eq!(table.may_invalidate(of_one, &here), Some(users));
    assert!(is_live(&table, of_zone) && is_live(&table, of_one));
    assert_eq!(table.invalidate(of_zone, &next), Some(region.users), "it is known who may still use it");
    assert_eq!(table.invalidate(of_one, &here), Some(users));
    for key in [of_zone, of_one] {
        assert!(table.invalidate(key, &here).is_none() && !is_live(&table, key));
        assert_eq!(table.grant(&at(key, 64, 8), ALL, &here).err(), Some(RemoteFault::Key));
        assert!(table.remove(key) && !table.remove(key), "it is the window's until then");
    }
    assert!(is_live(&table, whole));
}

#[test]
fn invalidation_and_removal_of_a_window_both_wait_for_pins() {
    let table = table();
    let window = NewRow { window: true, ..region(0, 1, ALL, 1) };
    let end = AccessContext::new(1, 1);
    for _ in 0..200 {
        let key = insert(&table, &window).expect("row");
        let region_ref = table.acquire(key).expect("live");
        let over = AtomicU32::new(0);
        thread::scope(|scope| {
            let revoked = scope.spawn(|| {
                let revoked = table.invalidate(key, &end).is_some();
                over.fetch_add(u32::from(revoked), Ordering::SeqCst);
                revoked
            });
            scope.spawn(|| {
                assert!(table.remove(key), "whichever comes first");
                over.fetch_add(1, Ordering::SeqCst);
            });
            let deadline = Instant::now() + Duration::from_secs(10);
            while is_live(&table, key) {
                assert!(Instant::now() < deadline);
            }
            thread::yield_now();
            assert_eq!(over.load(Ordering::SeqCst), 0, "the memory is in use");
            drop(region_ref);
            let revoked = revoked.join().expect("no panic");
            while over.load(Ordering::SeqCst) != 1 + u32::from(revoked) {
                assert!(Instant::now() < deadline, "a thread waits for ever");
                thread::yield_now();
            }
        });
    }
    for chunk in &table.chunks {
        assert!(chunk.get().is_none_or(|rows| rows.iter().all(|row| row.state.load(Ordering::Relaxed) == 0)));
    }
}
