//! Generates inputs by mutations of existing inputs. A seed determines all mutations.

/// The pseudo-random generator splitmix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `limit`, which must not be 0.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xc0, 0xe0, 0xfe, 0xff];

pub struct Mutator {
    numbers: Numbers,
    bases: Vec<Vec<u8>>,
    longest: usize,
}

impl Mutator {
    pub fn new<'a>(seed: u64, bases: impl Iterator<Item = &'a [u8]>, longest: usize) -> Mutator {
        Mutator { numbers: Numbers(seed), bases: bases.map(<[u8]>::to_vec).collect(), longest }
    }

    pub fn next(&mut self) -> Vec<u8> {
        let mut data = match self.bases.len() {
            0 => Vec::new(),
            bases => self.bases[self.numbers.below(bases)].clone(),
        };
        if data.is_empty() || self.numbers.below(16) == 0 {
            let len = 1 + self.numbers.below(256);
            data = (0..len).map(|_| self.numbers.next() as u8).collect();
        }
        for _ in 0..1 << self.numbers.below(5) {
            self.change(&mut data);
        }
        data.truncate(self.longest);
        data
    }

    fn change(&mut self, data: &mut Vec<u8>) {
        let at = self.numbers.below(data.len() + 1);
        let len = (1 + self.numbers.below(16)).min(data.len() - at);
        match self.numbers.below(8) {
            0 if at < data.len() => data[at] ^= 1 << self.numbers.below(8),
            1 if at < data.len() => data[at] = EDGES[self.numbers.below(EDGES.len())],
            2 if at < data.len() => data[at] = data[at].wrapping_add(self.numbers.below(9) as u8).wrapping_sub(4),
            3 => drop(data.drain(at..at + len)),
            4 => {
                let bytes: Vec<u8> = (0..1 + self.numbers.below(8)).map(|_| self.numbers.next() as u8).collect();
                data.splice(at..at, bytes);
            }
            5 => {
                let part = data[at..at + len].to_vec();
                data.splice(at..at, part);
            }
            6 if !self.bases.is_empty() => {
                // Replaces the rest by the end of a random existing input.
                let other = self.numbers.below(self.bases.len());
                let from = self.numbers.below(self.bases[other].len() + 1);
                data.truncate(at);
                data.extend_from_slice(&self.bases[other][from..]);
            }
            _ if at < data.len() => data[at] = self.numbers.next() as u8,
            _ => data.push(self.numbers.next() as u8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mutator;

    #[test]
    fn a_seed_says_what_inputs_there_are() {
        let bases = || [&b"one"[..], b"another"].into_iter();
        let made = |seed| {
            let mut mutator = Mutator::new(seed, bases(), 64);
            (0..1000).map(|_| mutator.next()).collect::<Vec<_>>()
        };
        assert_eq!(made(5), made(5));
        assert_ne!(made(5), made(6));
        assert!(made(5).iter().all(|input| input.len() <= 64));
    }
}
