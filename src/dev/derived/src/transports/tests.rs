use super::{items, value};

#[test]
fn finds_types_and_constants() {
    let text = "pub trait Transport: Send {\n    /// A [`queue`]; or none.\n    type Srq: Send;\n\n    /// A zone.\n    \
                type Zone;\n\n    /// Bytes,\n    /// at most.\n    const INLINE_MAX: u64;\n}\n";
    let expected = [("Srq", "A `queue`"), ("INLINE_MAX", "Bytes")];
    assert_eq!(items(text), expected.map(|(item, meaning)| (item.to_owned(), meaning.to_owned())));
}

#[test]
fn finds_values() {
    let text = "type Srq = ();\nimpl Transport for A {\n    type SrqOf = B;\n    type Srq = Queue;\n    \
                const INLINE_MAX: u64 = 8;\n}\n";
    assert_eq!(value(text, "Srq").as_deref(), Some("`Queue`"));
    assert_eq!(value(text, "INLINE_MAX").as_deref(), Some("`8`"));
    assert_eq!(value(text, "Window"), None);
}
