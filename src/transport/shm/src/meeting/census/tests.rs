use std::path::Path;
use std::thread;

use dat_census::processes;
use dat_core::testing::Adapter;

use super::*;

/// Returns the responses of the processes of `directory`, all of which are this process.
fn told(directory: &Path) -> Vec<Option<Vec<OpenAdapter>>> {
    let all = processes(directory).expect("a directory");
    assert!(all.iter().all(|process| process.pid == std::process::id() as i32), "{all:?}");
    all.into_iter().map(|process| process.adapters).collect()
}

#[test]
fn a_process_tells_of_the_adapters_that_are_open() {
    let place = tempfile::tempdir().expect("a directory");
    let meeting = place.path().join("meeting");
    let instance = meeting.to_str().expect("text");
    let (first, second) = (Adapter::<Shm>::open("one", instance), Adapter::<Shm>::open("two", instance));
    let (_a, _b) = first.pair();
    // A response is reused for this time.
    let tell = || {
        thread::sleep(REUSE_TIME);
        let adapters = told(&meeting).into_iter().flatten().flatten();
        adapters.map(|open| (open.name, open.connections, open.established)).collect::<Vec<_>>()
    };
    assert_eq!(tell(), [("one".to_owned(), 2, 2), ("two".to_owned(), 0, 0)]);
    drop(second);
    assert_eq!(tell(), [("one".to_owned(), 2, 2)]);
    drop((_a, _b, first));
    assert_eq!(tell(), []);
}
