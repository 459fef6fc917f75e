use super::*;

#[test]
fn reads_an_entry() {
    let call = Call::parse(r#"extern "C" fn open(a: A, b: *mut B) => wrap(c: C), open_func: OPEN_FUNC;"#).unwrap();
    assert_eq!((call.arguments.as_str(), call.more.as_str(), call.how.as_str()), ("a: A, b: *mut B", "c: C", "wrap"));
    assert_eq!(call.slot, Some(("open_func".to_owned(), "OPEN_FUNC".to_owned())));
    assert_eq!(call.names(), ["a", "b", "c"]);
    let call = Call::parse(r#"#[further] extern "C" fn related(a: A) => own;"#).unwrap();
    assert_eq!((call.how.as_str(), call.slot), ("own", None));
}

#[test]
fn rejects_other_text() {
    assert!(Call::parse(r#"extern "C" fn open(a: A) => own"#).is_none());
}
