//! A packet of the socket between two processes.

use dat_shm::fuzzing;

/// Checks that a valid packet is encoded to the same bytes.
pub fn run(data: &[u8]) {
    if let Some(again) = fuzzing::packet_again(data) {
        assert_eq!(again, data, "a message is not written as it was read");
    }
}
