use std::fs;

use super::*;

#[test]
fn matches_proc_self_limits() {
    let text = fs::read_to_string("/proc/self/limits").expect("limits");
    let shown = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.split_whitespace().next().expect("a value").parse().ok()
    };
    assert_eq!(open_files().expect("a limit"), shown("Max open files"));
    assert_eq!(file_size().expect("a limit"), shown("Max file size"));
    assert_eq!(locked_memory().expect("a limit"), shown("Max locked memory"));
}
