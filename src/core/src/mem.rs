//! Memory rights.

use std::ops::BitOr;

/// A set of the four rights that a memory region can grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights(u8);

impl Rights {
    /// No right.
    pub const NONE: Rights = Rights(0);
    /// Local reading.
    pub const LOCAL_READ: Rights = Rights(1);
    /// Local writing.
    pub const LOCAL_WRITE: Rights = Rights(2);
    /// Reading by a peer.
    pub const REMOTE_READ: Rights = Rights(4);
    /// Writing by a peer.
    pub const REMOTE_WRITE: Rights = Rights(8);

    /// Whether all of `other` is granted.
    #[inline]
    pub const fn contains(self, other: Rights) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is granted.
    pub const fn intersects(self, other: Rights) -> bool {
        self.0 & other.0 != 0
    }

    /// What both grant.
    pub const fn intersection(self, other: Rights) -> Rights {
        Rights(self.0 & other.0)
    }

    /// As a small number, for tables in shared or atomic memory.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The rights of which [`Rights::bits`] gave the number; unknown bits are dropped.
    pub const fn from_bits(bits: u8) -> Rights {
        Rights(bits & 15)
    }
}

impl BitOr for Rights {
    type Output = Rights;

    fn bitor(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}
