use super::*;
use crate::perf::plan::tests::PLAN;

#[test]
fn buffers_that_were_used_are_known() {
    let plan = Plan { iterations: 4, warmup: 1, outstanding: 2, connections: 3, active: 3, ..PLAN };
    let used: Vec<_> = used(&plan).map(|Used { connection, slot, last }| (connection, slot, last)).collect();
    assert_eq!(used, [(0, 1, 1), (0, 0, 2), (1, 2, 0), (2, 4, 0)]);
}
