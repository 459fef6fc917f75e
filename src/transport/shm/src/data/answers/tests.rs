use super::*;

#[test]
fn a_refusal_needs_no_room() {
    let mut answers = Answers::default();
    answers.add_refusal(Status::RemoteAccess);
    assert_eq!((answers.is_empty(), answers.owed.capacity()), (false, 0));
    answers.close();
    assert!(answers.is_empty());

    let read = RemoteSegment { addr: 0, len: WORD, key: 1 };
    while answers.has_room() {
        answers.owe(Owed::Bytes { target: read, offset: 0 });
    }
    assert_eq!(answers.owed.len(), MAX_READS);
    let before = answers.owed.capacity();
    answers.add_refusal(Status::RemoteResponder);
    assert_eq!((answers.owed.len(), answers.owed.capacity()), (MAX_READS, before));
    assert!(!answers.is_empty());
}
