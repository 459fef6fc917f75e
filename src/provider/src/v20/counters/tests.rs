use super::*;

/// Names for a baseline of three counters.
const NAMES: &[(u32, &CStr)] = &[(0, c"A"), (1, c"B"), (2, c"C"), (3, c"ALL")];

fn told(
    counter_baseline: &mut CounterBaseline<3>,
    values: [u64; 3],
    counter: c_int,
    reset: bool,
) -> Answer<Vec<(usize, String, u64)>> {
    let mut all = Vec::new();
    let mut tell = |at: usize, name: &CStr, value: u64| {
        all.push((at, name.to_str().unwrap().to_owned(), value));
        Ok(())
    };
    counter_baseline.tell(NAMES, values, Choice { counter, reset }, &mut tell).map(|()| all)
}

fn of(all: &[(usize, &str, u64)]) -> Answer<Vec<(usize, String, u64)>> {
    Ok(all.iter().map(|&(at, name, value)| (at, name.to_owned(), value)).collect())
}

#[test]
fn restarts_from_zero_after_reset() {
    let mut counter_baseline = CounterBaseline { zeros: [0; 3], sampled: [0; 3] };
    assert_eq!(told(&mut counter_baseline, [5, 6, 7], 1, true), of(&[(1, "B", 6)]));
    assert_eq!(told(&mut counter_baseline, [5, 8, 7], 3, false), of(&[(0, "A", 5), (1, "B", 2), (2, "C", 7)]));
    assert_eq!(told(&mut counter_baseline, [5, 8, 7], 3, true), of(&[(0, "A", 5), (1, "B", 2), (2, "C", 7)]));
    assert_eq!(told(&mut counter_baseline, [5, 8, 8], 3, false), of(&[(0, "A", 0), (1, "B", 0), (2, "C", 1)]));
}

#[test]
fn rejects_unknown_numbers() {
    let mut counter_baseline = CounterBaseline { zeros: [0; 3], sampled: [0; 3] };
    for counter in [-1, 4, c_int::MAX, c_int::MIN] {
        assert_eq!(told(&mut counter_baseline, [1; 3], counter, true), Err(Fault::Argument(3)));
    }
}

#[test]
fn keeps_baseline_if_report_fails() {
    let mut counter_baseline = CounterBaseline { zeros: [0; 3], sampled: [0; 3] };
    let all = Choice { counter: 3, reset: true };
    assert_eq!(
        counter_baseline.tell(NAMES, [1; 3], all, &mut |_, _, _| Err(Fault::Argument(4))),
        Err(Fault::Argument(4))
    );
    assert_eq!(counter_baseline.zeros, [0; 3]);
}

#[test]
fn samples_value_and_then_difference() {
    let at = |counter: DAT_IA_COUNTERS| counter as usize;
    let mut counter_baseline = CounterBaseline { zeros: [9; OF_ADAPTER], sampled: [0; OF_ADAPTER] };
    counter_baseline.sample(DCNT_IA_LNK, true, |name| if name == "port_xmit_wait" { 100 } else { 1 });
    assert_eq!(counter_baseline.sampled[at(DCNT_IA_LNK_WARN_XMT_WAIT)], 100);
    assert_eq!(counter_baseline.sampled[at(DCNT_IA_DIAG_ERR_RQ_RAE)], 0);
    counter_baseline.sample(DCNT_IA_LNK, false, |name| if name == "port_xmit_wait" { 130 } else { 0 });
    assert_eq!(counter_baseline.sampled[at(DCNT_IA_LNK_WARN_XMT_WAIT)], 30);
    assert_eq!(counter_baseline.sampled[at(DCNT_IA_LNK_ERR_RCV)], 0);
    assert_eq!(
        [DCNT_IA_LNK_ERR_RCV, DCNT_IA_DIAG_ERR_RQ_RAE].map(|counter| counter_baseline.zeros[at(counter)]),
        [0, 9]
    );
}

#[test]
fn names_are_in_order_of_numbers() {
    for (names, number) in [(DAT_IA_COUNTERS, OF_ADAPTER), (DAT_EP_COUNTERS, OF_ENDPOINT), (DAT_EVD_COUNTERS, OF_EVD)] {
        assert_eq!(names.len(), number + 1);
        assert!(names.iter().enumerate().all(|(at, (counter, _))| at == *counter as usize));
    }
}
