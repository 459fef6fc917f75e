use super::*;
use crate::testing::PLAN;

#[test]
fn rejects_numbers_out_of_range() {
    let wrong = [
        Plan { size: 0, ..PLAN },
        Plan { size: MAX_SIZE + 1, ..PLAN },
        Plan { iterations: 0, ..PLAN },
        Plan { iterations: MAX_ITERATIONS + 1, ..PLAN },
        Plan { warmup: u64::MAX, ..PLAN },
        Plan { pause: MAX_PAUSE + 1, ..PLAN },
        Plan { outstanding: 0, ..PLAN },
        Plan { outstanding: MAX_OUTSTANDING + 1, ..PLAN },
        Plan { connections: MAX_CONNECTIONS + 1, ..PLAN },
        Plan { active: 1_001, ..PLAN },
        Plan { threads: 0, ..PLAN },
        Plan { both: true, test: Test::ReadLat, ..PLAN },
        Plan { reverse: true, test: Test::SendLat, ..PLAN },
        Plan { both: true, reverse: true, ..PLAN },
    ];
    for plan in wrong {
        assert!(!plan.is_possible(), "{plan:?}");
    }
    assert!(PLAN.is_possible());
}
