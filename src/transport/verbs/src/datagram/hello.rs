//! The header before the private data of a UD request and reply. SIDR transmits neither the requester's address nor the
//! length of private data. Of the responder, it transmits only the queue pair number.

use arrayvec::ArrayVec;

use crate::attributes::MAX_PRIVATE_DATA;
use crate::sys::datagram::Port;

/// Bytes of the header. A request has room for 180 bytes, a reply for 136.
const HEADER: usize = 40;
const _: () = assert!(HEADER + MAX_PRIVATE_DATA <= 136);

/// Magic number and version of the format.
const MAGIC: [u8; 4] = [0xda, 0x7d, 0x60, 1];

/// The contents of the header, which describe the sender of the request or reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// Endpoint number ([`DatagramSink::number`](dat_core::transport::datagrams::DatagramSink::number)).
    pub endpoint: u32,
    pub qp: u32,
    /// Number of the request, unique for the endpoint. Unused in a reply.
    pub request: u32,
    pub port: Port,
}

impl Hello {
    /// Returns the header, followed by private data.
    pub fn write(&self, private_data: &[u8]) -> ArrayVec<u8, { HEADER + MAX_PRIVATE_DATA }> {
        let private_data = &private_data[..private_data.len().min(MAX_PRIVATE_DATA)];
        let Port { gid, lid, service_level, hop_limit, traffic_class } = self.port;
        let mut bytes = ArrayVec::new();
        bytes.extend(MAGIC);
        bytes.extend(self.endpoint.to_be_bytes());
        bytes.extend(self.qp.to_be_bytes());
        bytes.extend(self.request.to_be_bytes());
        bytes.extend(gid);
        bytes.extend(lid.to_be_bytes());
        bytes.extend([service_level, hop_limit, traffic_class, private_data.len() as u8]);
        bytes.extend([0; HEADER - 38]);
        bytes.extend(private_data.iter().copied());
        bytes
    }

    /// Decodes the header and private data, which padding may follow. Returns `None` for other formats.
    pub fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let (&magic, header) = header.split_first_chunk()?;
        let (&endpoint, header) = header.split_first_chunk()?;
        let (&qp, header) = header.split_first_chunk()?;
        let (&request, header) = header.split_first_chunk()?;
        let (&gid, header) = header.split_first_chunk()?;
        let (&lid, header) = header.split_first_chunk()?;
        let &[service_level, hop_limit, traffic_class, len, ..] = header else { return None };
        let [endpoint, qp, request] = [endpoint, qp, request].map(u32::from_be_bytes);
        let port = Port { gid, lid: u16::from_be_bytes(lid), service_level, hop_limit, traffic_class };
        let known = magic == MAGIC && endpoint != 0 && qp <= 0xff_ffff;
        rest.get(..len.into()).filter(|_| known).map(|data| (Hello { endpoint, qp, request, port }, data))
    }
}

#[cfg(test)]
mod tests;
