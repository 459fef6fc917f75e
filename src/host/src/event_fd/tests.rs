use super::*;

#[test]
fn a_bell_rings_until_it_is_cleared() {
    let bell = EventFd::new().expect("bell");
    assert!(!bell.clear());
    bell.ring();
    bell.ring();
    assert!(bell.clear());
    assert!(!bell.clear());
}

#[test]
fn a_bell_that_is_full_does_not_block() {
    let bell = EventFd::new().expect("bell");
    let most = u64::MAX - 1;
    assert_eq!(rustix::io::write(&bell, &most.to_ne_bytes()), Ok(8));
    bell.ring();
    assert!(bell.clear());
}
