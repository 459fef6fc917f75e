use super::*;
use crate::interface::INTERFACES;

#[test]
fn every_call_is_in_every_list() {
    let all: Vec<Calls> = INTERFACES.iter().map(|each| Calls::read(&crate::root(), each).unwrap()).collect();
    let table = table(&all, &[]);
    for (interface, calls) in INTERFACES.iter().zip(&all) {
        let mut symbols = symbols(interface, calls).text;
        symbols.extend(further_symbols(interface, calls).map(|file| file.text));
        assert!(calls.functions().all(|call| symbols.contains(&format!("{}\n", call.name))));
        assert!(calls.functions().all(|call| table.contains(&format!("`{}`", call.name))));
    }
}

#[test]
fn a_comment_tells_whether_an_operation_is_there() {
    let operation = |comment| Operation::of(comment).map(|operation| (operation.name, operation.absent));
    assert_eq!(operation("See dat_x."), Some(("dat_x".to_owned(), false)));
    assert_eq!(operation("See dat_x. Not in this project: no."), Some(("dat_x".to_owned(), true)));
    assert_eq!(operation("See dat_x. Else."), None);
}
