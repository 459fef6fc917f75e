use super::*;

#[test]
fn a_processor_that_is_not_there_is_named() {
    for processor in [CpuSet::MAX_CPU - 1, usize::MAX] {
        let error = pin(&[processor], 3).expect_err("no machine has it").to_string();
        assert!(error.contains(&processor.to_string()), "{error}");
    }
    pin(&[], 0).expect("nothing to do");
}

fn of(usable: &[usize], own: &[usize], peer: &[usize], child: bool) -> Processors {
    Processors { usable: usable.iter().copied().collect(), load: 0.26, own: own.to_vec(), peer: peer.to_vec(), child }
}

#[test]
fn both_ends_have_cores_of_their_own_where_there_are_enough() {
    let pairs = |processor: usize| BTreeSet::from([processor & !1, processor | 1]);
    let usable = (0..8).collect();
    assert_eq!(apart(&usable, 3, pairs, 2), Some(vec![3, 4]));
    assert_eq!(apart(&usable, 3, pairs, 6), Some(vec![3, 4, 6, 0, 5, 7]));
    assert_eq!(apart(&BTreeSet::from([0, 1]), 0, pairs, 2), Some(vec![0, 1]));
    assert_eq!(apart(&BTreeSet::from([5]), 0, |_| BTreeSet::new(), 2), None);
}

#[test]
fn nobody_is_pinned_who_sleeps_or_was_told_where_or_finds_no_free_processor() {
    let spread = |mut processors: Processors, threads, wait| {
        processors.spread(threads, wait);
        (processors.own.len(), processors.peer.len())
    };
    let usable: Vec<usize> = (0..4).collect();
    assert_eq!(spread(of(&usable, &[], &[], true), 1, false), (1, 1));
    assert_eq!(spread(of(&usable, &[], &[], true), 1, true), (0, 0));
    assert_eq!(spread(of(&usable, &[], &[], false), 1, false), (0, 0));
    assert_eq!(spread(of(&usable, &[2], &[], true), 1, false), (1, 0));
    assert_eq!(spread(of(&usable, &[], &[], true), 3, false), (0, 0));
    assert_eq!(spread(Processors { load: 2.6, ..of(&usable, &[], &[], true) }, 1, false), (0, 0));
}

#[test]
fn threads_that_poll_are_counted_on_the_processors_that_they_share() {
    let plan = Plan { threads: 2, wait: false, near: true, ..crate::perf::plan::tests::PLAN };
    assert_eq!(of(&[0, 1], &[], &[], false).pollers(&plan), (4, 2));
    assert_eq!(of(&[0, 1], &[], &[], false).pollers(&Plan { near: false, ..plan }), (2, 2));
    assert_eq!(of(&[0, 1], &[0], &[], false).pollers(&plan), (2, 1));
    assert_eq!(of(&[0, 1], &[0], &[0], true).pollers(&plan), (4, 1));
    assert_eq!(of(&[0, 1, 2, 3], &[0], &[], true).pollers(&plan), (4, 4));
    assert!(!of(&[0], &[], &[], true).are_few_for(&Plan { wait: true, ..plan }));
}

#[test]
fn people_see_where_it_ran() {
    let plan = Plan { threads: 1, wait: false, near: true, ..crate::perf::plan::tests::PLAN };
    assert_eq!(of(&[0, 1], &[], &[], true).line(&plan), "Processors: 2 usable, load 0.3, not pinned.");
    assert_eq!(
        of(&[0, 1], &[0], &[1], true).line(&plan),
        "Processors: 2 usable, load 0.3, pinned to 0 here, pinned to 1 at the server."
    );
    assert_eq!(
        of(&[3], &[], &[], false).line(&plan),
        "Processors: 1 usable, load 0.3, not pinned; 2 threads poll on one processor, so they give way to each other: \
         --wait may be better."
    );
}
