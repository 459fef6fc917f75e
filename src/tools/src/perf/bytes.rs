//! Bytes that tell of which message they are, for measurements that compare them.

/// Writes bytes of a message, by its number on a connection.
///
/// # Parameters
/// * `from` - the place of the first of them in the message.
pub fn stamp(bytes: &mut [u8], from: usize, connection: usize, number: u64) {
    for (at, place) in bytes.iter_mut().enumerate() {
        *place = byte(from + at, connection, number);
    }
}

fn byte(at: usize, connection: usize, number: u64) -> u8 {
    (at * 7 + (at >> 8) + connection * 101).wrapping_add((number as usize).wrapping_mul(31)) as u8
}

/// Looks whether bytes are those of a message, as [`stamp`] writes them.
pub fn check(bytes: &[u8], from: usize, connection: usize, number: u64) -> anyhow::Result<()> {
    match bytes.iter().enumerate().find(|&(at, &found)| found != byte(from + at, connection, number)) {
        None => Ok(()),
        Some((at, _)) => anyhow::bail!("connection {connection}, transfer {number}: byte {} is wrong", from + at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_is_found_in_each_part() {
        let mut bytes = [0; 5_000];
        stamp(&mut bytes, 0, 2, u64::MAX);
        check(&bytes, 0, 2, u64::MAX).expect("they are those");
        let mut parts = [0; 5_000];
        for (part, bytes) in parts.chunks_mut(999).enumerate() {
            stamp(bytes, part * 999, 2, u64::MAX);
        }
        assert_eq!(bytes, parts);
        bytes[4_999] ^= 1;
        check(&bytes[..4_999], 0, 2, u64::MAX).expect("these are");
        let error = check(&bytes[4_000..], 4_000, 2, u64::MAX).expect_err("one is wrong").to_string();
        assert_eq!(error, format!("connection 2, transfer {}: byte 4999 is wrong", u64::MAX));
    }

    #[test]
    fn messages_differ() {
        let of = |connection, number| {
            let mut bytes = [0; 64];
            stamp(&mut bytes, 0, connection, number);
            bytes
        };
        assert_ne!(of(0, 1), of(0, 2));
        assert_ne!(of(0, 1), of(1, 1));
    }
}
