//! The names that the registry libraries export.

use crate::Derived;
use crate::calls::Call;
use crate::interface::Interface;

/// Returns the names that the registry library exports, sorted, one per line. A second file has the names that only
/// this project's library of the version exports, if any.
pub fn symbols(interface: &Interface, calls: &[Call]) -> Vec<Derived> {
    let mut functions: Vec<&Call> = calls.iter().filter(|call| call.how != "slot").collect();
    functions.sort_by_key(|call| &call.name);
    let file = |(further, full): (bool, &str)| {
        let exported = functions.iter().filter(|call| call.further == further);
        let text = exported.map(|call| format!("{}\n", call.name)).collect();
        Derived { path: format!("tests-c/abi/symbols{}{full}.txt", interface.suffix), text }
    };
    [(false, ""), (true, "_full")].into_iter().filter(|(further, _)| interface.extended || !further).map(file).collect()
}

#[cfg(test)]
mod tests;
