//! One packet of the socket between two processes.

use dat_shm::fuzzing;

/// The input is the packet. If it is a message, the message is written as the very same bytes.
pub fn run(data: &[u8]) {
    if let Some(again) = fuzzing::packet_again(data) {
        assert_eq!(again, data, "a message is not written as it was read");
    }
}
