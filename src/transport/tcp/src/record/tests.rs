use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn reads_the_headers_that_it_writes(
        kind in 1..=ATOMIC_KIND, solicited: bool, payload in 0..=MAX_PAYLOAD as u32, handled: u64,
        window in MIN_WINDOW..=MAX_WINDOW, aux: u64,
    ) {
        let mut header = Header { kind, flags: u8::from(solicited), len: 0, handled, window, aux };
        let payload = if header.has_payload() { payload } else { 0 };
        header.len = header.head() as u32 + payload;
        prop_assert_eq!(Header::decode(&header.encode()), Some(header));
    }

    #[test]
    fn decodes_any_bytes(bytes: [u8; HEADER]) {
        if let Some(header) = Header::decode(&bytes) {
            prop_assert_eq!(header.encode(), bytes);
        }
    }
}

const ATOMIC_KIND: u8 = kind::ATOMIC;

#[test]
fn rejects_lengths_that_no_record_has() {
    let good = Header { kind: kind::READ, len: TARGET as u32, window: MIN_WINDOW, ..Header::default() };
    assert_eq!(Header::decode(&good.encode()), Some(good));
    let wrong = [
        Header { len: TARGET as u32 - 1, ..good },
        Header { len: TARGET as u32 + 1, ..good },
        Header { kind: kind::MESSAGE, len: MAX_PAYLOAD as u32 + 1, ..good },
        Header { kind: kind::END, len: 1, ..good },
        Header { kind: 0, ..good },
        Header { kind: 99, ..good },
        Header { window: MIN_WINDOW - 1, ..good },
        Header { window: MAX_WINDOW + 1, ..good },
        Header { flags: 4, ..good },
    ];
    for header in wrong {
        assert_eq!(Header::decode(&header.encode()), None, "{header:?}");
    }
}

#[test]
fn reads_the_ends_that_it_writes() {
    for end in ENDS {
        assert_eq!(End::decode(end.encode()), Some(end));
    }
    assert_eq!(End::Broken(Some(Status::Flushed)).encode(), End::Broken(None).encode());
    assert_eq!(End::decode(ENDS.len() as u64), None);
    assert_eq!(End::decode(u64::MAX), None);
}
