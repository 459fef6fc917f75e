use super::*;

fn table() -> Box<Table> {
    Box::new(std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))))
}

#[test]
fn transfer_is_found_until_it_ends() {
    let (own, table) = (Own::default(), table());
    assert_eq!(under_way(&table).count(), 0);
    let first = own.enter(&table, own_tid());
    let second = own.enter(&table, own_tid());
    let found: Vec<_> = under_way(&table).collect();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|(_, word)| word.tid() == own_tid() && !word.is_impossible()));
    drop(first);
    let left: Vec<_> = found.iter().filter(|&&(slot, word)| is_under_way(&table, slot, word)).collect();
    assert_eq!(left.len(), 1);
    drop(second);
    assert!(!found.iter().any(|&(slot, word)| is_under_way(&table, slot, word)));
    assert_eq!(under_way(&table).count(), 0);
    let _again = own.enter(&table, own_tid());
    assert!(!found.iter().any(|&(slot, word)| is_under_way(&table, slot, word)), "it is another transfer");
}

#[test]
fn takes_all_slots_despite_peer() {
    let (own, table) = (Own::default(), table());
    for word in table.iter().flatten() {
        word.store(u64::MAX, Ordering::Relaxed);
    }
    assert_eq!(under_way(&table).count(), SLOTS + 1);
    assert!(under_way(&table).all(|(_, word)| word.is_impossible()));
    let all: Vec<_> = (0..SLOTS).map(|_| own.enter(&table, own_tid())).collect();
    assert_eq!(under_way(&table).filter(|(_, word)| !word.is_impossible()).count(), SLOTS);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| drop(own.enter(&table, own_tid())));
        std::thread::sleep(std::time::Duration::from_millis(1));
        drop(all);
        waits.join().unwrap();
    });
}

#[test]
fn local_transfer_is_found_until_it_ends() {
    let table = table();
    let all: Vec<_> = (0..SLOTS).map(|_| enter_local(&table)).collect();
    let found: Vec<_> = under_way(&table).collect();
    assert_eq!(found.len(), SLOTS);
    drop(all);
    assert!(!found.iter().any(|&(slot, word)| is_under_way(&table, slot, word)));
    let _again = enter_local(&table);
    assert_eq!(under_way(&table).count(), 1);
    assert!(!found.iter().any(|&(slot, word)| is_under_way(&table, slot, word)), "it is another transfer");
}

#[test]
fn closed_table_misses_no_transfer() {
    let (own, table) = (Own::default(), table());
    misses_no_transfer(&table, || own.enter(&table, own_tid()));
    let table = self::table();
    misses_no_transfer(&table, || enter_local(&table));
}

fn misses_no_transfer<T>(table: &Table, enter: impl Fn() -> T + Sync) {
    use std::sync::atomic::AtomicBool;
    for round in 0..2000 {
        let (closed, over, late) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _entered = enter();
                    if !closed.load(Ordering::SeqCst) {
                        std::hint::spin_loop();
                        late.fetch_or(over.load(Ordering::SeqCst), Ordering::SeqCst);
                    }
                });
            }
            closed.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let busy: Vec<_> = under_way(table).collect();
            while busy.iter().any(|&(slot, word)| is_under_way(table, slot, word)) {
                std::thread::yield_now();
            }
            over.store(true, Ordering::SeqCst);
        });
        assert!(!late.into_inner(), "round {round}");
    }
}
