use dat_measure::perf::plan::MAX_THREADS;
use dat_measure::testing::PLAN;

use super::*;

#[test]
fn converts_messages() {
    let most = u64::MAX;
    let usage = Usage { elapsed: Duration::from_nanos(2), processor: Duration::from_secs(1) };
    let messages = [
        Message::Plan(PLAN),
        Message::Ready(most),
        Message::refused(anyhow!("no room")),
        Message::Memory(vec![(u32::MAX, most, most); MAX_THREADS as usize]),
        Message::Turn(Turn { transfers: MAX_STEPS as u64, counts: true }),
        Message::Report(usage),
    ];
    for message in messages {
        let bytes = serde_json::to_vec(&message).expect("it can be written");
        assert!(bytes.len() < MAX_MESSAGE);
        assert_eq!(Message::decode(&bytes), Some(message));
    }
}

#[test]
fn messages_fit_into_a_buffer() {
    let plan = Plan { iterations: u64::MAX, warmup: u64::MAX, size: u64::MAX, outstanding: u32::MAX, ..PLAN };
    let plan = Plan { connections: u32::MAX, active: u32::MAX, threads: u32::MAX, pause: u32::MAX, ..plan };
    let refused = ["ä", "\"", "\u{1}"].map(|letter| Message::refused(anyhow!(letter.repeat(MAX_MESSAGE))));
    for message in refused.into_iter().chain([Message::Plan(plan)]) {
        assert!(serde_json::to_vec(&message).expect("it can be written").len() <= MAX_MESSAGE, "{message:?}");
    }
}

#[test]
fn filters_reasons_of_the_peer() {
    let reason = format!("\u{1b}[31mno\nroom{}", "x".repeat(MAX_REASON));
    let bytes = serde_json::to_vec(&Message::Refused(reason)).expect("it can be written");
    let Some(Message::Refused(reason)) = Message::decode(&bytes) else { panic!("no reason") };
    assert!(reason.starts_with("[31mnoroomx") && reason.len() == MAX_REASON, "{reason}");
}

#[test]
fn rejects_invalid_messages() {
    let impossible = Message::Plan(Plan { size: 0, ..PLAN });
    let impossible = serde_json::to_vec(&impossible).expect("it can be written");
    let endless = b"{\"Turn\":{\"transfers\":32769,\"counts\":true}}";
    for bytes in [&b""[..], b"\0", b"dat-perf", b"{\"Ready\":-1}", b"{\"Ready\":1} x", &impossible, endless] {
        assert_eq!(Message::decode(bytes), None, "{bytes:?}");
    }
}
