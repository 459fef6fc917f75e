use super::*;
use crate::testing::PLAN;

#[test]
fn lists_used_buffers() {
    let plan = Plan { outstanding: 2, connections: 3, active: 3, ..PLAN };
    let used: Vec<_> = used(&plan, 5).map(|Used { connection, slot, last }| (connection, slot, last)).collect();
    assert_eq!(used, [(0, 0, 0), (0, 1, 1), (1, 2, 0), (1, 3, 1), (2, 4, 0)]);
}
