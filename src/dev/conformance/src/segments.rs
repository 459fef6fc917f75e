//! Transfers with several segments.

use dat_core::event::Status;
use dat_core::testing::Buffer;
use dat_core::transport::Transport;
use dat_core::{CompletionFlags, LocalSegment};

use crate::{Network, written};

const TOTALS: [usize; 6] = [10, 100, 1000, 5000, 8192, 40_000];
const ROOM: usize = 1 << 16;
const GAP: usize = 17;

/// Cuts `total` bytes into pieces of unequal length with gaps between them. Returns the offset, from `base`, and the
/// length of each.
fn cut(base: usize, total: usize, pieces: usize) -> Vec<(usize, usize)> {
    let (mut at, mut left) = (base, total);
    (0..pieces)
        .map(|k| {
            let len = if k + 1 == pieces { left } else { (left / 3 + (k & 1)).min(left) };
            let piece = (at, len);
            at += len + GAP;
            left -= len;
            piece
        })
        .collect()
}

fn list<T: Transport>(buffer: &Buffer<T>, pieces: &[(usize, usize)]) -> Vec<LocalSegment> {
    pieces.iter().map(|&(at, len)| buffer.at(at, len)).collect()
}

fn scatter<T: Transport>(buffer: &Buffer<T>, pieces: &[(usize, usize)], seed: usize) {
    buffer.fill(0..ROOM, 0xdd);
    let total = pieces.iter().map(|(_, len)| len).sum();
    buffer.paint(0..total, seed);
    let whole = buffer.bytes(0..total);
    buffer.fill(0..total, 0xdd);
    let mut from = 0;
    for &(at, len) in pieces {
        buffer.put(at, &whole[from..from + len]);
        from += len;
    }
}

/// Returns whether the pieces contain the pattern of `seed`, and all other bytes are `rest`.
fn holds<T: Transport>(buffer: &Buffer<T>, pieces: &[(usize, usize)], seed: usize, rest: u8) -> bool {
    let (mut first, mut end) = (0, 0);
    pieces.iter().all(|&(at, len)| {
        let good = buffer.is_all(end..at, rest) && buffer.shows_from(at..at + len, seed, first);
        first += len;
        end = at + len;
        good
    }) && buffer.is_all(end..ROOM, rest)
}

pub fn sends_gather_and_receives_scatter<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (from, to) = (adapter.buffer(ROOM), adapter.buffer(ROOM));
    for (round, total) in TOTALS.into_iter().enumerate() {
        for (x, y) in (1..5).flat_map(|x| (1..5).map(move |y| (x, y))) {
            let seed = round * 16 + x * 4 + y;
            let (sources, targets) = (cut(5, total, x), cut(9, total, y));
            scatter(&from, &sources, seed);
            to.fill(0..ROOM, 0xee);
            b.ep.post_recv(&list(&to, &targets), 1, CompletionFlags::DEFAULT).unwrap();
            a.ep.post_send(&list(&from, &sources), 2, CompletionFlags::DEFAULT).unwrap();
            assert_eq!(b.arrived(), (1, Status::Success, total as u64));
            assert_eq!(a.done(), (2, Status::Success, total as u64));
            assert!(holds(&to, &targets, seed, 0xee), "{total} bytes, {x} to {y} pieces");
        }
    }
}

pub fn writes_gather_and_reads_scatter<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, _b) = adapter.pair();
    let (near, far) = (adapter.buffer(ROOM), adapter.buffer(ROOM));
    for (round, total) in TOTALS.into_iter().enumerate() {
        for x in 1..5 {
            let seed = round * 8 + x;
            let pieces = cut(5, total, x);
            let (list, remote) = (list(&near, &pieces), far.remote(3, total));
            scatter(&near, &pieces, seed);
            far.fill(0..ROOM, 0xee);
            a.ep.post_write(&list, 3, remote, CompletionFlags::DEFAULT).unwrap();
            assert_eq!(a.done(), (3, Status::Success, total as u64));
            written(&adapter, &format!("{total} bytes from {x} pieces"), || holds(&far, &[(3, total)], seed, 0xee));
            if x > adapter.ia.attributes().max_segments_read {
                continue;
            }
            far.paint(3..3 + total, seed + 100);
            near.fill(0..ROOM, 0xee);
            a.ep.post_read(&list, 4, remote, CompletionFlags::DEFAULT).unwrap();
            assert_eq!(a.done(), (4, Status::Success, total as u64));
            assert!(holds(&near, &pieces, seed + 100, 0xee), "{total} bytes into {x} pieces");
        }
    }
}

pub fn short_message_fills_first_segments<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (from, to) = (adapter.buffer(ROOM), adapter.buffer(ROOM));
    to.fill(0..ROOM, 0xee);
    from.paint(0..150, 7);
    let targets: Vec<_> = (0..4).map(|k| to.at(k * 1000, 100)).collect();
    b.ep.post_recv(&targets, 5, CompletionFlags::DEFAULT).unwrap();
    a.send(from.at(0, 150), 6);
    assert_eq!(b.arrived(), (5, Status::Success, 150));
    assert_eq!(a.done(), (6, Status::Success, 150));
    assert!(holds(&to, &[(0, 100), (1000, 50)], 7, 0xee));
}

pub fn ignores_empty_segments<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (from, to) = (adapter.buffer(ROOM), adapter.buffer(ROOM));
    let rubbish = LocalSegment { context: u32::MAX, addr: u64::MAX, len: 0 };
    let pieces = [(0, 30), (100, 20)];
    scatter(&from, &pieces, 8);
    to.fill(0..ROOM, 0xee);
    b.ep.post_recv(&[rubbish, to.at(0, 64), rubbish], 7, CompletionFlags::DEFAULT).unwrap();
    a.ep.post_send(&[rubbish, from.at(0, 30), rubbish, from.at(100, 20)], 8, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(b.arrived(), (7, Status::Success, 50));
    assert_eq!(a.done(), (8, Status::Success, 50));
    assert!(holds(&to, &[(0, 50)], 8, 0xee));
    b.ep.post_recv(&[], 9, CompletionFlags::DEFAULT).unwrap();
    a.ep.post_send(&[], 10, CompletionFlags::DEFAULT).unwrap();
    assert_eq!(b.arrived(), (9, Status::Success, 0));
    assert_eq!(a.done(), (10, Status::Success, 0));
}

pub fn posts_copy_segment_lists<T: Transport>(network: &Network<T>) {
    let adapter = network.open();
    let (a, b) = adapter.pair();
    let (from, to) = (adapter.buffer(ROOM), adapter.buffer(ROOM));
    let nothing = LocalSegment { context: 0, addr: 0, len: 64 };
    let mut list = [nothing];
    for k in 0..20 {
        list[0] = to.at(k * 64, 64);
        b.ep.post_recv(&list, k as u64, CompletionFlags::DEFAULT).unwrap();
        list[0] = nothing;
    }
    for k in 0..20 {
        from.paint(k * 64..k * 64 + 64, k);
        list[0] = from.at(k * 64, 64);
        a.ep.post_send(&list, k as u64, CompletionFlags::DEFAULT).unwrap();
        list[0] = nothing;
    }
    for k in 0..20 {
        b.arrives(k as u64, Status::Success);
        a.completes(k as u64, Status::Success);
        assert!(to.shows(k * 64..k * 64 + 64, k));
    }
}
