use super::*;

fn text(digits: &Digits) -> String {
    // SAFETY: the last byte is always 0.
    unsafe { CStr::from_ptr(digits.0.as_ptr().cast()) }.to_str().unwrap().to_owned()
}

#[test]
fn overwrites_longer_and_shorter_numbers() {
    let digits = Digits::default();
    for value in [u64::MAX, 0, 1234567890, 10, 9] {
        digits.write(value);
        assert_eq!(text(&digits), value.to_string());
    }
}

#[test]
fn the_list_of_an_endpoint_is_recognised() {
    let mut report = Report::new(&[], &NAMES[..OF_ENDPOINT]).unwrap();
    report.fill(&[7; OF_ENDPOINT]);
    assert!(report.texts.iter().all(|digits| text(digits) == "7"));
    let (count, list) = attributes(&report.list);
    // SAFETY: the list has that many elements, with C strings as names.
    let known = |count| unsafe { are_of_endpoint(count, list) };
    assert!(known(count));
    assert!(!known(count - 1) && !known(-1));
    report.list[3].name = c"no-such-attribute".as_ptr();
    let (count, list) = attributes(&report.list);
    // SAFETY: the list has that many elements, with C strings as names.
    assert!(!unsafe { are_of_endpoint(count, list) });
}

#[test]
fn list_outlives_object_and_is_reused() {
    static LISTS: Lists = Lists::new(NAMES.split_at(OF_ENDPOINT).0);
    let (first, second) = (LISTS.lend(&[]).unwrap(), LISTS.lend(&[]).unwrap());
    let (count, list) = first.report.fill(&[3; OF_ENDPOINT]);
    assert_ne!(list, attributes(&second.report.list).1);
    drop(first);
    // SAFETY: the list is never freed, and has C strings as names.
    assert!(unsafe { are_of_endpoint(count, list) });
    let third = LISTS.lend(&[]).unwrap();
    assert_eq!(attributes(&third.report.list), (count, list));
    drop((second, third));
    assert_eq!(LISTS.spare(|spare| (spare.lists.len(), spare.made)), (2, 2));
}

#[test]
fn names_fit() {
    assert!(NAMES.iter().all(|name| name.count_bytes() < NAME_MAX));
}
