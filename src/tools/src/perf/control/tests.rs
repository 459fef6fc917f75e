use super::*;
use crate::perf::plan::tests::PLAN;

#[test]
fn messages_arrive_as_they_were_sent() {
    let most = u64::MAX;
    let usage = Usage { elapsed: Duration::from_nanos(2), processor: Duration::from_secs(1) };
    let messages = [
        Message::Plan(PLAN),
        Message::Ready(most),
        Message::refused(&anyhow!("no room")),
        Message::Memory(Target { context: u32::MAX, address: most, slot: most }),
        Message::Meet,
        Message::Turn(Turn { transfers: KEPT as u64, counts: true }),
        Message::Report(usage),
    ];
    for message in messages {
        let bytes = serde_json::to_vec(&message).expect("it can be written");
        assert!(bytes.len() < LENGTH);
        assert_eq!(Message::decode(&bytes), Some(message));
    }
}

#[test]
fn every_message_fits_into_a_buffer() {
    let plan = Plan { iterations: u64::MAX, warmup: u64::MAX, size: u64::MAX, outstanding: u32::MAX, ..PLAN };
    let plan = Plan { connections: u32::MAX, active: u32::MAX, threads: u32::MAX, pause: u32::MAX, ..plan };
    let refused = ["ä", "\"", "\u{1}"].map(|letter| Message::refused(&anyhow!(letter.repeat(LENGTH))));
    for message in refused.into_iter().chain([Message::Plan(plan)]) {
        assert!(serde_json::to_vec(&message).expect("it can be written").len() <= LENGTH, "{message:?}");
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let impossible = Message::Plan(Plan { size: 0, ..PLAN });
    let impossible = serde_json::to_vec(&impossible).expect("it can be written");
    let endless = b"{\"Turn\":{\"transfers\":32769,\"counts\":true}}";
    for bytes in [&b""[..], b"\0", b"dat-perf", b"{\"Ready\":-1}", b"\"Meet\" x", &impossible, endless] {
        assert_eq!(Message::decode(bytes), None, "{bytes:?}");
    }
}
