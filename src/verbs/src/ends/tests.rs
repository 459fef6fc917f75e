use super::*;

fn of(numbers: &[u32]) -> Ends<u32> {
    let mut ends = Ends::new();
    for &number in numbers {
        ends.room().expect("memory");
        ends.insert(number, Arc::new(number));
    }
    ends
}

#[test]
fn each_is_found_by_its_number_wherever_the_last_one_was() {
    let ends = of(&[7, 3, 9]);
    for start in 0..5 {
        for number in [9, 7, 7, 3] {
            let mut last = start;
            assert_eq!(ends.get(number, &mut last).map(|found| **found), Some(number));
            assert_eq!(ends.at(last).map(|found| **found), Some(number));
        }
        assert_eq!(ends.get(4, &mut { start }), None);
    }
}

#[test]
fn the_others_are_found_after_one_has_gone() {
    for gone in [7, 3, 9] {
        let mut ends = of(&[7, 3, 9]);
        let mut last = 2;
        assert_eq!(ends.remove(gone).as_deref(), Some(&gone));
        assert_eq!(ends.remove(gone), None);
        for number in [7, 3, 9] {
            let found = ends.get(number, &mut last).map(|found| **found);
            assert_eq!(found, (number != gone).then_some(number));
        }
        assert!(ends.at(2).is_some());
    }
    let mut ends = of(&[7]);
    ends.remove(7);
    assert!(ends.at(0).is_none() && ends.get(7, &mut 0).is_none());
}

#[test]
fn one_that_is_added_again_takes_the_place_of_the_former() {
    let mut ends = of(&[7, 3]);
    ends.insert(7, Arc::new(70));
    assert_eq!(ends.get(7, &mut 0).map(|found| **found), Some(70));
    assert_eq!(ends.remove(7).as_deref(), Some(&70));
    assert_eq!(ends.remove(7), None);
    assert_eq!(ends.get(3, &mut 0).map(|found| **found), Some(3));
}
