use super::*;

fn table(number: usize) -> *const Head {
    ptr::without_provenance(number * 8)
}

#[test]
fn nothing_is_in_an_empty_set() {
    let tables = Tables::new();
    assert!(!tables.contains(table(0)));
    assert!(!tables.contains(table(1)));
}

#[test]
fn tables_come_and_go() {
    let tables = Tables::new();
    assert!(tables.insert(table(1)) && tables.insert(table(2)) && tables.insert(table(3)));
    tables.remove(table(1));
    assert!(!tables.contains(table(1)) && !tables.contains(ptr::null()));
    assert!(tables.contains(table(2)) && tables.contains(table(3)));
    assert!(!tables.is_first(table(1)) && !tables.is_first(ptr::null()));
    assert!(tables.insert(table(4)));
    assert_eq!(tables.end.load(Ordering::Relaxed), 3, "the place is used again");
    assert!(tables.contains(table(4)) && tables.is_first(table(4)));
}

#[test]
fn the_set_has_an_end() {
    let tables = Tables::new();
    assert!((1..=CAPACITY).all(|number| tables.insert(table(number))));
    assert!(!tables.insert(table(CAPACITY + 1)));
    assert!(tables.insert(table(7)), "one that is there needs no place");
    tables.remove(table(7));
    assert!(tables.insert(table(CAPACITY + 1)));
}
