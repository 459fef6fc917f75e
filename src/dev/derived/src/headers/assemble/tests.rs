use super::*;

#[test]
fn short_comments_are_joined() {
    assert_eq!(tidy("/**\n * A word.\n */\nint a;\n"), "/** A word. */\nint a;");
    assert_eq!(tidy("/**\n * One.\n * Two.\n */"), "/**\n * One.\n * Two.\n */");
}

#[test]
fn finds_names_of_macros() {
    let names = defined_names("#define A(x) x\n#define B 1\n# define C\n");
    assert_eq!(names, HashSet::from(["A".to_owned(), "B".to_owned()]));
}

#[test]
fn joins_both_names_of_type() {
    let second = Second { tag: "t".to_owned(), name: "T".to_owned() };
    let text = "struct t {\n    int a;\n};\n\ntypedef struct t T;";
    assert_eq!(join_names(text, &second).unwrap(), "typedef struct t {\n    int a;\n} T;");
    assert!(join_names("struct t;", &second).is_err());
}
