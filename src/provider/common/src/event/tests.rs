use super::*;

#[test]
fn async_events_have_specified_numbers_and_reasons() {
    assert_eq!(c_async(AsyncReason::EvdOverflow), (0x08001, 0));
    assert_eq!(c_async(AsyncReason::IaCatastrophic), (0x08002, 0));
    assert_eq!(c_async(AsyncReason::SrqLowWatermark), (0x08005, 2));
    assert_eq!(c_async(AsyncReason::EpSoftHighWatermark), (0x08005, 2));
}
