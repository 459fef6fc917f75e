use dat_measure::testing::PLAN;

use super::*;

#[test]
fn names_a_missing_cpu() {
    for cpu in [CpuSet::MAX_CPU - 1, usize::MAX] {
        let error = pin(&[cpu], 3).expect_err("no machine has it").to_string();
        assert!(error.contains(&cpu.to_string()), "{error}");
    }
    pin(&[], 0).expect("an empty list changes nothing");
}

fn of(usable: usize, own: &[usize], peer: &[usize], child: bool) -> Cpus {
    Cpus { usable, load: 0.26, own: own.to_vec(), peer: peer.to_vec(), child }
}

#[test]
fn counts_threads_that_share_cpus() {
    let plan = Plan { threads: 2, wait: false, near: true, ..PLAN };
    assert_eq!(of(2, &[], &[], false).pollers(&plan), (4, 2));
    assert_eq!(of(2, &[], &[], false).pollers(&Plan { near: false, ..plan }), (2, 2));
    assert_eq!(of(2, &[0], &[], false).pollers(&plan), (2, 1));
    assert_eq!(of(2, &[0], &[0], true).pollers(&plan), (4, 1));
    assert_eq!(of(4, &[0], &[], true).pollers(&plan), (4, 4));
    assert!(!of(1, &[], &[], true).are_few_for(&Plan { wait: true, ..plan }));
}

#[test]
fn describes_the_cpus() {
    let plan = Plan { threads: 1, wait: false, near: true, ..PLAN };
    assert_eq!(of(2, &[], &[], true).line(&plan), "CPUs: 2 usable, load 0.3, not pinned.");
    assert_eq!(
        of(2, &[0], &[1], true).line(&plan),
        "CPUs: 2 usable, load 0.3, pinned to 0 here, pinned to 1 at the server."
    );
    assert_eq!(
        of(1, &[], &[], false).line(&plan),
        "CPUs: 1 usable, load 0.3, not pinned; 2 threads poll on 1 CPU, so they yield to each other: --wait may be faster."
    );
    let busy = Cpus { load: 6.9, ..of(2, &[], &[], true) };
    let line = "CPUs: 2 usable, load 6.9, not pinned; the host is busy, so the times include waits for a CPU";
    assert_eq!(busy.line(&plan), format!("{line}: --wait may be faster."));
    assert_eq!(busy.line(&Plan { wait: true, ..plan }), format!("{line}."));
}
