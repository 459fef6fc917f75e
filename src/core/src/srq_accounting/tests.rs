use std::thread;

use super::*;

fn accounting(entries: usize) -> Arc<Mutex<SrqAccounting>> {
    let mut accounting = SrqAccounting::new();
    accounting.grow(entries).expect("memory");
    Arc::new(Mutex::new(accounting))
}

fn post(accounting: &Mutex<SrqAccounting>, cookie: u64) -> Option<RecvId> {
    let mut accounting = accounting.lock();
    let vacancy = accounting.vacancy()?;
    let id = vacancy.id();
    vacancy.fill(cookie);
    Some(id)
}

#[test]
fn a_buffer_is_outstanding_until_its_charge_is_dropped() {
    let accounting = accounting(2);
    let ids = [5, 6].map(|cookie| post(&accounting, cookie).expect("an entry"));
    assert_eq!(post(&accounting, 7), None);
    let (one, _) = complete(&accounting, ids[0]).expect("a buffer");
    assert!(complete(&accounting, ids[0]).is_none(), "it is free");
    assert_eq!(one.cookie, 5);
    assert_eq!(accounting.lock().outstanding(), 2);
    assert_eq!(accounting.lock().available, 1);
    assert_eq!(post(&accounting, 7), None);
    drop(one);
    assert_eq!(accounting.lock().outstanding(), 1);
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
