//! Named attributes of a provider. Names, order and formats match the C providers; other attributes follow.

use std::ffi::{CStr, CString};
use std::fmt::Write;

use dat_core::transport::{AdapterAttributes, FabricKind};
use dat_udat20::*;

use crate::counted::Head;

/// Converts a value to a C string, which ends at the first zero byte.
fn text(value: &str) -> CString {
    CString::new(value.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Returns the attributes of an adapter's provider, without counters.
pub(crate) fn named_attributes(limits: &AdapterAttributes, extensions: bool) -> Head {
    let truth = |value: bool| if value { "TRUE" } else { "FALSE" }.to_owned();
    let fabric = &limits.fabric;
    let provider = match fabric.kind {
        FabricKind::Memory => "SHM",
        FabricKind::InfiniBand | FabricKind::Iwarp => "CMA",
        FabricKind::Fabric => "TCP",
    };
    let pairs: [(&CStr, String); 15] = [
        (c"DAT_IB_PROVIDER_NAME", provider.to_owned()),
        (c"DAT_IB_DEVICE_NAME", fabric.device.clone()),
        (c"DAT_IB_CONNECTIVITY_MODE", "DIRECT".to_owned()),
        (c"DAT_IB_RDMA_READ", truth(true)),
        (c"DAT_IB_NODE_GUID", groups(&fabric.node_guid.unwrap_or(0).to_be_bytes())),
        (c"DAT_IB_GID", groups(&fabric.gid.unwrap_or([0; 16]))),
        (c"DAT_IB_TRANSPORT_MTU", fabric.mtu.to_string()),
        (c"DAT_IB_PORT_STATUS", if fabric.active { "ACTIVE" } else { "DOWN" }.to_owned()),
        (c"DAT_IB_PORT_NUMBER", fabric.port.to_string()),
        (c"DAT_EXTENSION_INTERFACE", truth(extensions)),
        (DAT_IB_ATTR_FETCH_AND_ADD, truth(extensions && limits.atomics)),
        (DAT_IB_ATTR_CMP_AND_SWAP, truth(extensions && limits.atomics)),
        (DAT_IB_ATTR_IMMED_DATA, truth(extensions && limits.immediate)),
        (DAT_IB_ATTR_UD, truth(extensions && limits.datagrams)),
        (DAT_IB_ATTR_COUNTERS, truth(true)),
    ];
    pairs.into_iter().map(|(name, value)| (name, text(&value))).collect()
}

/// Formats bytes in hexadecimal, in groups of two.
fn groups(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let separator = if at > 0 && at % 2 == 0 { ":" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests;
