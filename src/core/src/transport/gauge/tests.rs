use super::*;

#[test]
fn only_beginnings_count() {
    let gauge = Gauge::default();
    for waits in [false, true, true, false, false, true] {
        gauge.set(Handle(8), Stall::Message, waits);
    }
    assert_eq!(gauge.stalls(), 2);
}
