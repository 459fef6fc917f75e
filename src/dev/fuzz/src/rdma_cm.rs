//! Data in rdma_cm events (private data, reasons, numbers of reads, addresses), and the mapping of qualifiers to ports.

use dat_core::addr::Address;
use dat_core::addr::port_of;
use dat_core::transport::ConnectionReport;
use dat_verbs::cm::fewer;
use dat_verbs::rejection;

use crate::input::Input;

/// Ports for qualifiers above 65535.
const PORTS: std::ops::Range<u16> = 33534..65535;

/// Checks that only private data identify a program's rejection, and that neither side starts more reads than the other
/// serves. A formatted address must parse to the same address, and each qualifier must have a port.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (status, iwarp) = (input.word() as i32, input.bit());
    let qualifier = input.number();
    let port = port_of(qualifier);
    assert!(u64::from(port) == qualifier || (qualifier > 65535 && PORTS.contains(&port)));

    let (ours, theirs) = ((input.byte(), input.byte()), (input.byte(), input.byte()));
    let reads = fewer(ours, theirs);
    assert!(reads.0 <= ours.0.min(theirs.0) && reads.1 <= ours.1.min(theirs.1.max(1)));

    let native = input.bytes(64);
    if let Some(address) = Address::from_native(native) {
        let read = Address::native_len(u16::from_ne_bytes([native[0], native[1]])).expect("a family that is known");
        assert!(read <= native.len().max(16), "an address of fewer bytes than it has");
        assert_eq!(Address::from_native(address.native()), Some(address.clone()));
        let _ = address.is_host();
    }

    let bytes = input.bytes(255);
    match rejection::read(status, bytes, iwarp) {
        ConnectionReport::PeerRejected(private_data) => {
            assert!(bytes.iter().any(|&byte| byte != 0));
            assert!(private_data.is_empty() || bytes[4..].starts_with(&private_data));
        }
        report => assert_eq!(report, ConnectionReport::NonPeerRejected),
    }
    let written = rejection::write(&bytes[..bytes.len().min(rejection::MAX_REJECT_DATA)]);
    let ConnectionReport::PeerRejected(private_data) = rejection::read(0, &written, true) else {
        panic!("a rejection by the program is not taken for one");
    };
    assert!(bytes.starts_with(&private_data) && private_data.len() == bytes.len().min(rejection::MAX_REJECT_DATA));
}
