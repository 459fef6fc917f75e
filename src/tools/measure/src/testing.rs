//! A plan for tests.

use crate::perf::plan::{Plan, Test};

/// A plan whose numbers all differ.
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
