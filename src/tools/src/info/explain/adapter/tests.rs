use super::*;

#[test]
fn providers_are_known_by_the_names_of_their_files() {
    assert_eq!(kind(Path::new("/x/libdaplshm.so.1")), Kind::Shm);
    assert_eq!(kind(Path::new("libdaplcma.so.1")), Kind::Verbs);
    assert_eq!(kind(Path::new("libdaplomcm.so.2")), Kind::Verbs);
    assert_eq!(kind(Path::new("/x/libdapltcp.so.2")), Kind::Tcp);
    assert_eq!(kind(Path::new("/x/libacme.so")), Kind::Other);
}
