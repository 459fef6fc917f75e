use super::*;

#[test]
fn a_program_is_found_as_the_shell_finds_it() {
    let path = OsStr::new("/no/such/folder:/usr/bin:/bin");
    assert!(by_name(Path::new("sh"), path).unwrap().ends_with("sh"));
    assert!(by_name(Path::new("/bin/sh"), OsStr::new("")).is_some());
    assert_eq!(by_name(Path::new("no-such-program"), path), None);
    assert_eq!(by_name(Path::new("./no-such-program"), path), None);
}
