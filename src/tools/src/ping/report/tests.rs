use clap::Parser;

use super::*;

fn of(arguments: &str) -> Report {
    Report::new(&Arguments::parse_from(["dat-ping"].into_iter().chain(arguments.split(' '))))
}

fn report() -> Report {
    of("--self --json")
}

#[test]
fn fails_after_lost_or_wrong_rounds() {
    let times = [(Operation::Send, Duration::from_micros(2))];
    let mut report = report();
    report.round(1, &times, Vec::new()).unwrap();
    assert_eq!(report.outcome(), Outcome::Fine);
    report.lost(2, "gone".to_owned()).unwrap();
    assert_eq!((report.loss(), report.outcome()), (50.0, Outcome::Failure));
    let mut report = self::report();
    report.round(1, &times, vec!["byte 0".to_owned()]).unwrap();
    assert_eq!((report.loss(), report.outcome()), (0.0, Outcome::Failure));
}

#[test]
fn names_the_kind_of_the_server() {
    let mut report = report();
    assert_eq!(report.document(None)["peer"], Value::Null);
    report.connected([127, 0, 0, 1].into(), true, true).unwrap();
    assert_eq!(report.document(None)["peer"], "dat-ping");
    report.other([127, 0, 0, 1].into(), Duration::from_micros(2)).unwrap();
    assert_eq!(report.document(None)["peer"], "other");
}

#[test]
fn keeps_the_rounds_before_an_error() {
    let mut report = report();
    assert_eq!(report.document(None).get("error"), None);
    report.lost(1, "gone".to_owned()).unwrap();
    let error = anyhow::anyhow!("no memory").context("the adapter does not open");
    let document = report.document(Some(&error));
    assert_eq!(document["error"], "the adapter does not open: no memory");
    assert_eq!((&document["rounds"][0]["lost"], &document["adapter"]), (&json!("gone"), &Value::Null));
}

#[test]
fn quiet_reports_keep_the_last_fault() {
    let mut report = of("shm localhost --flood --size 1");
    for round in 1..=2 {
        report.lost(round, "gone".to_owned()).unwrap();
    }
    assert!(report.last.as_ref().is_some_and(|last| last.contains("seq=2 lost: gone")));
    assert_eq!(report.bytes(), "1 byte");
}

#[test]
fn fails_without_rounds() {
    assert_eq!(report().loss(), 0.0);
    assert_eq!(report().outcome(), Outcome::Failure);
}

#[test]
fn fails_if_the_deadline_ends_the_rounds() {
    let times = [(Operation::Send, Duration::from_micros(2))];
    for (arguments, wanted) in
        [("--count 2", Outcome::Fine), ("--count 2 --deadline 1", Outcome::Failure), ("-w 1", Outcome::Fine)]
    {
        let mut report = of(&format!("--self --json {arguments}"));
        report.round(1, &times, Vec::new()).unwrap();
        assert_eq!(report.outcome(), wanted, "{arguments}");
    }
    assert!(!of("--self --json --count 2 --deadline 100").deadline_has_come(), "the deadline is to come");
}

#[test]
fn timestamps_and_quiet_apply_to_json() {
    let mut report = of("--self --json --timestamps");
    report.lost(1, "gone".to_owned()).unwrap();
    assert!(report.document(None)["rounds"][0]["time_s"].as_f64().is_some_and(|time| time > 1.6e9));
    let mut report = of("--self --json --quiet");
    report.lost(1, "gone".to_owned()).unwrap();
    assert_eq!(report.document(None).get("rounds"), None);
}
