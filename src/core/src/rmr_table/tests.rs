use super::*;

#[test]
fn keys_are_found_as_long_as_they_are_there() {
    let table = RmrTable::default();
    let (a, b) = (table.enter().unwrap(), table.enter().unwrap());
    assert_eq!(table.owner(0), None);
    table.set(a, 7, Handle(8));
    table.set(b, 9, Handle(16));
    assert_eq!([7, 9, 8].map(|key| table.owner(key)), [Some(Handle(8)), Some(Handle(16)), None]);
    table.set(b, 10, Handle(16));
    table.leave(a);
    assert_eq!([7, 9, 10, 0].map(|key| table.owner(key)), [None, None, Some(Handle(16)), None]);
    assert_eq!(table.enter().unwrap(), a);
    assert_ne!(table.enter().unwrap(), a);
}
