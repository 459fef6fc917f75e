// SPDX-License-Identifier: MIT OR Apache-2.0

//! `xtask suite` with scripts instead of programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the suite in `dir` with scripts of these names and texts as programs.
fn suite(dir: &Path, scripts: &[(&str, &str)], options: &[&str]) -> Output {
    fs::create_dir_all(dir.join("subject")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("suite").arg("--libdir").arg(dir).arg("--out").arg(dir.join("out")).args(options);
    for (name, text) in scripts {
        let path = dir.join("subject").join(name);
        fs::write(&path, text).unwrap();
        command.arg(path);
    }
    command.env_remove("DAT_TEST_SCALE").output().unwrap()
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_string()
}

#[test]
fn counts_what_the_scripts_print() {
    let dir = tempfile::tempdir().unwrap();
    let scripts = [
        ("good.sh", "echo 'ok 1 - a'; echo 'ok 2 - b # SKIP no device'; echo 1..2"),
        ("bad.sh", "echo '# why'; echo 'not ok 1 - a'; echo 1..1; exit 1"),
        ("short.sh", "echo 'ok 1 - a'; echo 1..2"),
    ];
    let output = suite(dir.path(), &scripts, &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(last_line(&output), "2 passed, 2 failed, 1 skipped");
    for part in ["    # why\n    not ok 1 - a\n", "planned 2 subtests, made 1", "1 no device (subject/good.sh)"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn separates_programs() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo \"$DAT_TEST_SLOT\" >\"$0.slot\"; grep -o '\"/[^\"]*\"' \"$DAT_OVERRIDE\" >\"$0.place\"; echo 'ok 1 - a'; echo 1..1";
    let output = suite(dir.path(), &[("a.sh", script), ("b.sh", script)], &["--jobs", "2"]);
    assert_eq!(last_line(&output), "2 passed, 0 failed, 0 skipped");
    let read = |name: &str| fs::read_to_string(dir.path().join("subject").join(name)).unwrap();
    assert_ne!(read("a.sh.place"), read("b.sh.place"));
    assert!(["0\n", "1\n"].contains(&read("a.sh.slot").as_str()));
}

#[test]
fn ends_what_takes_too_long() {
    let dir = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let script = "sleep 1000 & echo $! >\"$0.pid\"; echo 'ok 1 - a'; wait";
    let output = suite(dir.path(), &[("slow.sh", script)], &["--limit", "10"]);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(last_line(&output), "1 passed, 1 failed, 0 skipped");
    assert!(String::from_utf8_lossy(&output.stdout).contains("ran out of time"));
    let child = fs::read_to_string(dir.path().join("subject/slow.sh.pid")).unwrap();
    let lives = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    // On a busy machine, a killed process ends later than the suite.
    while lives() && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(!lives(), "the process that the script left is alive");
}

#[test]
fn repeats_programs_and_reports_those_that_fail_once() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo 1..1; if mkdir \"$0.once\" 2>/dev/null; then echo 'not ok 1 - a'; exit 1; fi; echo 'ok 1 - a'";
    let output = suite(dir.path(), &[("rare.sh", script)], &["--repeat", "4", "--jobs", "1"]);
    assert_eq!(last_line(&output), "3 passed, 1 failed, 0 skipped");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1/4 runs failed"));
}
