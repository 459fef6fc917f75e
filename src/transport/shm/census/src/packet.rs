//! The packets of a question and its response: a kind byte, then fields in little-endian order.

/// Kind of a question, which has no fields.
pub const ASK: u8 = 12;
/// Kind of a response with an [`OpenAdapter`].
pub const OPEN: u8 = 13;
/// Kind of a response without fields: the process cannot respond now.
pub const AGAIN: u8 = 11;
/// Maximum length of a field of bytes or text, in bytes.
pub const MAX_BYTES: usize = 512;

/// One or several consecutive fields of a packet.
pub trait Field: Sized {
    /// Appends the field to a packet.
    fn put(&self, packet: &mut Vec<u8>);
    /// Removes the field from the start of a packet. Returns `None` if it is missing or invalid.
    fn take(packet: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Field for $number {
            fn put(&self, packet: &mut Vec<u8>) {
                packet.extend_from_slice(&self.to_le_bytes());
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = packet.split_first_chunk()?;
                *packet = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        })*
    };
}

numbers!(u8 u32 u64);

impl Field for bool {
    fn put(&self, packet: &mut Vec<u8>) {
        packet.push((*self).into());
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        let byte = u8::take(packet)?;
        (byte < 2).then_some(byte == 1)
    }
}

impl Field for Vec<u8> {
    fn put(&self, packet: &mut Vec<u8>) {
        (self.len() as u32).put(packet);
        packet.extend_from_slice(self);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        let len = u32::take(packet)? as usize;
        let (bytes, rest) = packet.split_at_checked(len).filter(|_| len <= MAX_BYTES)?;
        *packet = rest;
        Some(bytes.to_vec())
    }
}

impl Field for String {
    fn put(&self, packet: &mut Vec<u8>) {
        self.as_bytes().to_vec().put(packet);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::take(packet)?).ok()
    }
}

macro_rules! packet {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl Field for $name {
            fn put(&self, packet: &mut Vec<u8>) {
                $(self.$field.put(packet);)*
            }

            fn take(packet: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: Field::take(packet)?,)* })
            }
        }
    };
}

packet! {
    /// An open adapter of a process, with its counters.
    OpenAdapter {
        /// Number of adapters in the following packets.
        left: u32,
        /// The name under which it was opened.
        name: String,
        /// Major version of the interface.
        major: u8,
        /// Minor version of the interface.
        minor: u8,
        /// Seconds since it was opened.
        age: u64,
        /// Connected endpoints.
        connections: u64,
        /// Started sends.
        sends: u64,
        /// Bytes of these sends.
        send_bytes: u64,
        /// Started RDMA writes.
        rdma_writes: u64,
        /// Bytes of these writes.
        rdma_write_bytes: u64,
        /// Started RDMA reads.
        rdma_reads: u64,
        /// Bytes of these reads.
        rdma_read_bytes: u64,
        /// Received messages.
        receives: u64,
        /// Bytes of these messages.
        receive_bytes: u64,
        /// Number of requests that found no room.
        request_stalls: u64,
        /// Number of messages that found no receive.
        receive_stalls: u64,
        /// Number of wakeups of a sleeping peer.
        peer_wakeups: u64,
        /// Connections since it was opened.
        established: u64,
        /// Connections and attempts that ended without a disconnect.
        failures: u64,
        /// Asynchronous events.
        async_events: u64,
    }
}
