use super::*;

#[test]
fn names_the_missing_function_of_another_library() {
    let error = Library::open(Path::new("libc.so.6")).err().expect("libc has no uDAPL").to_string();
    assert!(error.contains("dat_"), "{error}");
}

#[test]
fn text_ends_with_its_string_or_array() {
    let bytes = |text: &str| text.bytes().map(|byte| byte as c_char).collect::<Vec<_>>();
    assert_eq!(string(&bytes("shm\0old")).as_c_str(), c"shm");
    assert_eq!(string(&bytes("full")).as_c_str(), c"full");
}

#[test]
fn versions_are_text() {
    assert_eq!(Api::ALL.map(|api| api.to_string()), ["1.2", "2.0"]);
}
