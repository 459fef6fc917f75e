use super::*;

#[test]
fn macros_are_found_by_name() {
    let names = defined_names("#define A(x) x\n#define B 1\n# define C\n");
    assert_eq!(names, HashSet::from(["A".to_owned(), "B".to_owned()]));
}
