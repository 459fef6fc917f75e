use dat_core::transport::Scope;
use dat_core::{Base, PspMode};
use dat_udat20::{DAT_RMR_SCOPE, DAT_RMR_SCOPE_EP, DAT_RMR_SCOPE_PZ, DAT_VA_TYPE, DAT_VA_TYPE_VA, DAT_VA_TYPE_ZB};

use super::*;

#[test]
fn rights_have_bits_of_interface() {
    let rights = [
        (Rights::LOCAL_READ, DAT_MEM_PRIV_LOCAL_READ_FLAG),
        (Rights::LOCAL_WRITE, DAT_MEM_PRIV_LOCAL_WRITE_FLAG),
        (Rights::REMOTE_READ, DAT_MEM_PRIV_REMOTE_READ_FLAG),
        (Rights::REMOTE_WRITE, DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
        (Rights::REMOTE_ATOMIC, dat_udat20::DAT_IB_MEM_PRIV_REMOTE_ATOMIC),
    ];
    for (right, bit) in rights {
        assert_eq!(DAT_MEM_PRIV_FLAGS::from(right.bits()), bit);
    }
    assert_eq!(rights.map(|(right, _)| right).into_iter().collect::<Rights>(), Rights::all());
}

#[test]
fn streams_have_bits_of_interface() {
    let streams = [
        (Streams::SOFTWARE, DAT_EVD_SOFTWARE_FLAG),
        (Streams::CONNECTION_REQUESTS, DAT_EVD_CR_FLAG),
        (Streams::TRANSFERS, DAT_EVD_DTO_FLAG),
        (Streams::CONNECTIONS, DAT_EVD_CONNECTION_FLAG),
        (Streams::BINDS, DAT_EVD_RMR_BIND_FLAG),
        (Streams::ASYNC, DAT_EVD_ASYNC_FLAG),
        (Streams::OTHER, dat_udat20::DAT_IB_EVD_EXTENSION_FLAG),
    ];
    for (stream, bit) in streams {
        assert_eq!(stream.bits(), bit);
    }
    assert_eq!(streams.map(|(stream, _)| stream).into_iter().collect::<Streams>(), Streams::all());
}

#[test]
fn bases_scopes_and_modes_have_numbers_of_interface() {
    assert_eq!(Base::Address as DAT_VA_TYPE, DAT_VA_TYPE_VA);
    assert_eq!(Base::Zero as DAT_VA_TYPE, DAT_VA_TYPE_ZB);
    assert_eq!(Scope::Endpoint as DAT_RMR_SCOPE, DAT_RMR_SCOPE_EP);
    assert_eq!(Scope::Zone as DAT_RMR_SCOPE, DAT_RMR_SCOPE_PZ);
    assert_eq!(PspMode::Consumer as DAT_PSP_FLAGS, DAT_PSP_CONSUMER_FLAG);
    assert_eq!(PspMode::Provider as DAT_PSP_FLAGS, DAT_PSP_PROVIDER_FLAG);
}
