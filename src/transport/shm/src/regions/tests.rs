use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dat_core::Rights;
use dat_software::regions::{AccessContext, NewRow, RemoteFault, Users, split_key};

use super::*;

const ALL: Rights = Rights::all();

fn peer_of(file: &SharedFile) -> PeerRegions {
    PeerRegions::open(file.fd().try_clone_to_owned().expect("dup")).expect("peer")
}

fn table() -> (RegionTable, PeerRegions) {
    let (file, table) = publish().expect("table");
    (table, peer_of(&file))
}

fn region(addr: u64, len: u64, rights: Rights, zone: u32) -> NewRow {
    NewRow { addr, len, first: addr, rights, users: Users::of_zone(zone), window: false }
}

fn enter(table: &RegionTable, addr: u64, len: u64, rights: Rights, zone: u32) -> Option<u32> {
    insert(table, &region(addr, len, rights, zone))
}

fn insert(table: &RegionTable, entry: &NewRow) -> Option<u32> {
    // SAFETY: the tests that use this make no copies.
    unsafe { table.insert(entry) }
}

fn check(peer: &PeerRegions, key: u32, addr: u64, len: u64, wanted: Rights, zone: u32) -> Result<(), RemoteFault> {
    peer.locate(key, addr, len, wanted, &AccessContext::new(zone, 1)).map(|found| assert_eq!(found, addr))
}

#[test]
fn grants_peers_registered_rows() {
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
fn rejects_unknown_keys() {
    let (table, peer) = table();
    let key = enter(&table, 0, 10, ALL, 1).expect("row");
    for bad in [0, 1, key + 1, key ^ (ROWS as u32), u32::MAX, ROWS as u32 - 1] {
        assert_eq!(check(&peer, bad, 0, 1, Rights::NONE, 1), Err(RemoteFault::Key), "{bad:x}");
    }
    assert_eq!(check(&peer, key, 0, 1, Rights::NONE, 1), Ok(()));
}

#[test]
fn publishes_all_rows() {
    let (table, peer) = table();
    let keys: Vec<u32> = (0..ROWS as u64).map(|i| enter(&table, i, 1, ALL, 1).expect("row")).collect();
    assert_eq!(enter(&table, 0, 1, ALL, 1), None);
    for (i, &key) in keys.iter().enumerate() {
        assert_eq!(check(&peer, key, i as u64, 1, ALL, 1), Ok(()));
    }
}

#[test]
fn hides_row_during_removal() {
    let (table, peer) = table();
    let key = enter(&table, 0, 1, ALL, 1).expect("row");
    let region_ref = table.acquire(key).expect("live");
    thread::scope(|scope| {
        let removal = scope.spawn(|| table.remove(key));
        let deadline = Instant::now() + Duration::from_secs(10);
        while check(&peer, key, 0, 1, ALL, 1).is_ok() {
            assert!(Instant::now() < deadline);
            thread::yield_now();
        }
        assert!(!removal.is_finished());
        drop(region_ref);
        assert!(removal.join().expect("no panic"));
    });
}

#[test]
fn peers_never_mix_generations() {
    // The table has one row, so that each registration reuses it.
    let (file, memory) = SharedMemory::create("test", FIRST, Access::ReadOnly).expect("memory");
    let table = RegionTable::new(Some(Box::new(Published(memory))), 1);
    let peer = peer_of(&file);
    let latest = AtomicU32::new(0);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // As many rounds as generations, so each key is new.
            for round in 1..u32::MAX / ROWS as u32 {
                let (addr, len) = (u64::from(round) << 20, u64::from(round));
                let entry = NewRow { first: u64::from(round) << 40, ..region(addr, len, ALL, round) };
                let key = insert(&table, &entry).expect("row");
                latest.store(key, Ordering::Release);
                assert!(table.remove(key));
                if round % 64 == 0 {
                    thread::yield_now();
                }
            }
            stop.store(true, Ordering::Release);
        });
        while !stop.load(Ordering::Acquire) {
            let key = latest.load(Ordering::Acquire);
            let (_, round) = split_key(key);
            match peer.locate(key, u64::from(round) << 40, round.into(), ALL, &AccessContext::new(round, 1)) {
                Ok(addr) => assert_eq!(addr, u64::from(round) << 20),
                Err(RemoteFault::Key) => {}
                Err(fault) => panic!("{fault:?} for generation {round}"),
            }
        }
    });
}

#[test]
fn uses_offsets_of_row() {
    let (table, peer) = table();
    let base = 1 << 20;
    let entry = NewRow { first: 0, ..region(base + 2, 6, Rights::REMOTE_READ | Rights::REMOTE_WRITE, 3) };
    let key = insert(&table, &entry).expect("row");
    let end = AccessContext::new(3, 1);
    let wanted = Rights::REMOTE_WRITE;
    assert_eq!(peer.locate(key, 0, 6, wanted, &end), Ok(base + 2));
    assert_eq!(peer.locate(key, 5, 1, wanted, &end), Ok(base + 7));
    assert_eq!(peer.locate(key, 6, 0, wanted, &end), Ok(base + 8));
    assert_eq!(peer.address(key, 4), base + 6);
    for (addr, len) in [(6, 1), (0, 7), (base + 2, 1), (u64::MAX, 1), (u64::MAX, 2)] {
        assert_eq!(peer.locate(key, addr, len, wanted, &end), Err(RemoteFault::Bounds), "{addr:#x}+{len}");
    }
}

#[test]
fn restricts_row_to_connection() {
    let (table, peer) = table();
    let (zone, port) = (3, 1 << 40);
    let users = Users::of_connection(port);
    let key = insert(&table, &NewRow { users, window: true, ..region(64, 8, ALL, zone) }).expect("row");
    for (end, open) in [
        (AccessContext::new(zone, port), true),
        (AccessContext::new(zone, port + 1), false),
        (AccessContext::new(zone, 0), false),
    ] {
        assert_eq!(peer.locate(key, 64, 8, ALL, &end).ok(), open.then_some(64), "{end:?}");
    }
    let late = AccessContext::new(0, 0);
    assert_eq!(peer.locate(key, 64, 8, ALL, &late), Err(RemoteFault::Users));
    late.set(zone, port);
    assert_eq!(peer.locate(key, 64, 8, ALL, &late), Ok(64));
}

#[test]
fn hides_invalidated_window() {
    let (table, peer) = table();
    let end = AccessContext::new(3, 77);
    for users in [Users::of_zone(3), Users::of_connection(77)] {
        let key = insert(&table, &NewRow { users, window: true, ..region(64, 8, ALL, 3) }).expect("row");
        assert_eq!(peer.locate(key, 64, 8, ALL, &end), Ok(64));
        assert_eq!(table.invalidate(key, &end), Some(users));
        assert_eq!(peer.locate(key, 64, 8, ALL, &end), Err(RemoteFault::Key));
        assert!(table.remove(key));
    }
}
