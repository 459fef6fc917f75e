use super::*;
use crate::calls::Calls;
use crate::interface::INTERFACES;

#[test]
fn levels_contain_only_calls() {
    let all = INTERFACES.iter().map(|interface| Calls::read(&crate::root(), interface).unwrap());
    let all: Vec<Calls> = all.collect();
    let known = |name: &&str| all.iter().any(|calls| calls.find(name).is_some());
    assert!(USER.iter().chain(REGISTRY).all(known));
}
