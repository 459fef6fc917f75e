use super::*;
use crate::arena::{Header, Kind};

#[derive(Default)]
struct Thing(Header);
impl Object for Thing {
    const KIND: Kind = Kind::Pz;

    fn header(&self) -> &Header {
        &self.0
    }
}

#[test]
fn a_used_object_is_not_retired_and_a_retired_one_not_used() {
    let thing = Arc::new(Thing::default());
    let one = Use::of(&thing).unwrap();
    assert!(!thing.0.users.retire());
    assert!(!one.is_gone());
    drop(one);
    assert!(thing.0.users.retire());
    assert!(!thing.0.users.retire());
    assert!(Use::of(&thing).is_none());
    thing.0.users.revive();
    let other = Use::of(&thing).unwrap();
    thing.0.users.retire_anyway();
    assert!(other.is_gone());
    drop(other);
    assert_eq!(thing.0.users.count(), 0);
}
