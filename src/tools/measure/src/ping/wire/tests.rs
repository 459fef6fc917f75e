use super::*;

#[test]
fn converts_hello_with_trailing_zeros() {
    let memory = Remote { context: 0x1234_5678, address: 0x7fff_0123_4567_89ab, length: 3 * 4096 };
    let hello = Hello { shared: true, polls: false, channel: 1, size: 4096, session: u64::MAX - 3, memory };
    let mut bytes = hello.to_bytes();
    assert_eq!(Hello::from_bytes(&bytes), Some(hello));
    bytes.resize(56, 0);
    assert_eq!(Hello::from_bytes(&bytes), Some(hello));
    assert_eq!(hello.area(Area::Source).address, memory.address + 8192);
}

#[test]
fn rejects_other_private_data() {
    let memory = Remote::default();
    let bytes = Hello { shared: false, polls: true, channel: 0, size: 1, session: 0, memory }.to_bytes();
    assert_eq!(Hello::from_bytes(&[]), None);
    assert_eq!(Hello::from_bytes(&bytes[..35]), None);
    for (place, byte) in [(0, b'D'), (8, VERSION + 1), (9, 2)] {
        let mut other = bytes.clone();
        other[place] = byte;
        assert_eq!(Hello::from_bytes(&other), None);
    }
}

#[test]
fn converts_heads() {
    for wrong in [None, Some(0), Some(u32::MAX)] {
        for operation in Operation::ALL {
            let head = Head { operation, round: 1 << 40, wrong };
            assert_eq!(Head::from_bytes(&head.to_bytes()), Some(head));
        }
    }
    assert_eq!(Head::from_bytes(&[9; Head::LENGTH]), None);
}

#[test]
fn transfers_of_adjacent_rounds_differ() {
    let transfers: Vec<[u8; 64]> = (1..30)
        .flat_map(|round| Operation::ALL.map(|operation| (round, operation)))
        .flat_map(|(round, operation)| [From::Client, From::Server].map(|from| bytes(round, operation, from)))
        .map(|pattern| std::array::from_fn(|at| pattern.at(at)))
        .collect();
    for (i, bytes) in transfers.iter().enumerate() {
        assert!(transfers[i + 1..].iter().all(|other| other != bytes));
    }
}
