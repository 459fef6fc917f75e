use std::fs;

use super::*;

fn blocked() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/status").expect("status");
    let mask = text.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("SigBlk");
    u64::from_str_radix(mask.trim(), 16).expect("a mask")
}

#[test]
fn blocks_all_signals_except_those_of_libc() {
    let mask = std::thread::spawn(move || {
        let before = blocked();
        let old = block_all();
        let mask = blocked();
        restore(old);
        assert_eq!(blocked(), before);
        mask
    });
    let mask = mask.join().expect("no panic");
    let has = |signal: i32| mask & 1 << (signal - 1) != 0;
    assert!([libc::SIGTERM, libc::SIGUSR1, libc::SIGALRM, libc::SIGPIPE, 64].into_iter().all(has));
    // Signal 33 is SIGSETXID of glibc. If it were blocked, setuid() in the program would hang.
    assert!(!has(33));
}
