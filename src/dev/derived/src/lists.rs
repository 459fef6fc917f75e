//! Lists of calls: exported names, and return codes to test.

use crate::Derived;
use crate::calls::Calls;
use crate::interface::{COMMON, Interface};

/// Returns the names that the registry library exports, sorted, one per line. A second file has the names that only
/// this project's library of the version exports, if any.
pub fn symbols(interface: &Interface, calls: &Calls) -> Vec<Derived> {
    let file = |(further, full): (bool, &str)| {
        let exported = calls.sorted().into_iter().filter(|call| call.further == further);
        let text = exported.map(|call| format!("{}\n", call.name)).collect();
        Derived { path: format!("tests-c/abi/symbols{}{full}.txt", interface.suffix), text }
    };
    [(false, ""), (true, "_full")].into_iter().filter(|(further, _)| interface.extended || !further).map(file).collect()
}

/// Returns each call with each type of return code that this project returns.
pub fn codes(interface: &Interface, calls: &Calls) -> Derived {
    let mut text = format!(
        "# The return codes of each call, by the tables of errors in {COMMON}/src/calls and\n\
         # {}/src/calls: a subtest of the suite has to provoke each, or unprovoked{}.txt says why not.\n\
         # Written by `make derived`.\n",
        interface.source, interface.suffix
    );
    for call in calls.sorted() {
        for kind in call.doc.own_types() {
            text.push_str(&format!("{} {kind}\n", call.name));
        }
    }
    Derived { path: format!("tests-c/codes/codes{}.txt", interface.suffix), text }
}

#[cfg(test)]
mod tests;
