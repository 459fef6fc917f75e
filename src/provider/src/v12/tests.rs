use super::*;
use crate::attr;

#[test]
fn flags_match_headers() {
    assert_eq!((u32::from(Udat12::RIGHTS.bits()), Udat12::OTHER_RIGHTS), (DAT_MEM_PRIV_ALL_FLAG, 0x100));
    assert_eq!(Udat12::STREAMS.bits(), DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG);
    for flags in 0..=0xfff {
        let known = flags & !0x133 == 0;
        let read = attr::rights::<Udat12>(flags).map(|rights| u32::from(rights.bits()));
        assert_eq!(read, known.then_some(flags & 0x33), "{flags:#x}");
        let known = flags != 0 && flags & !0x1f1 == 0;
        let read = attr::streams::<Udat12>(flags).map(|streams| streams.bits());
        assert_eq!(read, known.then_some(flags), "{flags:#x}");
    }
}
