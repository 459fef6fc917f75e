use super::*;

#[test]
fn the_fast_path_is_not_logged() {
    for name in ["dat_ep_post_send", "dat_srq_post_recv", "dat_evd_dequeue", "dat_extension_op", "dat_get_handle_type"]
    {
        assert!(!is_logged(name), "{name}");
    }
    for name in ["dat_evd_post_se", "dat_ep_create", "dat_evd_wait_any", "dat_srq_create", "dat_psp_create"] {
        assert!(is_logged(name), "{name}");
    }
}

#[test]
fn handles_and_numbers_are_shown() {
    let (handle, qualifier, count, short) = (0x1000 as DAT_HANDLE, 2000_u64, -1_i32, 64_u32);
    let place: *mut u8 = std::ptr::null_mut();
    let all: [Argument<'_>; 7] = [
        ("ia", "DAT_IA_HANDLE", &handle),
        ("qual", "DAT_CONN_QUAL", &qualifier),
        ("count", "DAT_COUNT", &count),
        ("timeout", "DAT_TIMEOUT", &short),
        ("flags", "DAT_CLOSE_FLAGS", &short),
        ("mask", "DAT_EP_PARAM_MASK", &qualifier),
        ("place", "*mut u8", &place),
    ];
    assert_eq!(Arguments(&all).to_string(), " ia=0x1000 qual=2000 count=-1 timeout=64 flags=0x40 mask=0x7d0");
}

#[test]
fn created_handles_are_shown() {
    assert_eq!(Handles([Some(("ep_handle", 0x2000 as DAT_HANDLE)), None]).to_string(), " ep_handle=0x2000");
}
