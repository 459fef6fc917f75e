//! Memory rights, and the base of addresses.

/// The programs' address of a region's first byte, in the order of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Base {
    /// The real address.
    #[default]
    Address,
    /// 0.
    Zero,
}

impl Base {
    /// Returns the programs' address of the first byte, whose real address is `addr`.
    pub fn first(self, addr: u64) -> u64 {
        match self {
            Base::Address => addr,
            Base::Zero => 0,
        }
    }
}

bitflags::bitflags! {
    /// The rights of a memory region, with the bits of the C interface. Rows of regions in shared memory contain these
    /// bits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Rights: u8 {
        /// Local read.
        const LOCAL_READ = 0x01;
        /// Local write.
        const LOCAL_WRITE = 0x10;
        /// Read by a peer.
        const REMOTE_READ = 0x02;
        /// Write by a peer.
        const REMOTE_WRITE = 0x20;
        /// Atomic operation by a peer.
        const REMOTE_ATOMIC = 0x40;
    }
}

impl Rights {
    /// No right.
    pub const NONE: Rights = Rights::empty();
    /// The rights of peers.
    pub const REMOTE: Rights = Rights::REMOTE_READ.union(Rights::REMOTE_WRITE).union(Rights::REMOTE_ATOMIC);
}
