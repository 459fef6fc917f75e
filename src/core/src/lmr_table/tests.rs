use super::*;

fn registration(addr: u64, len: u64) -> Registration {
    Registration { addr, origin: 0, len, rights: Rights::LOCAL_READ, zone: 3, key: 9, handle: Handle::NULL }
}

#[test]
fn segments_of_a_region_that_counts_from_zero_get_their_addresses() {
    let table = LmrTable::new().unwrap();
    let region = Registration { origin: 5000, ..registration(0, 100) };
    let context = table.insert(&region).unwrap();
    let check = |addr, len, zone, right| table.check(&LocalSegment { context, addr, len }, zone, right);
    assert_eq!(check(0, 100, 3, Rights::LOCAL_READ), Ok(Segment { addr: 5000, len: 100, key: 9, since: 0 }));
    assert_eq!(check(99, 1, 3, Rights::LOCAL_READ), Ok(Segment { addr: 5099, len: 1, key: 9, since: 0 }));
    for (addr, len) in [(0, 101), (100, 1), (5000, 1), (1, u64::MAX), (u64::MAX, 1)] {
        assert_eq!(check(addr, len, 3, Rights::LOCAL_READ), Err(Error::InvalidParameter(Arg::Segments)));
    }
    assert!(matches!(check(0, 1, 4, Rights::LOCAL_READ), Err(Error::ProtectionViolation(_))));
    assert!(matches!(check(0, 1, 3, Rights::LOCAL_WRITE), Err(Error::PrivilegesViolation(_))));
    assert!(table.covers(&LocalSegment { context, addr: 99, len: 1 }));
    assert!(!table.covers(&LocalSegment { context, addr: 5000, len: 1 }));
    table.remove(context);
    assert!(matches!(check(0, 1, 3, Rights::LOCAL_READ), Err(Error::PrivilegesViolation(_))));
}

#[test]
fn a_context_is_that_of_one_table() {
    let tables: Vec<LmrTable> = (0..100).map(|_| LmrTable::new().unwrap()).collect();
    let contexts: Vec<u32> = tables.iter().filter_map(|table| table.insert(&registration(1000, 100))).collect();
    assert_eq!(contexts.len(), tables.len());
    for (at, table) in tables.iter().enumerate() {
        for (of, &context) in contexts.iter().enumerate() {
            let found = table.check(&LocalSegment { context, addr: 1000, len: 1 }, 3, Rights::LOCAL_READ);
            match found {
                Ok(_) => assert_eq!(at, of),
                Err(error) => assert!(at != of && matches!(error, Error::PrivilegesViolation(_))),
            }
        }
    }
}

#[test]
fn rows_are_where_their_index_says() {
    assert_eq!(place(0), (0, 0));
    assert_eq!(place(2047), (0, 2047));
    assert_eq!(place(2048), (1, 0));
    assert_eq!(place(6143), (1, 4095));
    assert_eq!(place(6144), (2, 0));
    assert_eq!(place(LmrTable::CAPACITY as u32 - 1).0, CHUNKS - 1);
    assert_eq!(place(EMPTY & INDEX_MASK).0, CHUNKS, "no row has this context");
}

#[test]
fn segments_are_checked_for_context_zone_right_and_bounds() {
    let table = LmrTable::new().unwrap();
    let context = table.insert(&registration(1000, 100)).unwrap();
    let at = |addr, len| LocalSegment { context, addr, len };
    let check = |s: LocalSegment, zone, right| table.check(&s, zone, right);
    assert_eq!(check(at(1000, 100), 3, Rights::LOCAL_READ), Ok(Segment { addr: 1000, len: 100, key: 9, since: 0 }));
    assert!(check(at(1100, 0), 3, Rights::LOCAL_READ).is_ok());
    for (addr, len) in [(999, 1), (1000, 101), (1100, 1), (1050, u64::MAX), (u64::MAX, 1)] {
        let refused = check(at(addr, len), 3, Rights::LOCAL_READ);
        assert_eq!(refused, Err(Error::InvalidParameter(Arg::Segments)));
    }
    assert!(matches!(check(at(1000, 1), 4, Rights::LOCAL_READ), Err(Error::ProtectionViolation(_))));
    assert!(matches!(check(at(1000, 1), 3, Rights::LOCAL_WRITE), Err(Error::PrivilegesViolation(_))));
    table.remove(context);
    assert!(matches!(check(at(1000, 1), 3, Rights::LOCAL_READ), Err(Error::PrivilegesViolation(_))));
    assert!(table.check(&LocalSegment { context: 0, addr: 0, len: 0 }, 3, Rights::NONE).is_err());
    assert!(table.check(&LocalSegment { context: u32::MAX, addr: 0, len: 0 }, 3, Rights::NONE).is_err());
}

#[test]
fn a_stale_context_is_not_taken_for_a_new_region() {
    let table = LmrTable::new().unwrap();
    let first = table.insert(&registration(1, 1)).unwrap();
    table.remove(first);
    for _ in 0..3000 {
        let next = table.insert(&registration(1, 1)).unwrap();
        assert_ne!(next, first);
        table.remove(next);
    }
}
