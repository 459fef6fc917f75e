use super::*;
use crate::interface::INTERFACES;

fn header_of(template: &str) -> Result<String> {
    let root = crate::root();
    header(template, &INTERFACES[0], &source::Sources::read(&root, &INTERFACES[0])?, &[])
}

#[test]
fn keeps_lines_of_own_version() {
    let template = "a @version@\n\n@only 2.0\nb\n@end\n\n@only 1.2\nc\n@end\n";
    assert_eq!(header_of(template).unwrap(), "a 1.2\n\nc\n");
}

#[test]
fn rejects_wrong_directives() {
    for wrong in ["@only 2.1\n@end\n", "@only 1.2\n@only 2.0\na\n", "@modules dat\n", "@module data\n"] {
        assert!(header_of(wrong).is_err(), "{wrong}");
    }
}
