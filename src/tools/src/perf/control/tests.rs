use super::*;

#[test]
fn messages_arrive_as_they_were_sent() {
    let messages = [
        Message::Ready(70_000),
        Message::Refused("no room".to_owned()),
        Message::Memory(Target { context: 7, address: u64::MAX, slot: 64 }),
        Message::Meet,
        Message::Begin,
        Message::Done,
        Message::Report { elapsed: 2, processor: 1 },
    ];
    for message in messages {
        assert_eq!(Message::decode(&message.encode()), Some(message));
    }
}

#[test]
fn a_long_reason_is_cut_between_characters() {
    let message = Message::Refused("ä".repeat(40));
    assert_eq!(Message::decode(&message.encode()), Some(Message::Refused("ä".repeat(31))));
}

#[test]
fn what_is_no_message_is_refused() {
    for first in [0, 1, 9, 255] {
        let mut bytes = [0; LENGTH];
        bytes[0] = first;
        assert_eq!(Message::decode(&bytes), None);
    }
    let mut bytes = [3; LENGTH];
    bytes[1] = 63;
    assert_eq!(Message::decode(&bytes), None);
}
