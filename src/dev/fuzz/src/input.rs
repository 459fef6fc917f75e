//! An input as a list of steps: numbers and bytes, read one after the other. At its end there are zeros only.

use arbitrary::Unstructured;

/// Numbers at which something changes.
const EDGES: [u64; 16] = [
    0,
    1,
    63,
    64,
    4095,
    4096,
    8192,
    65535,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 46,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// The rest of an input.
pub struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    /// The whole of it.
    pub fn new(data: &'a [u8]) -> Self {
        Input(Unstructured::new(data))
    }

    /// True at its end.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A bit.
    pub fn bit(&mut self) -> bool {
        self.byte() & 1 != 0
    }

    /// Two bytes.
    pub fn short(&mut self) -> u16 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// Four bytes.
    pub fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// Eight bytes.
    pub fn long(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A number: a small one, one of [`EDGES`] or next to it, or eight bytes.
    pub fn number(&mut self) -> u64 {
        match self.byte() {
            small @ 0..=0x7f => small.into(),
            edge @ 0x80..=0xbf => {
                let number = EDGES[usize::from(edge & 15)];
                [number, number.wrapping_add(1), number.wrapping_sub(1), number / 2][usize::from(edge >> 4 & 3)]
            }
            0xc0..=0xdf => self.short().into(),
            0xe0..=0xff => self.long(),
        }
    }

    /// As many bytes as the next byte says, at most `most` and what is left.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let len = usize::from(self.byte()).min(most).min(self.0.len());
        self.0.bytes(len).unwrap_or(&[])
    }
}
