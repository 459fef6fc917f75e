use super::*;

#[test]
fn each_is_found_by_its_number_wherever_the_last_one_was() {
    let table = [(3, 'a'), (7, 'b'), (9, 'c')];
    for start in 0..5 {
        let mut last = start;
        for (number, what) in [(9, 'c'), (7, 'b'), (7, 'b'), (3, 'a')] {
            assert_eq!(find(&table, number, &mut last), Some(&what));
            assert_eq!(table[last], (number, what));
        }
        for number in [0, 4, 10] {
            assert_eq!(find(&table, number, &mut { start }), None);
        }
    }
    assert_eq!(find::<char>(&[], 7, &mut 0), None);
}

#[test]
fn one_has_a_place_where_the_numbers_stay_in_order() {
    let table = [(3, 'a'), (7, 'b')];
    assert_eq!([0, 3, 5, 7, 8].map(|number| position(&table, number)), [Err(0), Ok(0), Err(1), Ok(1), Err(2)]);
}
