//! Tests of the table from both sides.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::os::user::copy;

const ALL: Rights = Rights::all();

fn table() -> (RegionTable, PeerRegions) {
    let table = RegionTable::new().expect("table");
    let peer = PeerRegions::open(table.file.fd().try_clone_to_owned().expect("dup")).expect("peer");
    (table, peer)
}

/// A region in which peers count addresses.
fn region(addr: u64, len: u64, rights: Rights, zone: u32) -> NewRow {
    NewRow { addr, len, first: addr, rights, users: Users::of_zone(zone), window: false }
}

/// Enters a range that nobody looks at.
fn enter(table: &RegionTable, addr: u64, len: u64, rights: Rights, zone: u32) -> Option<u32> {
    insert(table, &region(addr, len, rights, zone))
}

/// Enters a range that nobody looks at.
fn insert(table: &RegionTable, entry: &NewRow) -> Option<u32> {
    // SAFETY: the tests that use this make no copies.
    unsafe { table.insert(entry) }
}

/// What a peer finds on a connection to an end of the zone `zone`, where peers count addresses.
fn check(peer: &PeerRegions, key: u32, addr: u64, len: u64, wanted: Rights, zone: u32) -> Result<(), RemoteFault> {
    peer.locate(key, addr, len, wanted, &Party::new(zone, 1)).map(|found| assert_eq!(found, addr))
}

/// Whether `key` names a region now.
fn is_live(table: &RegionTable, key: u32) -> bool {
    table.pin(key).is_some()
}

#[test]
fn peers_see_what_the_owner_entered() {
    let (table, peer) = table();
    let key = enter(&table, 1000, 100, Rights::REMOTE_READ, 7).expect("row");
    let check = |addr, len, wanted, zone| check(&peer, key, addr, len, wanted, zone);
    assert_eq!(check(1000, 100, Rights::REMOTE_READ, 7), Ok(()));
    assert_eq!(check(1100, 0, Rights::REMOTE_READ, 7), Ok(()));
    assert_eq!(check(1000, 101, Rights::REMOTE_READ, 7), Err(RemoteFault::Bounds));
    assert_eq!(check(999, 1, Rights::REMOTE_READ, 7), Err(RemoteFault::Bounds));
    assert_eq!(check(1101, 0, Rights::REMOTE_READ, 7), Err(RemoteFault::Bounds));
    assert_eq!(check(1001, u64::MAX, Rights::REMOTE_READ, 7), Err(RemoteFault::Bounds));
    assert_eq!(check(u64::MAX, 2, Rights::REMOTE_READ, 7), Err(RemoteFault::Bounds));
    assert_eq!(check(1000, 1, Rights::REMOTE_WRITE, 7), Err(RemoteFault::Rights));
    assert_eq!(check(1000, 1, Rights::REMOTE_READ, 8), Err(RemoteFault::Users));
    assert!(table.remove(key));
    assert_eq!(check(1000, 1, Rights::REMOTE_READ, 7), Err(RemoteFault::Key));
}

#[test]
fn keys_that_name_nothing_are_refused() {
    let (table, peer) = table();
    let key = enter(&table, 0, 10, ALL, 1).expect("row");
    for bad in [0, 1, key + 1, key ^ (1 << INDEX_BITS), u32::MAX, ROWS as u32 - 1] {
        assert_eq!(check(&peer, bad, 0, 1, Rights::NONE, 1), Err(RemoteFault::Key), "{bad:x}");
        assert!(table.pin(bad).is_none(), "{bad:x}");
        assert!(!table.remove(bad), "{bad:x}");
        assert!(!is_live(&table, bad), "{bad:x}");
    }
    assert!(is_live(&table, key));
    assert!(table.remove(key));
    assert!(!table.remove(key));
    assert!(table.pin(key).is_none());
}

#[test]
fn ranges_beyond_the_address_space_are_refused() {
    let (table, _) = table();
    assert_eq!(enter(&table, u64::MAX, 2, ALL, 1), None);
    assert_eq!(insert(&table, &NewRow { first: u64::MAX, ..region(0, 2, ALL, 1) }), None);
    assert!(enter(&table, u64::MAX, 0, ALL, 1).is_some());
}

#[test]
fn a_key_does_not_come_back_soon() {
    let (table, _) = table();
    let mut seen = HashSet::new();
    for _ in 0..100_000 {
        let key = enter(&table, 0, 1, ALL, 1).expect("row");
        assert!(key != 0 && seen.insert(key));
        assert!(table.remove(key));
    }
    let rows: HashSet<u32> = seen.iter().map(|key| key & (ROWS as u32 - 1)).collect();
    assert!(rows.len() <= REST + 1, "memory stays small");
}

#[test]
fn generations_go_around_without_0() {
    let (table, _) = table();
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
    let (table, peer) = table();
    let keys: Vec<u32> = (0..ROWS as u64).map(|i| enter(&table, i, 1, ALL, 1).expect("row")).collect();
    assert_eq!(enter(&table, 0, 1, ALL, 1), None);
    for (i, &key) in keys.iter().enumerate() {
        assert_eq!(check(&peer, key, i as u64, 1, ALL, 1), Ok(()));
    }
    assert!(table.remove(keys[12_345]));
    let key = enter(&table, 5, 5, ALL, 1).expect("the row that was removed");
    assert!(!keys.contains(&key));
    assert_eq!(enter(&table, 0, 1, ALL, 1), None);
}

#[test]
fn pins_give_memory_inside_the_region_alone() {
    let (table, _) = table();
    let mut memory = *b"0123456789";
    let base = memory.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: `memory` lives longer than the table is used.
    let key = unsafe { table.insert(&region(base + 2, 6, Rights::LOCAL_WRITE | Rights::REMOTE_READ, 3)) }.expect("row");
    let pin = table.pin(key).expect("live");
    assert_eq!((pin.zone(), pin.rights()), (Some(3), Rights::LOCAL_WRITE | Rights::REMOTE_READ));
    let mut out = [0; 6];
    let source = pin.source(base + 2, 6, Rights::NONE).expect("inside");
    assert_eq!(copy(Target::of(&mut out), source), 6);
    assert_eq!(&out, b"234567");
    let target = pin.target(base + 7, 1, Rights::LOCAL_WRITE).expect("inside");
    copy(target, Source::of(b"x"));
    copy(Target::of(&mut out), source);
    assert_eq!(&out, b"23456x");
    assert_eq!(pin.source(base + 1, 2, Rights::NONE).err(), Some(RemoteFault::Bounds));
    assert_eq!(pin.source(base + 2, 2, Rights::LOCAL_READ).err(), Some(RemoteFault::Rights));
    assert_eq!(pin.target(base + 7, 2, Rights::LOCAL_WRITE).err(), Some(RemoteFault::Bounds));
    assert_eq!(pin.target(base + 2, 1, Rights::REMOTE_WRITE).err(), Some(RemoteFault::Rights));
    assert_eq!(pin.target(base + 2, 1, Rights::NONE).err(), Some(RemoteFault::Rights));
}

#[test]
fn removal_waits_for_pins() {
    let (table, peer) = table();
    let key = enter(&table, 0, 1, ALL, 1).expect("row");
    let pins = [table.pin(key).expect("live"), table.pin(key).expect("live")];
    let removed = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(table.remove(key));
            removed.store(true, Ordering::SeqCst);
        });
        // From the moment on that the removal has begun nobody else gets in.
        let deadline = Instant::now() + Duration::from_secs(10);
        while is_live(&table, key) || check(&peer, key, 0, 1, ALL, 1).is_ok() {
            assert!(Instant::now() < deadline);
            thread::yield_now();
        }
        assert!(table.pin(key).is_none());
        let [first, second] = pins;
        drop(first);
        assert!(!removed.load(Ordering::SeqCst));
        drop(second);
    });
    assert!(removed.load(Ordering::SeqCst));
}

#[test]
fn pins_and_removals_race() {
    let (table, _) = table();
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
                if round.is_multiple_of(8) {
                    thread::yield_now();
                }
                assert!(table.remove(key));
                // Nobody is in there any more, so nobody can find this.
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
                    if let Some(pin) = table.pin(key) {
                        assert_eq!(memory.load(Ordering::Relaxed), 1);
                        assert_eq!(pin.check(addr, 8, ALL), Ok(()));
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
fn peers_never_see_a_mixture() {
    let (table, peer) = table();
    // One row, so that it is used over and over.
    table.free.lock().fresh = ROWS as u32 - 1;
    let latest = AtomicU32::new(0);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // As many rounds as there are generations: every key is new.
            for round in 1..GENERATIONS {
                let (addr, len) = (u64::from(round) << 20, u64::from(round));
                let entry = NewRow { first: u64::from(round) << 40, ..region(addr, len, ALL, round) };
                let key = insert(&table, &entry).expect("row");
                latest.store(key, Ordering::Release);
                assert!(table.remove(key));
                if round.is_multiple_of(64) {
                    thread::yield_now();
                }
            }
            stop.store(true, Ordering::Release);
        });
        while !stop.load(Ordering::Acquire) {
            let key = latest.load(Ordering::Acquire);
            let round = key >> INDEX_BITS;
            match peer.locate(key, u64::from(round) << 40, round.into(), ALL, &Party::new(round, 1)) {
                Ok(addr) => assert_eq!(addr, u64::from(round) << 20),
                Err(RemoteFault::Key) => {}
                Err(fault) => panic!("{fault:?} for generation {round}"),
            }
        }
    });
}

#[test]
fn peers_count_as_the_row_says_and_the_owner_counts_addresses() {
    let (table, peer) = table();
    let mut memory = *b"0123456789";
    let base = memory.as_mut_ptr().expose_provenance() as u64;
    let entry = NewRow { first: 0, ..region(base + 2, 6, Rights::REMOTE_READ | Rights::REMOTE_WRITE, 3) };
    // SAFETY: `memory` lives longer than the table is used.
    let key = unsafe { table.insert(&entry) }.expect("row");
    let end = Party::new(3, 1);
    let wanted = Rights::REMOTE_WRITE;
    assert_eq!(peer.locate(key, 0, 6, wanted, &end), Ok(base + 2));
    assert_eq!(peer.locate(key, 5, 1, wanted, &end), Ok(base + 7));
    assert_eq!(peer.locate(key, 6, 0, wanted, &end), Ok(base + 8));
    assert_eq!(peer.address(key, 4), base + 6);
    for (addr, len) in [(6, 1), (0, 7), (base + 2, 1), (u64::MAX, 1), (u64::MAX, 2)] {
        assert_eq!(peer.locate(key, addr, len, wanted, &end), Err(RemoteFault::Bounds), "{addr:#x}+{len}");
        assert_eq!(table.grant(key, addr, len, wanted, &end).err(), Some(RemoteFault::Bounds), "{addr:#x}+{len}");
    }
    let granted = table.grant(key, 1, 4, wanted, &end).expect("inside");
    assert_eq!(granted.addr(), base + 3);
    let mut out = [0; 8];
    assert_eq!(copy(Target::of(&mut out), granted.source(1, 2)), 2);
    assert_eq!(&out[..2], b"45");
    assert_eq!(copy(Target::of(&mut out), granted.source(3, u64::MAX)), 1, "the range ends");
    assert!(granted.source(5, 1).is_empty() && granted.target(4, 1).is_empty());
    copy(granted.target(3, 9), Source::of(b"xyz"));
    assert!(table.grant(key, 0, 1, Rights::REMOTE_READ, &end).expect("inside").target(0, 1).is_empty());
    let pin = table.pin(key).expect("live");
    assert_eq!((pin.number_of(base + 2), pin.number_of(base + 7)), (0, 5));
    assert_eq!(pin.check(base + 2, 6, wanted), Ok(()));
    assert_eq!(pin.check(0, 1, wanted), Err(RemoteFault::Bounds));
    drop((pin, granted));
    assert_eq!(&memory, b"012345x789");
}

#[test]
fn a_row_can_be_open_to_one_connection() {
    let (table, peer) = table();
    let (zone, port) = (3, 1 << 40);
    let users = Users::of_connection(port);
    let key = insert(&table, &NewRow { users, window: true, ..region(64, 8, ALL, zone) }).expect("row");
    for (end, open) in
        [(Party::new(zone, port), true), (Party::new(zone, port + 1), false), (Party::new(zone, 0), false)]
    {
        assert_eq!(peer.locate(key, 64, 8, ALL, &end).ok(), open.then_some(64), "{end:?}");
        assert_eq!(table.grant(key, 64, 8, ALL, &end).is_ok(), open, "{end:?}");
    }
    assert_eq!(table.pin(key).expect("live").zone(), None);
    let late = Party::new(0, 0);
    assert_eq!(peer.locate(key, 64, 8, ALL, &late), Err(RemoteFault::Users));
    late.set(zone, port);
    assert_eq!(peer.locate(key, 64, 8, ALL, &late), Ok(64));
}

#[test]
fn peers_invalidate_windows_that_are_open_to_them_and_nothing_else() {
    let (table, peer) = table();
    let (zone, port) = (3, 77);
    let region = region(64, 8, ALL, zone);
    let users = Users::of_connection(port);
    let whole = insert(&table, &region).expect("row");
    let [of_zone, of_one] =
        [region.users, users].map(|users| insert(&table, &NewRow { users, window: true, ..region }).expect("row"));
    let [here, elsewhere] = [Party::new(zone, port), Party::new(zone + 1, port + 1)];
    let next = Party::new(zone, port + 1);
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
        assert_eq!(peer.locate(key, 64, 8, ALL, &here), Err(RemoteFault::Key));
        assert!(table.remove(key) && !table.remove(key), "it is the window's until then");
    }
    assert!(is_live(&table, whole));
}

#[test]
fn invalidation_and_removal_of_a_window_both_wait_for_pins() {
    let (table, _) = table();
    let window = NewRow { window: true, ..region(0, 1, ALL, 1) };
    let end = Party::new(1, 1);
    for _ in 0..200 {
        let key = insert(&table, &window).expect("row");
        let pin = table.pin(key).expect("live");
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
            drop(pin);
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
