use super::*;

fn of(numbers: &[u32]) -> QpTable<u32> {
    let mut table = QpTable::new();
    for &number in numbers {
        table.room().expect("memory");
        table.insert(number, Arc::new(number));
    }
    table
}

#[test]
fn each_is_found_by_its_number_wherever_the_last_one_was() {
    let table = of(&[7, 3, 9]);
    for start in 0..5 {
        for number in [9, 7, 7, 3] {
            let mut last = start;
            assert_eq!(table.get(number, &mut last).map(|found| **found), Some(number));
            assert_eq!(table.at(last).map(|found| **found), Some(number));
        }
        assert_eq!(table.get(4, &mut { start }), None);
    }
}

#[test]
fn the_others_are_found_after_one_has_gone() {
    for gone in [7, 3, 9] {
        let mut table = of(&[7, 3, 9]);
        let mut last = 2;
        assert_eq!(table.remove(gone).as_deref(), Some(&gone));
        assert_eq!(table.remove(gone), None);
        for number in [7, 3, 9] {
            let found = table.get(number, &mut last).map(|found| **found);
            assert_eq!(found, (number != gone).then_some(number));
        }
        assert!(table.at(2).is_some());
    }
    let mut table = of(&[7]);
    table.remove(7);
    assert!(table.at(0).is_none() && table.get(7, &mut 0).is_none());
}

#[test]
fn one_that_is_added_again_replaces_the_former() {
    let mut table = of(&[7, 3]);
    table.insert(7, Arc::new(70));
    assert_eq!(table.get(7, &mut 0).map(|found| **found), Some(70));
    assert_eq!(table.remove(7).as_deref(), Some(&70));
    assert_eq!(table.remove(7), None);
    assert_eq!(table.get(3, &mut 0).map(|found| **found), Some(3));
}
