use super::*;

struct Nothing;

// SAFETY: it allocates nothing, so there is nothing to free.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
        unreachable!("it allocates nothing");
    }
    unsafe fn realloc(&self, _: *mut u8, _: Layout, _: usize) -> *mut u8 {
        ptr::null_mut()
    }
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

fn alloc(from: &impl GlobalAlloc, layout: Layout) -> *mut u8 {
    assert_ne!(layout.size(), 0);
    // SAFETY: the layout is not empty.
    unsafe { from.alloc(layout) }
}

fn free(to: &impl GlobalAlloc, piece: *mut u8, layout: Layout) {
    // SAFETY: each test frees a piece once, with its layout.
    unsafe { to.dealloc(piece, layout) };
}

fn bytes<'a>(piece: *mut u8, size: usize) -> &'a mut [u8] {
    // SAFETY: the piece has this size or more, and only one thread of the test uses it.
    unsafe { std::slice::from_raw_parts_mut(piece, size) }
}

/// Covers the reserve in one test, because tests run concurrently.
#[test]
fn reserve_serves_if_allocator_fails() {
    let poor = Allocator(Nothing);
    let mut pieces = Vec::new();
    for (size, align) in [(1, 1), (64, 64), (65, 16), (100, 128), (MAX_PIECE, 8), (8, MAX_ALIGN), (4000, 2048)] {
        let layout = layout(size, align);
        let piece = alloc(&poor, layout);
        assert!(RESERVE.holds(piece) && piece.addr() % align == 0, "{size} {align}");
        bytes(piece, size).fill(0xa5);
        pieces.push((piece, layout));
    }
    for (at, &(one, one_layout)) in pieces.iter().enumerate() {
        for &(other, other_layout) in &pieces[at + 1..] {
            let apart =
                one.addr() + one_layout.size() <= other.addr() || other.addr() + other_layout.size() <= one.addr();
            assert!(apart, "{one_layout:?} {other_layout:?}");
        }
    }
    assert!(alloc(&poor, layout(MAX_PIECE + 1, 8)).is_null());
    assert!(alloc(&poor, layout(8, 2 * MAX_ALIGN)).is_null());
    for (piece, layout) in pieces {
        free(&poor, piece, layout);
    }
    assert_eq!(reserve_in_use(), 0);

    // SAFETY: the layout is not empty.
    let zeroed = unsafe { poor.alloc_zeroed(layout(200, 8)) };
    assert_eq!(bytes(zeroed, 200), [0; 200], "the piece is zeroed");
    bytes(zeroed, 1)[0] = 7;
    // SAFETY: the piece has this layout.
    let larger = unsafe { poor.realloc(zeroed, layout(200, 8), 300) };
    assert!(RESERVE.holds(larger) && bytes(larger, 1) == [7]);
    // The reallocation moves the piece from the reserve to the system.
    let rich = Allocator(System);
    // SAFETY: the piece has this layout.
    let moved = unsafe { rich.realloc(larger, layout(300, 8), 100) };
    assert!(!RESERVE.holds(moved) && bytes(moved, 1) == [7]);
    free(&rich, moved, layout(100, 8));
    assert_eq!(reserve_in_use(), 0);

    assert!(admit().is_ok());
    let mut all = Vec::new();
    let most = layout(MAX_PIECE, 8);
    loop {
        let piece = alloc(&poor, most);
        if piece.is_null() {
            break;
        }
        all.push(piece);
    }
    assert_eq!(all.len(), RESERVE_SIZE / MAX_PIECE);
    assert!(!RESERVE.serves(1));
    assert!(admit().is_ok(), "the system has memory");
    for piece in all {
        free(&poor, piece, most);
    }
    assert_eq!(reserve_in_use(), 0);
    assert!(
        RESERVE.serves((RESERVE_SIZE - CLEANUP_SHARE) / CALL_SHARE)
            && !RESERVE.serves((RESERVE_SIZE - CLEANUP_SHARE) / CALL_SHARE + 1)
    );

    // Threads allocate and free concurrently, and never share bytes.
    std::thread::scope(|scope| {
        for mark in 1..=4_u8 {
            scope.spawn(move || {
                let poor = Allocator(Nothing);
                for round in 0..2000_usize {
                    let layout = layout(1 + (round * usize::from(mark) * 37) % 700, 8);
                    let piece = alloc(&poor, layout);
                    assert!(!piece.is_null());
                    bytes(piece, layout.size()).fill(mark);
                    assert!(bytes(piece, layout.size()).iter().all(|byte| *byte == mark));
                    free(&poor, piece, layout);
                }
            });
        }
    });
    assert_eq!(reserve_in_use(), 0);

    // The child of a fork takes over a lock from another process.
    RESERVE.holder.store(1, Ordering::Relaxed);
    let piece = alloc(&poor, layout(8, 8));
    assert!(RESERVE.holds(piece));
    free(&poor, piece, layout(8, 8));
}

#[test]
fn huge_allocations_fail() {
    assert_eq!(vec::<u64>(usize::MAX / 8).err(), Some(NoMemory));
    let mut list = vec![1_u64];
    assert_eq!(list.room(usize::MAX / 16), Err(NoMemory));
    assert_eq!(list, [1]);
    let mut table = HashMap::from([(1, 2)]);
    assert_eq!(table.room(usize::MAX / 64), Err(NoMemory));
    assert_eq!(VecDeque::from([1_u64]).room(usize::MAX / 16), Err(NoMemory));
    assert_eq!(table[&1], 2);
}

#[test]
fn small_allocations_succeed() {
    assert_eq!(*arc(5).expect("memory"), 5);
    assert_eq!(*boxed(6).expect("memory"), 6);
    assert_eq!(text("name").expect("memory"), "name");
    let mut list = vec(3).expect("memory");
    assert!(list.capacity() >= 3);
    list.room(100).expect("memory");
    assert!(list.capacity() >= 100);
    list.push(1);
    let admitted = [admit(), admit()];
    assert!(admitted.iter().all(Result::is_ok));
}
