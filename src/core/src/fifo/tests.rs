use std::sync::Arc;

use super::*;

impl<V> Fifo<V> {
    /// Returns the number of slots.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }
}

fn with(first: usize, values: std::ops::Range<u32>) -> Fifo<u32> {
    let mut queue = Fifo::default();
    queue.room(4).expect("memory");
    (queue.first, queue.end) = (first, first);
    queue.limit(3);
    values.for_each(|value| queue.push(value).expect("room"));
    queue
}

#[test]
fn values_keep_their_order() {
    for first in [0, 1, 3, usize::MAX - 1, usize::MAX] {
        let mut queue = with(first, 0..4);
        assert_eq!(queue.push(9), Err(9), "it is full");
        assert_eq!((queue.pop(), queue.pop()), (Some(0), Some(1)));
        queue.push(4).expect("room");
        assert_eq!((queue.front(), queue.len()), (Some(&2), 3));
        queue.room(6).expect("memory");
        (5..11).for_each(|value| queue.push(value).expect("room"));
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(queue.is_empty() && queue.front().is_none());
    }
}

#[test]
fn full_queue_has_no_vacancy() {
    for first in [0, 3, usize::MAX] {
        let mut queue = with(first, 0..2);
        let place = queue.vacancy().expect("a place");
        assert_eq!(place.number(), first.wrapping_add(2));
        place.fill(2);
        assert!(queue.vacancy().is_none(), "the limit is 3");
        queue.room(5).expect("memory");
        assert!(queue.vacancy().is_none(), "the limit stays");
        queue.limit(usize::MAX);
        (3..8).for_each(|value| queue.vacancy().expect("a place").fill(value));
        assert!(queue.vacancy().is_none(), "there are 8 slots");
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    assert!(Fifo::<u32>::default().vacancy().is_none());
}

#[test]
fn removes_from_the_middle() {
    for first in [0, 3, usize::MAX] {
        let mut queue = with(first, 0..4);
        assert_eq!(queue.remove(|&value| value == 2), Some(2));
        assert_eq!(queue.remove(|&value| value == 2), None);
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [0, 1, 3]);
    }
}

#[test]
fn rejects_excessive_capacity() {
    let mut queue = Fifo::default();
    assert_eq!(queue.push(1), Err(1));
    assert_eq!(queue.pop(), None);
    assert!(queue.room(usize::MAX).is_err() && queue.room(usize::MAX / 4).is_err());
}

#[test]
fn drops_its_values() {
    let value = Arc::new(());
    let mut queue = Fifo::default();
    queue.room(3).expect("memory");
    (0..3).for_each(|_| queue.push(value.clone()).expect("room"));
    drop(queue.pop());
    assert_eq!(Arc::strong_count(&value), 3);
    drop(queue);
    assert_eq!(Arc::strong_count(&value), 1);
}
