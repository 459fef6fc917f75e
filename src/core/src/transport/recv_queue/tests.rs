use super::*;
use crate::error::{Error, Resource};

fn segments(n: u64) -> Vec<Segment> {
    (0..n).map(|k| Segment { addr: n * 100 + k, len: k + 1, key: 5, since: 0 }).collect()
}

fn is_nth(taken: &Taken, n: u64) -> bool {
    let capacity = segments(n).iter().map(|segment| segment.len).sum();
    taken.id == n && taken.segments() == segments(n) && taken.capacity == capacity
}

#[test]
fn receives_come_out_as_they_went_in() {
    let mut queue = RecvQueue::default();
    for n in 0..3 {
        queue.push(&Recv { id: n, segments: &segments(n) });
    }
    assert_eq!(queue.len(), 3);
    for n in 0..3 {
        assert_eq!(queue.pop_if(|taken| is_nth(taken, n).then_some(()).ok_or(())), Ok(true));
    }
    assert_eq!(queue.pop_if(|_| Err(())), Ok(false));
    assert!(queue.is_empty());
}

#[test]
fn one_that_is_refused_stays_the_oldest() {
    let mut queue = RecvQueue::default();
    assert_eq!(queue.pop_if(|_| Err(())), Ok(false), "there is none to refuse");
    for n in 1..4 {
        queue.push(&Recv { id: n, segments: &segments(n) });
    }
    for n in 1..4 {
        assert_eq!(queue.pop_if(|shown| if is_nth(shown, n) { Err("refused") } else { Ok(()) }), Err("refused"));
        assert_eq!(queue.pop_if(|shown| if is_nth(shown, n) { Ok(()) } else { Err("another") }), Ok(true));
    }
    assert!(queue.is_empty());
}

#[test]
fn there_is_room_for_what_was_asked_for() {
    let mut queue = RecvQueue::default();
    queue.push(&Recv { id: 0, segments: &segments(2) });
    queue.reserve(5, 2).unwrap();
    let room = (queue.receives.capacity(), queue.others.capacity());
    for n in 1..5 {
        queue.push(&Recv { id: n, segments: &segments(2) });
    }
    assert_eq!((queue.receives.capacity(), queue.others.capacity()), room);
    assert!(matches!(queue.reserve(usize::MAX, MAX_SEGMENTS), Err(Error::InsufficientResources(Resource::Memory))));
    assert_eq!(queue.len(), 5);
}
