use super::*;
use crate::interface::INTERFACES;

#[test]
fn levels_contain_only_calls() {
    let all = INTERFACES.iter().flat_map(|interface| crate::calls::all(&crate::root(), interface).unwrap());
    let names: Vec<String> = all.map(|call| call.name).collect();
    assert!(USER.split(' ').chain(REGISTRY.split(' ')).all(|name| names.iter().any(|known| known == name)));
}
