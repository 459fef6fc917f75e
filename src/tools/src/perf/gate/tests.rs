use anyhow::anyhow;

use super::*;

#[test]
fn threads_wait_for_each_other() {
    let gate = Gate::new(3);
    let passed = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut pace = Pace::new(&gate, None, None);
                for round in 1..=50 {
                    *passed.lock() += 1;
                    pace.meet().expect("nobody fails");
                    assert_eq!(*passed.lock(), 3 * round);
                    pace.meet().expect("nobody fails");
                }
            });
        }
    });
}

#[test]
fn a_failure_lets_all_go() {
    let gate = Gate::new(2);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Pace::new(&gate, None, None).meet());
        assert!(gate.outcome(Err::<(), _>(anyhow!("lost"))).is_none());
        assert!(waiting.join().expect("no panic").is_err());
    });
}

#[test]
fn what_went_wrong_first_is_the_error_of_all() {
    let gate = Gate::new(2);
    assert_eq!(gate.all([gate.outcome(Ok(1)), gate.outcome(Ok(2))]).expect("nobody failed"), [1, 2]);
    let failed = ["lost", "late"].map(|text| gate.outcome(Err(anyhow!(text))));
    assert_eq!(gate.all(failed.into_iter().chain([Some(3)])).expect_err("it failed").to_string(), "lost");
}
