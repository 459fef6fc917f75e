use std::thread;

use super::*;

fn books(entries: usize) -> Arc<Mutex<Books>> {
    let mut books = Books::new();
    books.grow(entries).expect("memory");
    Arc::new(Mutex::new(books))
}

fn post(books: &Mutex<Books>, cookie: u64) -> Option<RecvId> {
    let mut books = books.lock();
    let vacancy = books.vacancy()?;
    let id = vacancy.id();
    vacancy.fill(cookie);
    Some(id)
}

#[test]
fn a_buffer_is_outstanding_until_its_charge_is_dropped() {
    let books = books(2);
    let ids = [5, 6].map(|cookie| post(&books, cookie).expect("an entry"));
    assert_eq!(post(&books, 7), None);
    let (one, _) = complete(&books, ids[0]).expect("a buffer");
    assert!(complete(&books, ids[0]).is_none(), "it is free");
    assert_eq!(one.cookie, 5);
    assert_eq!(books.lock().outstanding(), 2);
    assert_eq!(books.lock().available, 1);
    assert_eq!(post(&books, 7), None);
    drop(one);
    assert_eq!(books.lock().outstanding(), 1);
    assert_eq!(post(&books, 7), Some(ids[0]));
}

#[test]
fn charges_keep_the_books_of_a_queue_that_has_ended() {
    let books = books(3);
    let ids = [5, 6, 7].map(|cookie| post(&books, cookie).expect("an entry"));
    let charge = |id| complete(&books, id).expect("a buffer").0.charge;
    drop(charge(ids[0]));
    let left = [charge(ids[1]), charge(ids[2])];
    assert_eq!(Arc::strong_count(&books), 1);
    end(&books);
    let known = Arc::downgrade(&books);
    drop(books);
    assert_eq!(known.strong_count(), 2);
    left.into_iter().zip([1, 0]).for_each(|(charge, others)| {
        drop(charge);
        assert_eq!(known.strong_count(), others);
    });
}

#[test]
fn a_queue_ends_while_its_charges_are_dropped() {
    for _ in 0..200 {
        let books = books(4);
        let charges = [1, 2, 3, 4].map(|cookie| {
            let id = post(&books, cookie).expect("an entry");
            complete(&books, id).expect("a buffer").0.charge
        });
        let known = Arc::downgrade(&books);
        thread::scope(|scope| {
            charges.into_iter().for_each(|charge| drop(scope.spawn(move || drop(charge))));
            end(&books);
            drop(books);
        });
        assert_eq!(known.strong_count(), 0);
    }
}
