use super::*;

#[test]
fn shows_each_interval_and_the_rest() {
    let (mut shown, second) = (Vec::new(), Duration::from_secs(1));
    let mut show = |time: Duration, measured: Measured, usage: Usage| {
        shown.push((time.as_millis(), measured.turns.len(), measured.ticks.len(), usage.processor.as_millis()));
        Ok(())
    };
    let mut intervals = Intervals::new(second, &mut show);
    let began = Instant::now();
    assert_eq!(intervals.left(began), second);
    let mut measured = Measured { turns: Vec::new(), ticks: times(), tick: 1.0 };
    let mut usage = Usage::default();
    for turn in 0..12_u32 {
        measured.turns.push((began + turn * second / 4, second / 4));
        measured.ticks.record_n(10, 100).unwrap();
        usage.processor += second / 8;
        // A turn took three seconds.
        if turn == 5 {
            measured.turns[5].1 *= 12;
        }
        intervals.show(&measured, usage, turn == 5).unwrap();
        if turn == 5 {
            break;
        }
    }
    assert_eq!(intervals.left(began + 9 * second / 2), second / 2);
    intervals.show(&measured, usage, true).unwrap();
    assert_eq!(shown, [(1_000, 4, 400, 500), (4_250, 2, 200, 250)]);
}
