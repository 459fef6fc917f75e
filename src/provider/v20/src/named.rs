//! Named attributes of a provider. Names, order and formats match the C providers.

use std::ffi::{CStr, CString, c_char};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use dat_core::transport::{AdapterAttributes, Fabric, FabricKind};
use dat_udat20::*;

/// A list of attributes. Programs keep pointers to it, so it never moves.
struct List {
    /// Values in the order of `attributes`; lists with equal values are shared.
    values: Vec<CString>,
    attributes: Vec<DAT_NAMED_ATTR>,
}

// SAFETY: the pointers of a list refer to its own values and to constants, which never change.
unsafe impl Send for List {}
// SAFETY: a list and the memory that its pointers refer to are immutable.
unsafe impl Sync for List {}

/// All lists, one per device and port state. They are never freed.
static LISTS: Mutex<Vec<&'static List>> = Mutex::new(Vec::new());

/// Returns the attributes of an adapter's provider, without counters.
pub(crate) fn named_attributes(limits: &AdapterAttributes, extensions: bool) -> &'static [DAT_NAMED_ATTR] {
    let (names, values): (Vec<&CStr>, Vec<CString>) =
        pairs(limits, extensions).into_iter().map(|(name, value)| (name, text(&value))).unzip();
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    let list = lists.iter().copied().find(|list| list.values == values).unwrap_or_else(|| {
        let attributes = names.iter().zip(&values).map(|(name, value)| named(name, value)).collect();
        #[expect(clippy::disallowed_methods, reason = "there are few")]
        let list: &'static List = Box::leak(Box::new(List { values, attributes }));
        lists.push(list);
        list
    });
    &list.attributes
}

fn named(name: &CStr, value: &CStr) -> DAT_NAMED_ATTR {
    let pointer = |text: &CStr| text.as_ptr().cast_mut().cast::<c_char>();
    DAT_NAMED_ATTR { name: pointer(name), value: pointer(value) }
}

/// Converts a value to a C string, which ends at the first zero byte.
fn text(value: &str) -> CString {
    CString::new(value.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

fn pairs(limits: &AdapterAttributes, extensions: bool) -> Vec<(&'static CStr, String)> {
    let truth = |value: bool| if value { "TRUE" } else { "FALSE" }.to_owned();
    let fabric = &limits.fabric;
    let provider = match fabric.kind {
        FabricKind::Memory => "SHM",
        FabricKind::InfiniBand | FabricKind::Iwarp => "CMA",
        FabricKind::Fabric => "TCP",
    };
    vec![
        (c"DAT_IB_PROVIDER_NAME", provider.to_owned()),
        (c"DAT_IB_DEVICE_NAME", fabric.device.clone()),
        (c"DAT_IB_CONNECTIVITY_MODE", "DIRECT".to_owned()),
        (c"DAT_IB_RDMA_READ", truth(true)),
        (c"DAT_IB_NODE_GUID", groups(&fabric.node_guid.unwrap_or(0).to_be_bytes())),
        (c"DAT_IB_GID", groups(&fabric.gid.unwrap_or([0; 16]))),
        (c"DAT_IB_TRANSPORT_MTU", fabric.mtu.to_string()),
        (c"DAT_IB_PORT_STATUS", status(fabric).to_owned()),
        (c"DAT_IB_PORT_NUMBER", fabric.port.to_string()),
        (c"DAT_EXTENSION_INTERFACE", truth(extensions)),
        (DAT_IB_ATTR_FETCH_AND_ADD, truth(extensions && limits.atomics)),
        (DAT_IB_ATTR_CMP_AND_SWAP, truth(extensions && limits.atomics)),
        (DAT_IB_ATTR_IMMED_DATA, truth(extensions && limits.immediate)),
        (DAT_IB_ATTR_UD, truth(extensions && limits.datagrams)),
        (DAT_IB_ATTR_COUNTERS, truth(true)),
    ]
}

fn status(fabric: &Fabric) -> &'static str {
    if fabric.active { "ACTIVE" } else { "DOWN" }
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
