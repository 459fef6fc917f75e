use super::*;
use crate::interface::INTERFACES;

#[test]
fn every_call_is_in_every_list() {
    let all: Vec<Calls> = INTERFACES.iter().map(|each| Calls::read(&crate::root(), each).unwrap()).collect();
    for (interface, calls) in INTERFACES.iter().zip(&all) {
        let exported: String = symbols(interface, calls).into_iter().map(|file| file.text).collect();
        assert!(calls.functions().all(|call| exported.contains(&format!("{}\n", call.name))));
    }
}
