use super::*;

#[test]
fn threads_wait_for_each_other() {
    let gate = Gate::new(3);
    let passed = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut pace = Pace::new(&gate, None);
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
        let waiting = scope.spawn(|| Pace::new(&gate, None).meet());
        assert!(gate.outcome(Err::<(), _>(anyhow::anyhow!("lost"))).is_err());
        assert!(waiting.join().expect("no panic").is_err());
    });
}

#[test]
fn what_went_wrong_comes_before_who_was_let_go() {
    let failed = |text: &'static str| Err(anyhow::anyhow!(text));
    let all = |results: Vec<anyhow::Result<u8>>| super::all(results).map_err(|error| error.to_string());
    assert_eq!(all(vec![Ok(1), Ok(2)]), Ok(vec![1, 2]));
    assert_eq!(all(vec![Err(LetGo.into()), Ok(1), failed("lost"), failed("late")]), Err("lost".to_owned()));
    assert_eq!(all(vec![failed("lost"), Err(LetGo.into())]), Err("lost".to_owned()));
    assert_eq!(all(vec![Ok(1), Err(LetGo.into())]), Err(LetGo.to_string()));
}
