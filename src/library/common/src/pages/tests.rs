use std::ptr;

use super::*;

const TABLE: *const Head = ptr::without_provenance(64);

fn handle(number: usize) -> DAT_HANDLE {
    ptr::without_provenance_mut(number)
}

#[test]
fn knows_no_page_initially() {
    let pages = Pages::new();
    for place in 0..2 * SLOTS {
        assert!(!pages.has(handle(place << PAGE_BITS)), "page {place}");
    }
}

#[test]
fn knows_page_to_its_end() {
    let pages = Pages::new();
    pages.note(handle(0x7f12_3456_7040), TABLE);
    assert!(pages.has(handle(0x7f12_3456_7000)) && pages.has(handle(0x7f12_3456_7ff8)));
    for other in [0x7f12_3456_6ff8, 0x7f12_3456_8000, 0x3456_7040, 0x7f12_3456_7041, 0x7f12_3456_7044, 0] {
        assert!(!pages.has(handle(other)), "{other:#x}");
    }
    pages.forget();
    assert!(!pages.has(handle(0x7f12_3456_7040)) && !pages.has(handle(0)));
}

#[test]
fn knows_pages_with_same_first_place() {
    let pages = Pages::new();
    let megabytes = [0x1000_0000, 0x1400_0000, 0x5000_0000, 0x7f00_4000_0000].map(handle);
    megabytes.iter().for_each(|&handle| pages.note(handle, TABLE));
    assert!(megabytes.iter().all(|&handle| pages.has(handle)));
    assert_eq!(megabytes.map(|handle| pages.table_of(handle)), [None, None, None, Some(TABLE)]);
}

#[test]
fn compares_only_mapped_memory() {
    let words = [0x1234_5678_9abc_def8_usize, 0];
    let there = ptr::from_ref(&words).cast_mut().cast::<libc::c_void>();
    assert!(Pages::has_word(there, words[0]) && Pages::has_word(there.wrapping_byte_add(8), 0));
    for other in [0, !words[0], words[0] ^ 1, words[0] ^ 1 << 63] {
        assert!(!Pages::has_word(there, other), "{other:#x}");
    }
    assert!(!Pages::has_word(there.wrapping_byte_add(1), words[0]));
    for number in [0, 8, 64, 4088, 0x10000, 0x1234_5678, 1 << 47, 1 << 60, usize::MAX & !7, usize::MAX] {
        assert!(!Pages::has_word(handle(number), 0), "{number:#x}");
    }
}
