//! Memory rights, and how memory is counted.

/// The number by which the first byte of a memory region is named, together with a context of that region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Base {
    /// Its address.
    #[default]
    Address,
    /// 0, wherever it is.
    Zero,
}

impl Base {
    /// The number of the first byte, whose address is `addr`.
    pub fn first(self, addr: u64) -> u64 {
        match self {
            Base::Address => addr,
            Base::Zero => 0,
        }
    }
}

bitflags::bitflags! {
    /// A set of the rights that a memory region can grant. The bits are this project's own; tables in shared or
    /// atomic memory hold them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Rights: u8 {
        /// Local reading.
        const LOCAL_READ = 1;
        /// Local writing.
        const LOCAL_WRITE = 2;
        /// Reading by a peer.
        const REMOTE_READ = 4;
        /// Writing by a peer.
        const REMOTE_WRITE = 8;
        /// Atomic operations by a peer.
        const REMOTE_ATOMIC = 16;
    }
}

impl Rights {
    /// No right.
    pub const NONE: Rights = Rights::empty();
    /// The rights that concern peers.
    pub const REMOTE: Rights = Rights::REMOTE_READ.union(Rights::REMOTE_WRITE).union(Rights::REMOTE_ATOMIC);
}
