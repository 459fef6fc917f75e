use super::*;

#[test]
fn refusal_needs_no_room() {
    let mut responses = Responses::default();
    responses.add_refusal(Fatal::of_peer(Status::RemoteAccess));
    assert_eq!((responses.is_empty(), responses.owed.capacity()), (false, 0));
    responses = Responses::default();
    assert!(responses.is_empty());

    let read = RemoteSegment { addr: 0, len: WORD, key: 1 };
    while responses.has_room() {
        responses.owe(PendingResponse::Bytes { target: read, offset: 0 });
    }
    assert_eq!(responses.owed.len(), MAX_READS);
    let before = responses.owed.capacity();
    responses.add_refusal(Fatal::of_peer(Status::RemoteResponder));
    assert_eq!((responses.owed.len(), responses.owed.capacity()), (MAX_READS, before));
    assert!(!responses.is_empty());
}
