use super::*;
use proptest::prelude::*;

const CONN: ConnId = ConnId { active: 1, index: 77, attempt: 1 << 40 };

fn samples() -> Vec<Message> {
    let probe = Probe { addr: 1, value: u64::MAX };
    vec![
        Message::Hello { version: VERSION, name: "p-1-2".into(), probe },
        Message::Welcome { probe, reads: true },
        Message::UseMine,
        Message::Again,
        Message::Ring,
        Message::Ask,
        Message::Reads(false),
        Message::Request {
            conn: CONN,
            qualifier: 9 << 40,
            end: EndInfo { zone: 3, port: 4, extended: false, datagrams: 7 },
            private_data: vec![7; MAX_PRIVATE_DATA],
        },
        Message::Accept {
            conn: CONN,
            end: EndInfo { zone: 5, port: 1 << 50, extended: true, datagrams: 0 },
            private_data: Vec::new(),
        },
        Message::Reject { conn: CONN, consumer: false, private_data: Vec::new() },
        Message::Reject { conn: CONN, consumer: true, private_data: vec![9; MAX_PRIVATE_DATA] },
        Message::Ready { conn: CONN },
        Message::Close { conn: CONN, to_active: true, reason: CloseReason::Disconnected },
        Message::Close { conn: CONN, to_active: false, reason: CloseReason::Broken(None) },
        Message::Close { conn: CONN, to_active: false, reason: CloseReason::Broken(Some(Status::RemoteAccess)) },
        Message::Close { conn: CONN, to_active: true, reason: CloseReason::Answer },
    ]
}

#[test]
fn messages_are_read_back() {
    for message in samples() {
        let packet = message.encode();
        assert!(packet.len() <= MAX_PACKET);
        assert_eq!(Message::decode(&packet), Some(message));
    }
}

#[test]
fn a_shortened_or_lengthened_packet_is_none() {
    for message in samples() {
        let mut packet = message.encode();
        for len in 0..packet.len() {
            assert_eq!(Message::decode(&packet[..len]), None);
        }
        packet.push(0);
        assert_eq!(Message::decode(&packet), None);
    }
}

#[test]
fn success_is_no_reason_of_an_end() {
    let reason = CloseReason::Broken(Some(Status::Success));
    assert_eq!(Message::decode(&Message::Close { conn: CONN, to_active: true, reason }.encode()), None);
}

proptest! {
    #[test]
    fn no_bytes_make_decoding_panic(packet in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(message) = Message::decode(&packet) {
            prop_assert_eq!(message.encode(), packet);
        }
    }
}
