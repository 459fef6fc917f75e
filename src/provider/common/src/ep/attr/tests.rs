use super::*;

#[test]
fn watermarks_are_read_back() {
    for value in [-1, 0, 1, DAT_COUNT::MAX] {
        assert_eq!(new_watermark(value).map(c_watermark), Some(value));
        assert_eq!(watermark(value).map(c_watermark), Some(value));
    }
    assert_eq!((watermark(-2), new_watermark(DAT_COUNT::MIN)), (None, None));
    // 0 allows no buffer for an existing endpoint, and any number for a new endpoint.
    assert_eq!(watermark(0).and_then(Watermark::limit), Some(0));
    assert_eq!(new_watermark(0).and_then(Watermark::limit), None);
}
