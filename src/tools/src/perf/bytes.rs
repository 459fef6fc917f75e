//! Bytes that differ from message to message, for measurements that compare them.

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
mod tests;
