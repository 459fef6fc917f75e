use super::*;

const PAGE: usize = 64 << 10;

#[test]
fn memory_is_zeroed_and_writable() {
    let mut space = AddressSpace::reserve(16 * PAGE, PAGE).unwrap();
    assert_eq!(space.committed(), 0);
    for round in 1..=16 {
        space.commit(PAGE).unwrap();
        assert_eq!(space.committed(), round * PAGE);
        let last = ptr::with_exposed_provenance_mut::<u64>(space.start() + round * PAGE - 8);
        // SAFETY: the last word of the memory, which only this test uses.
        let word = unsafe { &mut *last };
        assert_eq!(*word, 0);
        *word = 1;
    }
}

#[test]
fn commit_fails_at_end_of_range() {
    let mut space = AddressSpace::reserve(2 * PAGE, PAGE).unwrap();
    assert_eq!(space.commit(3 * PAGE), Err(NoMemory));
    assert_eq!(space.commit(usize::MAX), Err(NoMemory));
    space.commit(2 * PAGE).unwrap();
    assert_eq!((space.commit(PAGE), space.committed()), (Err(NoMemory), 2 * PAGE));
}

#[test]
fn reservation_halves_until_it_fits() {
    let space = AddressSpace::reserve(1 << 62, PAGE).unwrap();
    assert!(space.reserved.is_power_of_two() && (PAGE..1 << 62).contains(&space.reserved), "{:#x}", space.reserved);
    assert!(AddressSpace::reserve(1 << 62, 1 << 62).is_err());
}
