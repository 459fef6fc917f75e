use super::*;

#[test]
fn reads_turns() {
    let schedule =
        Schedule::parse("# head\n\nstress/idle  alone  judges CPU time\nverbs/gone last resets devices\n").unwrap();
    assert_eq!(schedule.turn("stress/idle"), Turn::Alone);
    assert_eq!(schedule.turn("verbs/gone"), Turn::Last);
    assert_eq!(schedule.turn("flow/sizes"), Turn::Any);
}

#[test]
fn rejects_lines_without_turn_or_reason() {
    assert!(Schedule::parse("stress/idle never x\n").is_err());
    assert!(Schedule::parse("stress/idle alone\n").is_err());
}

#[test]
fn reads_the_table_of_the_suite() {
    Schedule::read(&path()).unwrap();
}
