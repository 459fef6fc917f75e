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
    let mut report = Report::new(Vec::new(), &NAMES[..OF_ENDPOINT]).unwrap();
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
    let (first, second) = (LISTS.lend(Vec::new()).unwrap(), LISTS.lend(Vec::new()).unwrap());
    let (count, list) = first.report.fill(&[3; OF_ENDPOINT]);
    assert_ne!(list, attributes(&second.report.list).1);
    drop(first);
    // SAFETY: the list is never freed, and has C strings as names.
    assert!(unsafe { are_of_endpoint(count, list) });
    let third = LISTS.lend(Vec::new()).unwrap();
    assert_eq!(attributes(&third.report.list), (count, list));
    drop((second, third));
    assert_eq!(LISTS.spare(|spare| (spare.lists.len(), spare.made)), (2, 2));
}

#[test]
fn equal_heads_share_a_list() {
    static LISTS: Lists = Lists::new(&NAMES);
    let head = |value: &CStr| vec![(c"state", value.to_owned())];
    let first = LISTS.lend(head(c"up")).unwrap();
    let (count, list) = first.report.fill(&[3; NAMES.len()]);
    assert_eq!(count as usize, 1 + NAMES.len());
    let (of_list, of_head) = (first.report.list[0], &first.report.head[0]);
    assert_eq!((of_list.name, of_list.value), (of_head.0.as_ptr(), of_head.1.as_ptr()));
    drop(first);
    let other = LISTS.lend(head(c"down")).unwrap();
    let same = LISTS.lend(head(c"up")).unwrap();
    assert_eq!([&other, &same].map(|lent| attributes(&lent.report.list).1 == list), [false, true]);
}

#[test]
fn names_fit() {
    assert!(NAMES.iter().all(|name| name.count_bytes() < NAME_MAX));
}
