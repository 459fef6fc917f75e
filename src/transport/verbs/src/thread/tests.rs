use std::collections::VecDeque;

use host::lock::Mutex;

use super::again;

#[test]
fn each_entry_of_a_list_has_one_turn_and_one_that_panics_is_lost() {
    let work = Mutex::new(VecDeque::from([1, 2, 3, 4]));
    let mut seen = Vec::new();
    again(
        &work,
        |list| list,
        |&entry| {
            seen.push(entry);
            if entry == 1 {
                work.lock().push_back(5);
            }
            assert!(entry != 2, "this piece panics");
            entry != 3
        },
    );
    assert_eq!(seen, [1, 2, 3, 4]);
    assert_eq!(*work.lock(), [5, 1, 4]);
}
