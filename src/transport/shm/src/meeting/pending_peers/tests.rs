use super::*;

#[test]
fn evicts_oldest_of_largest_process() {
    let mut pending_peers = PendingPeers::default();
    assert_eq!(pending_peers.least_welcome(), None);
    for (token, pid) in [(1, 10), (2, 20), (3, 20), (4, 30)] {
        pending_peers.add(token, pid);
    }
    assert_eq!(pending_peers.least_welcome(), Some((2, 2)));
    pending_peers.remove(2);
    assert_eq!(pending_peers.least_welcome(), Some((1, 1)), "all have one");
}

#[test]
fn detects_maximum() {
    let mut pending_peers = PendingPeers::default();
    for token in 1..=MAX_PENDING as u64 {
        assert!(!pending_peers.is_full());
        pending_peers.add(token, 10);
    }
    assert!(pending_peers.is_full());
    pending_peers.remove(1);
    assert!(!pending_peers.is_full());
}
