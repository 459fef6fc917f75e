use super::*;
use crate::interface::INTERFACES;

#[test]
fn every_function_is_in_a_list() {
    for interface in INTERFACES {
        let calls = crate::calls::all(&crate::root(), interface).unwrap();
        let exported: String = symbols(interface, &calls).into_iter().map(|file| file.text).collect();
        assert_eq!(exported.lines().count(), calls.iter().filter(|call| call.how != "slot").count());
    }
}
