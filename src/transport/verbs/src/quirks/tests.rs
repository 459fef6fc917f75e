use super::*;

#[test]
fn hardware_has_no_quirks() {
    // Mellanox, Broadcom, Chelsio.
    for (vendor, iwarp) in [(0x2c9, false), (0x14e4, false), (0x1425, true), (SOFT_IWARP, false)] {
        assert_eq!(Quirks::of(vendor, iwarp), Quirks::default(), "{vendor:#x}");
    }
    assert_ne!(Quirks::of(SOFT_ROCE, false), Quirks::default());
    assert_ne!(Quirks::of(SOFT_IWARP, true), Quirks::default());
}
