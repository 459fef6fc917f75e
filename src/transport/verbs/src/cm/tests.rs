use super::fewer;

#[test]
fn no_end_has_more_reads_under_way_than_the_other_serves() {
    assert_eq!(fewer((16, 8), (4, 4)), (4, 4));
    assert_eq!(fewer((2, 2), (4, 4)), (2, 2));
    assert_eq!(fewer((2, 2), (0, 0)), (0, 1));
    assert_eq!(fewer((0, 0), (4, 4)), (0, 0));
}
