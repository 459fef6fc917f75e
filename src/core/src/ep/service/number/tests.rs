use std::collections::HashSet;

use super::*;

#[test]
fn numbers_of_a_process_and_of_its_neighbours_differ() {
    let of = |process| (0..100_000).map(move |index| encode(process, index));
    let numbers: HashSet<u32> = of(32_767).chain(of(32_766)).chain(of(1)).collect();
    assert_eq!(numbers.len(), 300_000);
    let first: HashSet<u32> =
        (0..1 << LOW).flat_map(|index| [1 << 21, (1 << 22) - 1].map(|id| encode(id, index))).collect();
    assert_eq!(first.len(), 2 << LOW);
}

#[test]
fn living_numbers_are_not_used_again() {
    let living: Vec<Number> = (0..3000).map(|_| Number::new().expect("memory")).collect();
    let different: HashSet<u32> = living.iter().map(Number::get).collect();
    assert_eq!(different.len(), living.len());
    let last = living.last().map(Number::get);
    drop(living);
    assert_ne!(Number::new().ok().map(|number| number.get()), last);
}
