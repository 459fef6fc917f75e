use super::*;

fn table(number: usize) -> *const Head {
    ptr::without_provenance(number * 8)
}

#[test]
fn new_set_contains_no_table() {
    let tables = Tables::new();
    assert!(!tables.contains(table(0)));
    assert!(!tables.contains(table(1)));
}

#[test]
fn reuses_slots_of_removed_tables() {
    let tables = Tables::new();
    assert!(tables.insert(table(1)) && tables.insert(table(2)) && tables.insert(table(3)));
    tables.remove(table(1));
    assert!(!tables.contains(table(1)) && !tables.contains(ptr::null()));
    assert!(tables.contains(table(2)) && tables.contains(table(3)));
    assert!(tables.insert(table(4)));
    assert_eq!(tables.end.load(Ordering::Relaxed), 3, "the place is used again");
    assert!(tables.contains(table(4)));
}

#[test]
fn rejects_table_if_full() {
    let tables = Tables::new();
    assert!((1..=MAX_TABLES).all(|number| tables.insert(table(number))));
    assert!(!tables.insert(table(MAX_TABLES + 1)));
    assert!(tables.insert(table(7)), "one that is there needs no place");
    tables.remove(table(7));
    assert!(tables.insert(table(MAX_TABLES + 1)));
}
