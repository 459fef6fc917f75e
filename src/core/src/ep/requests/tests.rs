use super::*;
use crate::testing::Fake;

fn request(cookie: u64) -> InFlight {
    InFlight { mark: SeqNo(cookie), cookie, flags: CompletionFlags::DEFAULT, work: Work::Transfer(Transfer::Send, 0) }
}

#[test]
fn a_report_completes_all_earlier_requests_once() {
    let mut flight = Flight::default();
    let next = |flight: &mut Flight| flight.next_place().map(|(id, _)| id);
    assert_eq!(next(&mut flight), None);
    flight.reserve(3).expect("memory");
    for cookie in 0..3 {
        let (id, place) = flight.next_place().expect("room");
        assert_eq!(id, cookie);
        place.fill(request(cookie));
    }
    assert_eq!(next(&mut flight), None);
    let through = |flight: &mut Flight, last| {
        std::iter::from_fn(|| flight.pop_through(SeqNo(last))).map(|request| request.cookie).collect::<Vec<_>>()
    };
    assert_eq!(through(&mut flight, 1), [0, 1]);
    assert_eq!(through(&mut flight, 1), []);
    assert_eq!(next(&mut flight), Some(3));
    assert_eq!(through(&mut flight, 9), [2]);
    assert!(flight.is_empty());
}

#[test]
fn requests_are_admitted_only_in_states_connected_and_disconnected() {
    let row: String = EpState::ALL
        .into_iter()
        .map(|state| {
            let mut requests = Requests::<Fake>::new(None);
            requests.enter(Handle::NULL, state);
            if requests.admit().is_ok() { 'o' } else { 'x' }
        })
        .collect();
    assert_eq!(row, "xxxxxxoxo");
}
