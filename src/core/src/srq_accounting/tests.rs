use std::thread;

use super::*;

fn accounting(entries: usize) -> Arc<Mutex<SrqAccounting>> {
    let mut accounting = SrqAccounting::new(3);
    accounting.grow(entries).expect("memory");
    Arc::new(Mutex::new(accounting))
}

fn segments(count: u64, len: u64) -> Vec<Segment> {
    (0..count).map(|at| Segment { addr: 1000 * count + at, len, ..Segment::default() }).collect()
}

/// Posts a buffer of as many segments of 8 bytes as its cookie says.
fn enqueue(accounting: &mut SrqAccounting, cookie: u64) -> RecvId {
    let id = accounting.vacancy().expect("an entry");
    accounting.add(cookie, Some(&segments(cookie, 8)));
    id
}

fn post(accounting: &Mutex<SrqAccounting>, cookie: u64) -> Option<RecvId> {
    let mut accounting = accounting.lock();
    let id = accounting.vacancy()?;
    accounting.add(cookie, None);
    Some(id)
}

fn complete(accounting: &Arc<Mutex<SrqAccounting>>, id: RecvId) -> Option<(Completed, bool)> {
    let (cookie, fires) = accounting.lock().complete(id)?;
    Some((Completed { cookie, charge: charge(accounting) }, fires))
}

#[test]
fn a_buffer_is_outstanding_until_its_charge_is_dropped() {
    let accounting = accounting(2);
    let ids = [5, 6].map(|cookie| post(&accounting, cookie).expect("an entry"));
    assert_eq!(post(&accounting, 7), None);
    let (one, _) = complete(&accounting, ids[0]).expect("a buffer");
    assert!(complete(&accounting, ids[0]).is_none(), "it is free");
    assert_eq!(one.cookie, 5);
    assert_eq!(accounting.lock().outstanding, 2);
    assert_eq!(accounting.lock().available, 1);
    assert_eq!(post(&accounting, 7), None);
    drop(one);
    assert_eq!(accounting.lock().outstanding, 1);
    assert_eq!(post(&accounting, 7), Some(ids[0]));
}

#[test]
fn charges_keep_the_books_of_a_queue_that_has_ended() {
    let accounting = accounting(3);
    let ids = [5, 6, 7].map(|cookie| post(&accounting, cookie).expect("an entry"));
    let charge = |id| complete(&accounting, id).expect("a buffer").0.charge;
    drop(charge(ids[0]));
    let left = [charge(ids[1]), charge(ids[2])];
    assert_eq!(Arc::strong_count(&accounting), 1);
    end(&accounting);
    let known = Arc::downgrade(&accounting);
    drop(accounting);
    assert_eq!(known.strong_count(), 2);
    left.into_iter().zip([1, 0]).for_each(|(charge, others)| {
        drop(charge);
        assert_eq!(known.strong_count(), others);
    });
}

#[test]
fn a_queue_ends_while_its_charges_are_dropped() {
    for _ in 0..200 {
        let accounting = accounting(4);
        let charges = [1, 2, 3, 4].map(|cookie| {
            let id = post(&accounting, cookie).expect("an entry");
            complete(&accounting, id).expect("a buffer").0.charge
        });
        let known = Arc::downgrade(&accounting);
        thread::scope(|scope| {
            charges.into_iter().for_each(|charge| drop(scope.spawn(move || drop(charge))));
            end(&accounting);
            drop(accounting);
        });
        assert_eq!(known.strong_count(), 0);
    }
}

#[test]
fn buffers_are_taken_in_posting_order() {
    let accounting = accounting(4);
    let mut taken = Taken::default();
    for round in 0..3 {
        let mut queue = accounting.lock();
        assert_eq!(queue.take_oldest(&mut taken, 0), None, "round {round}: empty");
        let ids = [3, 0, 2, 1].map(|cookie| enqueue(&mut queue, cookie));
        for (count, id) in [3, 0, 2, 1].into_iter().zip(ids) {
            assert_eq!(queue.take_oldest(&mut taken, count * 8 + 1), None, "too short");
            assert_eq!(queue.take_oldest(&mut taken, count * 8), Some(false));
            assert_eq!((taken.id, taken.segments()), (id, &*segments(count, 8)), "round {round}");
        }
        assert_eq!((queue.available, queue.outstanding), (0, 4));
        drop(queue);
        // The next round uses the records in another order.
        for id in [ids[2], ids[0], ids[3], ids[1]] {
            drop(complete(&accounting, id).expect("a buffer"));
        }
    }
}

#[test]
fn a_buffer_of_one_segment_is_taken_and_completed_together() {
    let accounting = accounting(2);
    let (first, second) = (segments(1, 8)[0], segments(2, 8));
    {
        let mut queue = accounting.lock();
        assert_eq!(queue.take_one(0), None);
        (queue.low_watermark, queue.armed) = (1, true);
        enqueue(&mut queue, 1);
        enqueue(&mut queue, 2);
        assert_eq!(queue.take_one(9), None, "too short");
        assert_eq!(queue.take_one(8), Some((1, first, false)));
        assert_eq!(queue.take_one(8), None, "the next buffer has two segments");
        let mut taken = Taken::default();
        assert_eq!(queue.take_oldest(&mut taken, 0), Some(true), "the low watermark");
        assert_eq!(taken.segments(), second);
        assert_eq!((queue.vacancy(), queue.outstanding), (None, 2));
    }
    let id = accounting.lock().retake(1);
    let (completed, fires) = complete(&accounting, id).expect("the first buffer, taken again");
    assert_eq!((completed.cookie, fires), (1, false));
    drop(completed);
    let mut queue = accounting.lock();
    enqueue(&mut queue, 1);
    assert_eq!((queue.vacancy(), queue.available), (None, 1));
}
