use super::*;

#[test]
fn the_oldest_of_the_process_with_most_goes_first() {
    let mut strangers = Strangers::default();
    assert_eq!(strangers.least_welcome(), None);
    for (token, pid) in [(1, 10), (2, 20), (3, 20), (4, 30)] {
        strangers.add(token, pid);
    }
    assert_eq!(strangers.least_welcome(), Some((2, 2)));
    strangers.remove(2);
    assert_eq!(strangers.least_welcome(), Some((1, 1)), "all have one");
}

#[test]
fn room_ends() {
    let mut strangers = Strangers::default();
    for token in 1..=MOST as u64 {
        assert!(!strangers.is_full());
        strangers.add(token, 10);
    }
    assert!(strangers.is_full());
    strangers.remove(1);
    assert!(!strangers.is_full());
}
