// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
    Counts { passed, failed, skipped }
}

#[test]
fn counts_the_subtests_of_a_program() {
    let output = "ok 1 - a\n# remark\nnot ok 2 - b\nok 3 - c #7 # SKIP no device\n1..3\n";
    let (results, why) = program(output, End::Exited(1));
    assert_eq!(results, Results { counts: counts(1, 1, 1), reasons: vec!["no device".into()] });
    assert_eq!(why, None);
}

#[test]
fn counts_a_program_that_skips_all() {
    let (results, why) = program("1..0 # SKIP only a part ran\n", End::Exited(0));
    assert_eq!(results, Results { counts: counts(0, 0, 1), reasons: vec!["only a part ran".into()] });
    assert_eq!(why, None);
}

#[test]
fn fails_a_program_that_does_not_keep_its_plan() {
    let failed = |output, end| program(output, end).1.expect("a reason");
    assert_eq!(failed("ok 1 - a\n1..2\n", End::Exited(0)), "planned 2 subtests, made 1");
    assert_eq!(failed("ok 1 - a\n", End::Exited(0)), "ended without a plan, status 0");
    assert_eq!(failed("ok 1 - a\n1..1\n", End::Exited(3)), "exit status 3");
    assert_eq!(failed("ok 1 - a\n1..1\n", End::Exited(99)), "valgrind found errors");
    assert_eq!(failed("ok 1 - a\n1..1\n", End::Signalled(11)), "killed by signal 11");
    assert_eq!(failed("ok 1 - a\n", End::TimedOut), "ran out of time");
    assert_eq!(failed("Bail out! no adapter\n", End::Exited(1)), "bailed out");
    assert_eq!(program("ok 1 - a\n1..2\n", End::Exited(0)).0.counts, counts(1, 1, 0));
}

#[test]
fn shows_failures_with_their_comments() {
    let output = "# before\nok 1 - a\n# why\nnot ok 2 - b\n# more\nok 3 - c\n# silent\n1..3\n";
    assert_eq!(failures(output), ["# why", "not ok 2 - b", "# more"]);
}

#[test]
fn names_what_failed_in_a_log() {
    let log = "test a::b ... ok\ntest c::d ... FAILED\nsrq/free       12 passed   0 failed   0 skipped\n\
        flow/send      10 passed   2 failed   0 skipped   1.5s\n    not ok 4 - the event\n12 passed, 2 failed, 0 skipped\n";
    let names =
        ["test c::d ... FAILED", "flow/send      10 passed   2 failed   0 skipped   1.5s", "not ok 4 - the event"];
    assert_eq!(failed_lines(log), names);
}

#[test]
fn counts_a_script_without_its_plan() {
    let results = script("ok 1 - a\nnot ok - the script did not come to its end\nok 2 - b # SKIP no zsh\n");
    assert_eq!(results, Results { counts: counts(1, 1, 1), reasons: vec!["b: no zsh".into()] });
}

#[test]
fn adds_up_what_cargo_prints() {
    let output = "test a::b ... ok\ntest c::d ... ignored, needs a device\n\
        test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
        test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\n";
    assert_eq!(
        cargo(output),
        Results { counts: counts(15, 2, 1), reasons: vec!["c::d: ignored, needs a device".into()] }
    );
}

#[test]
fn reads_its_own_closing_line() {
    let output = "flow/sizes 3 passed\nskipped:\n      2 no device (flow/sizes)\n3 passed, 0 failed, 2 skipped\n";
    assert_eq!(
        closing(output),
        Some(Results { counts: counts(3, 0, 2), reasons: vec!["no device (flow/sizes)".into()] })
    );
    assert_eq!(closing("make: no rule\n"), None);
}
