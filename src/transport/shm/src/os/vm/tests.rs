use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::*;
use crate::os::twin::Twin;

fn addr(bytes: &[u8]) -> u64 {
    bytes.as_ptr().expose_provenance() as u64
}

#[test]
fn reads_written_bytes() {
    let theirs = vec![0_u8; 3_000_000];
    let twin = Twin::new();
    for len in [1, 7, 8, 63, 64, 65, 4096, 100_001, 3_000_000] {
        let ours: Vec<u8> = (0..len).map(|i| (i * 13 + len) as u8).collect();
        let place = [(addr(&theirs), len as u64)];
        write_to(twin.pid(), &[Source::of(&ours)], &place).expect("write");
        let mut back = vec![0; len];
        read_from(twin.pid(), &place, &[Target::of(&mut back)]).expect("read");
        assert!(back == ours, "{len} bytes");
    }
    assert!(theirs.iter().all(|&b| b == 0), "our own copy is another");
}

#[test]
fn copies_lists_of_any_shape() {
    let theirs = vec![0_u8; 100_000];
    let twin = Twin::new();
    let base = addr(&theirs);
    let ours: Vec<u8> = (0..10_000_u32).map(|i| (i * 31 % 251) as u8).collect();
    for (n, m) in [(1, 1), (33, 33), (1, 33), (33, 1), (30, 3), (3, 30)] {
        let split = |parts: usize| -> Vec<usize> {
            let mut lens: Vec<usize> = (0..parts - 1).map(|i| (i * 7) % (10_000 / parts)).collect();
            lens.push(10_000 - lens.iter().sum::<usize>());
            lens
        };
        let mut remote = vec![];
        let mut at = base;
        for len in split(m) {
            remote.push((at, len as u64));
            at += len as u64 + 5;
        }
        let mut sources = vec![];
        let mut rest = &ours[..];
        for len in split(n) {
            let (piece, more) = rest.split_at(len);
            sources.push(Source::of(piece));
            rest = more;
        }
        write_to(twin.pid(), &sources, &remote).expect("write");
        let mut back = vec![0_u8; 10_000];
        let mut targets = vec![];
        let mut rest = &mut back[..];
        for len in split(n) {
            let (piece, more) = rest.split_at_mut(len);
            targets.push(Target::of(piece));
            rest = more;
        }
        read_from(twin.pid(), &remote, &targets).expect("read");
        assert!(back == ours, "{n} and {m} pieces");
    }
}

#[test]
fn copies_nothing_for_empty_lists() {
    let twin = Twin::new();
    assert_eq!(write_to(twin.pid(), &[], &[]), Ok(()));
    assert_eq!(read_from(twin.pid(), &[(0, 0)], &[]), Ok(()));
    assert_eq!(write_to(twin.pid(), &[Source::EMPTY], &[(1, 0)]), Ok(()));
}

#[test]
fn rejects_lists_of_unequal_length() {
    let bytes = [0_u8; 16];
    let twin = Twin::new();
    assert_eq!(write_to(twin.pid(), &[Source::of(&bytes)], &[(addr(&bytes), 15)]), Err(VmError::Length));
    assert_eq!(write_to(twin.pid(), &[], &[(1, u64::MAX), (1, 1)]), Err(VmError::Length));
    assert_eq!(read_from(twin.pid(), &[(addr(&bytes), 15)], &[]), Err(VmError::Length));
    assert_eq!(write_to(twin.pid(), &[], &[(1, 0); MAX_PIECES + 1]), Err(VmError::Length), "too many pieces");
}

#[test]
fn reports_invalid_addresses_as_faults() {
    let bytes = [0_u8; 16];
    let twin = Twin::new();
    assert_eq!(write_to(twin.pid(), &[Source::of(&bytes)], &[(8, 16)]), Err(VmError::Fault));
    let half = [(addr(&bytes), 8), (u64::MAX - 100, 8)];
    assert_eq!(write_to(twin.pid(), &[Source::of(&bytes)], &half), Err(VmError::Fault), "after a part");
    let mut into = [0_u8; 16];
    assert_eq!(read_from(twin.pid(), &half, &[Target::of(&mut into)]), Err(VmError::Fault));
}

#[test]
fn distinguishes_ended_process() {
    let pid = Twin::dead();
    let bytes = [0_u8; 8];
    assert_eq!(write_to(pid, &[Source::of(&bytes)], &[(addr(&bytes), 8)]), Err(VmError::Gone));
    assert!(!probe(pid, addr(&bytes), 0));
}

#[test]
fn probe_compares_the_word() {
    let word = Box::new(0x0123_4567_89ab_cdef_u64);
    let twin = Twin::new();
    let at = (&raw const *word).expose_provenance() as u64;
    assert!(probe(twin.pid(), at, *word));
    assert!(!probe(twin.pid(), at, 1));
    assert!(!probe(twin.pid(), 8, *word));
}

#[test]
fn continues_partial_copies() {
    let vec = |(addr, len)| libc::iovec { iov_base: ptr::without_provenance_mut(addr), iov_len: len };
    let left = |bytes| {
        let mut vecs: Vecs = [(1000, 100), (0, 0), (5000, 96), (5096, 4)].map(vec).into_iter().collect();
        advance(&mut vecs, bytes);
        vecs.iter().map(|vec| (vec.iov_base.addr(), vec.iov_len)).collect::<Vec<_>>()
    };
    assert_eq!(left(0), [(1000, 100), (0, 0), (5000, 96), (5096, 4)]);
    assert_eq!(left(30), [(1030, 70), (0, 0), (5000, 96), (5096, 4)]);
    assert_eq!(left(100), [(5000, 96), (5096, 4)]);
    assert_eq!(left(197), [(5097, 3)]);
}

#[test]
fn last_word_becomes_visible_last() {
    const WORDS: usize = 700;
    let shared: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
    let base = shared.as_ptr().expose_provenance() as u64;
    let place = [(base, 8 * WORDS as u64 - 8), (base + 8 * WORDS as u64 - 8, 8)];
    // SAFETY: the call takes no arguments.
    let me = unsafe { libc::getpid() };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let seen = shared[WORDS - 1].load(Ordering::Acquire);
                for word in shared.iter().rev() {
                    assert!(word.load(Ordering::Relaxed) >= seen);
                }
                thread::yield_now();
            }
        });
        for round in 1..5_000_u64 {
            let image: Vec<u8> = [round; WORDS].iter().flat_map(|word| word.to_ne_bytes()).collect();
            let (first, rest) = Source::of(&image).split(1001);
            let (second, word) = rest.split(rest.len() - 8);
            write_to(me, &[first, second, word], &place).expect("write");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn permitting_tracing_is_harmless() {
    allow_tracing();
}
