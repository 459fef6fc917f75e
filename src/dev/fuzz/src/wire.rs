//! A packet on the socket between two processes of shm.

use dat_shm::fuzzing;

/// Checks that a packet that decodes is encoded to the same bytes.
pub fn run(data: &[u8]) {
    if let Some(again) = fuzzing::packet_again(data) {
        assert_eq!(again, data, "a message is not written as it was read");
    }
}
