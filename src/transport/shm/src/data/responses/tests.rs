use super::*;

#[test]
fn refusal_needs_no_room() {
    let mut responses = Responses::default();
    responses.add_refusal(Fatal::of_peer(Status::RemoteAccess));
    assert_eq!((responses.is_empty(), responses.pending_records.capacity()), (false, 0));
    responses = Responses::default();
    assert!(responses.is_empty());

    let read = RemoteSegment { addr: 0, len: WORD, key: 1 };
    while responses.has_room() {
        responses.owe(PendingResponse::Bytes { target: read, offset: 0 });
    }
    assert_eq!(responses.pending_records.len(), MAX_READS);
    let before = responses.pending_records.capacity();
    responses.add_refusal(Fatal::of_peer(Status::RemoteResponder));
    assert_eq!((responses.pending_records.len(), responses.pending_records.capacity()), (MAX_READS, before));
    assert!(!responses.is_empty());
}
