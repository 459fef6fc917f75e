use super::*;

/// Returns a plan whose numbers all differ.
pub const PLAN: Plan = Plan {
    test: Test::WriteBw,
    size: 1 << 20,
    iterations: 500,
    warmup: 51,
    outstanding: 64,
    connections: 1_000,
    active: 3,
    threads: 2,
    pause: 50,
    srq: true,
    wait: false,
    target_polls: false,
    verify: true,
    both: false,
    reverse: false,
    near: true,
    crowded: false,
};

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
