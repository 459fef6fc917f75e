use super::*;
use crate::interface::INTERFACES;

#[test]
fn every_call_is_in_every_list() {
    let all: Vec<Calls> = INTERFACES.iter().map(|each| Calls::read(&crate::root(), each).unwrap()).collect();
    for (interface, calls) in INTERFACES.iter().zip(&all) {
        let mut symbols = symbols(interface, calls).text;
        symbols.extend(further_symbols(interface, calls).map(|file| file.text));
        assert!(calls.functions().all(|call| symbols.contains(&format!("{}\n", call.name))));
    }
}
