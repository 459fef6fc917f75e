use super::*;

#[test]
fn requests_are_text() {
    for text in ["1.2 nonthreadsafe", "2.0 threadsafe"] {
        assert_eq!(text.parse::<Request>().unwrap().to_string(), text);
    }
    assert_eq!(Request::of(Api::V12).to_string(), "1.2 nonthreadsafe");
    for text in ["1.2", "1.2 safe", "1 threadsafe"] {
        assert!(text.parse::<Request>().is_err(), "{text}");
    }
}
