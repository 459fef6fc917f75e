use super::*;

#[test]
fn a_completion_names_its_slot() {
    for slot in
        (0..ANSWERS).map(Slot::Answer).chain((0..RECEIVES).map(Slot::Receive)).chain([Slot::BulkIn, Slot::BulkOut])
    {
        assert_eq!(Slot::of_context(slot.context()), Some(slot));
    }
    for number in 0..2 * CREDITS as u64 {
        assert_eq!(Slot::of_context(Slot::Request(number).context()), None);
    }
    assert_eq!(Slot::of_context(SLOTS as u64 + 2), None);
}
