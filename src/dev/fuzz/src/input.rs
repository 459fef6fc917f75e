//! Reads numbers and bytes from an input. After the end of the input, they are zero.

use arbitrary::Unstructured;

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

/// The unread part of an input.
pub struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Input(Unstructured::new(data))
    }

    /// Returns whether all bytes are read.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn bit(&mut self) -> bool {
        self.byte() & 1 != 0
    }

    pub fn short(&mut self) -> u16 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn long(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// Returns a small number, a number near one of [`EDGES`], or eight arbitrary bytes.
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

    /// Reads a byte with a number, then that many bytes. Returns at most `most` bytes, and no more than are left.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let len = usize::from(self.byte()).min(most).min(self.0.len());
        self.0.bytes(len).unwrap_or(&[])
    }
}
