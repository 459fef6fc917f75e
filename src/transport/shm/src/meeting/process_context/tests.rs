use std::thread;
use std::time::{Duration, Instant};

use dat_census::processes;
use dat_core::testing::Adapter;

use super::*;

#[test]
fn responds_with_open_adapters() {
    let place = tempfile::tempdir().expect("a directory");
    let meeting = place.path().join("meeting");
    let instance = meeting.to_str().expect("text");
    let (first, second) = (Adapter::<Shm>::open("one", instance), Adapter::<Shm>::open("two", instance));
    let pair = first.pair();
    // Waits until the adapters of this process have these names, connected endpoints, endpoints and paths.
    let await_adapters = |wanted: &[(&str, u64, &[&str])]| {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let all = processes(&meeting).expect("a directory");
            assert!(all.iter().all(|process| process.pid == std::process::id() as i32), "{all:?}");
            let answered = all.iter().all(|process| process.adapters.is_some());
            let open: Vec<_> = all.into_iter().filter_map(|process| process.adapters).flatten().collect();
            let paths = |open: &dat_census::OpenAdapter| {
                open.endpoints.iter().map(|endpoint| endpoint.path.clone()).collect::<Vec<_>>()
            };
            let found: Vec<_> =
                open.iter().map(|open| (open.adapter.name.as_str(), open.adapter.connections, paths(open))).collect();
            let is_wanted = answered
                && found.len() == wanted.len()
                && found
                    .iter()
                    .zip(wanted)
                    .all(|(found, wanted)| (found.0, found.1) == (wanted.0, wanted.1) && found.2 == wanted.2);
            if is_wanted {
                return;
            }
            assert!(Instant::now() < until, "{found:?}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    await_adapters(&[("one", 2, &["local", "local"]), ("two", 0, &[])]);
    drop(second);
    await_adapters(&[("one", 2, &["local", "local"])]);
    drop((pair, first));
    await_adapters(&[]);
}
