use super::*;

#[test]
fn reads_what_it_writes() {
    let line = "c20            check suite       1800    180  the C suite for uDAPL 2.0";
    let step = Step::parse(line).unwrap();
    assert_eq!(
        (step.name.as_str(), step.tier, step.lane, step.longest, step.took),
        ("c20", Tier::Check, Lane::Suite, 1800, 180)
    );
    assert_eq!(step.to_string(), line);
}

#[test]
fn rejects_an_unknown_lane() {
    assert_eq!(Step::parse("c20 check beside 1800 180 the C suite"), None);
}

#[test]
fn knows_each_step_of_the_table() {
    for step in read().unwrap() {
        assert!(super::super::steps::body(&step.name).is_some(), "{}", step.name);
    }
}
