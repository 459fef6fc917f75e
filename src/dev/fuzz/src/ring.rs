//! A ring in shared memory to which a malicious peer writes arbitrary values.

use dat_shm::fuzzing::LooseRing;

use crate::input::Input;

const STEPS: usize = 256;

/// Numbers of slots: small numbers, and the sizes of a connection's rings.
const SLOTS: [usize; 6] = [1, 2, 4, 8, 256, 512];

/// Checks that a consumer moves only forward, by at most two rings, and reads no record longer than the ring. A
/// producer must count no more used slots than exist.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let slots = SLOTS[usize::from(input.byte()) % SLOTS.len()];
    let mut ring = LooseRing::new(slots).expect("memory");
    let (mut consumed, mut produced) = (0, 0);
    for _ in 0..STEPS {
        if input.is_over() {
            return;
        }
        match input.byte() % 10 {
            0 | 1 => {
                let _ = ring.credit(if input.bit() { input.short().into() } else { u64::from(input.byte()) });
            }
            2 => ring.set_head(input.number()),
            3 => ring.set_head(consumed + input.number() % (slots as u64 + 1)),
            4 => {
                let (slot, first, aux) = (input.number(), input.long(), input.number());
                ring.write(slot, [first, aux], input.bytes(64));
            }
            5 => {
                // Writes a nearly valid record at the consumer's position.
                let (kind, len, off) = (input.byte(), input.number() % (64 * slots as u64 + 1), input.byte());
                // Laps are numbered from 1 in 8 bits.
                let lap = u64::from((consumed / slots as u64 + 1) as u8 ^ (off & 1));
                ring.write(consumed, [lap | u64::from(kind) << 8 | len << 24, len], &[]);
            }
            6 | 7 => {
                if let Ok(Some(seen)) = ring.take() {
                    assert!(seen.end > consumed && seen.end - consumed <= 2 * slots as u64, "the consumer jumped");
                    assert!(seen.len + 16 <= slots * 64, "a record is larger than its ring");
                    assert!(seen.sum <= seen.len as u64 * 255);
                    consumed = seen.end;
                }
            }
            _ => {
                let len = input.number() as usize % (64 * slots + 1);
                let before = ring.filled();
                if let Ok(Some(end)) = ring.put(input.byte(), &vec![0x5a; len]) {
                    assert!(len <= before.1 && end > produced, "a record was put where there is no room");
                    produced = end;
                }
                assert!(ring.filled().0 <= slots as u64, "more slots are used than there are");
            }
        }
    }
}
