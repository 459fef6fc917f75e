use std::sync::mpsc;

use super::*;

fn own() -> (libc::pid_t, libc::pid_t) {
    (std::process::id() as libc::pid_t, rustix::thread::gettid().as_raw_nonzero().get())
}

#[test]
fn observes_states_of_threads() {
    let (pid, tid) = own();
    assert!(is_thread(pid, tid).unwrap());
    assert!(is_visible(pid));
    assert!(matches!(doing(pid, tid), Doing::Running(_)), "{:?}", doing(pid, tid));
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        tell.send(own().1).unwrap();
        let _ = ended.recv();
    });
    let tid = told.recv().unwrap();
    while doing(pid, tid) != Doing::Elsewhere {
        std::thread::yield_now();
    }
    assert!(is_thread(pid, tid).unwrap());
    end.send(()).unwrap();
    thread.join().unwrap();
    while doing(pid, tid) != Doing::Gone {
        std::thread::yield_now();
    }
    assert!(!is_thread(pid, tid).unwrap());
}

#[test]
fn finds_no_missing_thread() {
    assert!(!is_thread(0, 1).unwrap());
    assert!(!is_thread(-1, -1).unwrap());
    assert!(!is_visible(0));
    assert_eq!(doing(i32::MAX, i32::MAX), Doing::Gone);
}

#[test]
fn detects_other_namespaces() {
    let all = |status| namespace_ids(status).collect::<Vec<_>>();
    assert_eq!(all("Name:\tx\nNSpid:\t7\nVmPeak: 1\n"), ["7"]);
    assert_eq!(all("NSpid:\t1234\t7\n"), ["1234", "7"]);
    assert_eq!(all("Name:\tx\n"), [""; 0]);
    assert!(is_own_proc().unwrap());
}

#[test]
fn process_starts_before_its_files() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let began = beginning(child.id() as i32).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let age = SystemTime::now().duration_since(began).unwrap();
    assert!(age < Duration::from_secs(30), "{age:?}");
    assert!(beginning(own().0).unwrap() <= began);
    assert_eq!(beginning(i32::MAX), None);
}

#[test]
fn ignores_names_of_threads() {
    let stat = "7 (a) Z 9) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14";
    assert_eq!(parse_stat(stat), Some((b'S', 23)));
    assert_eq!(parse_stat("7 (a) S 1 2"), None);
    assert_eq!(parse_stat(""), None);
}

#[test]
fn distinguishes_copies_from_other_calls() {
    let copy = |number: libc::c_long| parse_syscall(&format!("{number} 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8"));
    assert_eq!(copy(libc::SYS_process_vm_readv), Some(Call::Copy));
    assert_eq!(copy(libc::SYS_process_vm_writev), Some(Call::Copy));
    assert_eq!(copy(libc::SYS_futex), Some(Call::Other));
    assert_eq!(parse_syscall("-1 0x7ffc 0x7f00"), Some(Call::Other));
    assert_eq!(parse_syscall("running\n"), Some(Call::Running));
    assert_eq!(parse_syscall(""), None);
}
