//! The response of a process to dat-info.

use crate::input::Input;

/// Maximum number of endpoints, queues and adapters in a response.
const LIMITS: [usize; 3] = [512, 512, 1024];

/// Reads a response of packets, each a byte with its length and its bytes. Checks the limits of what it contains.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let adapters = dat_census::response(|packet| {
        if input.is_over() {
            return None;
        }
        let len = usize::from(input.byte());
        packet[..len].fill_with(|| input.byte());
        Some(len)
    });
    let adapters = adapters.unwrap_or_default();
    let (endpoints, queues) = adapters
        .iter()
        .fold((0, 0), |(endpoints, queues), open| (endpoints + open.endpoints.len(), queues + open.queues.len()));
    let numbers = [endpoints, queues, adapters.len()];
    assert!(numbers.iter().zip(LIMITS).all(|(number, limit)| *number <= limit), "more than the limits: {numbers:?}");
}
