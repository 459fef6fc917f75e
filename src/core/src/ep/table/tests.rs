use super::*;
use crate::addr::Address;
use crate::transport::Fabric;

#[test]
fn each_field_has_one_rule() {
    for (at, rule) in RULES.iter().enumerate() {
        assert_eq!(rule.field as usize, at);
        assert_eq!(rule.field.rule().field, rule.field);
    }
    assert_eq!(Field::Comm as usize + 1, RULES.len());
}

const CREATE: Purpose = Purpose::Create { recv_evd: true, request_evd: true };
const WITHOUT: Purpose = Purpose::Create { recv_evd: false, request_evd: false };

fn admits(field: Field, setting: Setting, purpose: Purpose, srq: bool) -> bool {
    field.rule().check.admits(setting, &Against { limits: &small(), srq, purpose })
}

#[test]
fn rejects_counts_outside_limits() {
    // Field, limit, minimum at creation with EVDs, minimum at creation without EVDs, minimum in a modify.
    let rows = [
        (Field::MaxRequestDtos, 10, 1, 0, 0),
        (Field::MaxRequestIov, 5, 1, 0, 1),
        (Field::MaxRecvDtos, 10, 1, 0, 0),
        (Field::MaxRecvIov, 5, 1, 0, 1),
        (Field::MaxRdmaReadIn, 1, 0, 0, 0),
        (Field::MaxRdmaReadOut, 2, 0, 0, 0),
        (Field::MaxRdmaReadIov, 3, 0, 0, 0),
        (Field::MaxRdmaWriteIov, 4, 0, 0, 0),
    ];
    for (field, most, made, without, modified) in rows {
        // These counts must be 0 without an EVD.
        let none = matches!(field, Field::MaxRequestDtos | Field::MaxRecvDtos);
        for count in 0..=most + 1 {
            let got = |purpose| admits(field, Setting::Count(count), purpose, false);
            assert_eq!(got(CREATE), (made..=most).contains(&count), "{field:?} {count}");
            assert_eq!(got(WITHOUT), (without..=if none { 0 } else { most }).contains(&count), "{field:?} {count}");
            assert_eq!(got(Purpose::Modify), (modified..=most).contains(&count), "{field:?} {count}");
        }
    }
}

#[test]
fn shared_queue_replaces_receive_counts() {
    let most = 5;
    for purpose in [CREATE, WITHOUT, Purpose::Modify] {
        for watermark in [None, Some(0), Some(99)].map(Setting::Watermark) {
            assert!(admits(Field::MaxRecvDtos, watermark, purpose, true));
            assert!(!admits(Field::MaxRecvDtos, watermark, purpose, false));
            assert!(!admits(Field::MaxRecvIov, watermark, purpose, true));
        }
        assert!(!admits(Field::MaxRecvDtos, Setting::Count(1), purpose, true));
        for count in [0, 1, most] {
            assert!(admits(Field::MaxRecvIov, Setting::Count(count), purpose, true));
        }
        let above = admits(Field::MaxRecvIov, Setting::Count(most + 1), purpose, true);
        assert_eq!(above, purpose != Purpose::Modify);
    }
}

#[test]
fn modify_is_stricter_than_creation() {
    for bits in 0..=0x3f {
        let flags = Setting::Flags(CompletionFlags::from_bits_retain(bits));
        let got = |field| [CREATE, Purpose::Modify].map(|purpose| admits(field, flags, purpose, false));
        let receives = matches!(bits, 0 | 0x02 | 0x04 | 0x10);
        assert_eq!(got(Field::RecvCompletionFlags), [receives, receives], "{bits:#x}");
        let requests = [bits <= 0x1f, matches!(bits, 0 | 0x04 | 0x10)];
        assert_eq!(got(Field::RequestCompletionFlags), requests, "{bits:#x}");
    }
    let other = Setting::Qos(Qos::Other);
    assert!(admits(Field::Qos, other, CREATE, false) && !admits(Field::Qos, other, Purpose::Modify, false));
    assert!(admits(Field::Qos, Setting::Qos(Qos::BestEffort), Purpose::Modify, false));
}

#[test]
fn rejects_large_sizes_and_other_kinds() {
    let most = 1000;
    for field in [Field::MaxMessageSize, Field::MaxRdmaSize] {
        for purpose in [CREATE, Purpose::Modify] {
            assert!(
                admits(field, Setting::Size(0), purpose, false) && admits(field, Setting::Size(most), purpose, false)
            );
            assert!(!admits(field, Setting::Size(most + 1), purpose, false));
            assert!(!admits(field, Setting::Count(1), purpose, false));
        }
    }
    for datagrams in [false, true].map(Setting::Datagrams) {
        assert!(admits(Field::ServiceType, datagrams, CREATE, false));
        assert!(!admits(Field::ServiceType, datagrams, Purpose::Modify, false));
    }
    assert!(!admits(Field::Pz, Setting::Fixed, Purpose::Modify, false));
    assert!(!admits(Field::Ia, Setting::Fixed, Purpose::Modify, false));
}

#[test]
fn classes_allow_specified_states() {
    let row = |class: Class| EpState::ALL.map(|state| if class.admits(state) { 'A' } else { 'S' });
    let text = |class| row(class).into_iter().collect::<String>();
    // The states are UNC RES PCP ACP TCP CMP CON DSP DIS; `A` is allowed, `S` an error of the state.
    assert_eq!(text(Class::Quiescent), "ASSSASSSS");
    assert_eq!(text(Class::BeforeConnection), "AAASASSSS");
    assert_eq!(text(Class::Constant), "AAASASSSS");
    assert_eq!(text(Class::Unconnected), "ASSSSSSSS");
    assert_eq!(text(Class::Never), "SSSSSSSSS");
}

/// Returns small limits, with a different value for each count of an endpoint.
fn small() -> AdapterAttributes {
    AdapterAttributes {
        vendor: String::new(),
        provider: String::new(),
        hardware_version: (0, 0),
        firmware_version: (0, 0),
        address: Address::loopback(),
        max_eps: 8,
        max_dto_per_ep: 10,
        max_rdma_read_per_ep_in: 1,
        max_rdma_read_per_ep_out: 2,
        max_rdma_read_in: 8,
        max_rdma_read_out: 16,
        max_evds: 8,
        max_evd_qlen: 64,
        max_segments: 5,
        max_segments_read: 3,
        max_segments_write: 4,
        max_lmrs: 8,
        max_lmr_block: 4096,
        max_lmr_address: u64::MAX,
        max_pzs: 8,
        max_transfer: 1000,
        max_rmrs: 8,
        max_rmr_address: u64::MAX,
        max_srqs: 8,
        max_eps_per_srq: 8,
        max_recvs_per_srq: 64,
        max_private_data: 100,
        max_reject_data: 50,
        optimal_alignment: 64,
        srq: true,
        srq_low_watermark: true,
        srq_zone_difference: true,
        rmr: true,
        zero_based: false,
        immediate: false,
        atomics: false,
        invalidate: false,
        endpoint_windows: false,
        datagrams: true,
        fabric: Fabric::memory(String::new()),
    }
}
