//! Memory rights.

bitflags::bitflags! {
    /// A set of the four rights that a memory region can grant. The bits are this project's own; tables in shared or
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
    }
}

impl Rights {
    /// No right.
    pub const NONE: Rights = Rights::empty();
    /// The rights that concern peers.
    pub const REMOTE: Rights = Rights::REMOTE_READ.union(Rights::REMOTE_WRITE);
}
