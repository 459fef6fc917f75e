use super::*;

#[test]
fn asynchronous_events_have_the_numbers_and_reasons_of_the_specification() {
    assert_eq!(c_async(AsyncReason::EvdOverflow), (0x08001, 0));
    assert_eq!(c_async(AsyncReason::IaCatastrophic), (0x08002, 0));
    assert_eq!(c_async(AsyncReason::SrqLowWatermark), (0x08005, 2));
    assert_eq!(c_async(AsyncReason::EpSoftHighWatermark), (0x08005, 2));
}
