//! The attributes of an adapter and of its provider, as JSON values and as words with units.

use std::fmt::Display;
use std::net::IpAddr;
use std::ops::BitAnd;

use dat::sys::*;
use dat::{Attributes, Attributes20};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// Meaning, for people.
    pub meaning: String,
    /// Name of the field of dat_ia_query, without `_major`, `_minor` or `_ptr`, or name from the provider.
    pub name: String,
    /// Value for programs.
    pub value: Value,
    /// Value for people.
    pub words: String,
}

/// A value for programs, and its words for people.
type Shown = (Value, String);

impl Attribute {
    fn new(name: &str, meaning: &str, (value, words): Shown) -> Self {
        Attribute { meaning: meaning.to_owned(), name: name.to_owned(), value, words }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Heading of the group, such as `adapter`, `provider` or `vendor`.
    pub name: String,
    pub attributes: Vec<Attribute>,
}

/// Returns all attributes in nonempty groups.
pub fn groups(all: &Attributes) -> Vec<Group> {
    let named = |pairs: &[(String, String)]| {
        pairs.iter().map(|(name, value)| Attribute::new(name, name, number_or_text(value))).collect()
    };
    let groups = [
        ("adapter", of_adapter(all)),
        ("provider", of_provider(all)),
        ("of uDAPL 2.0", all.v20.as_ref().map(of_20).unwrap_or_default()),
        ("transport", named(&all.transport)),
        ("vendor", named(&all.vendor)),
        ("provider-specific", named(&all.provider_specific)),
    ];
    let some = groups.into_iter().filter(|(_, attributes): &(_, Vec<Attribute>)| !attributes.is_empty());
    some.map(|(name, attributes)| Group { name: name.to_owned(), attributes }).collect()
}

/// Expands to attributes, one per line: its name, its meaning, and the function that shows its value. The value follows
/// `=`, or is the field of `$of` with this name.
macro_rules! table {
    ($of:expr; $($name:ident $meaning:literal $shown:tt $(= $value:expr)?;)*) => {
        vec![$(Attribute::new(stringify!($name), $meaning, table!(@ $of, $name, $shown $(, $value)?))),*]
    };
    (@ $of:expr, $name:ident, $shown:tt) => { ($shown)($of.$name) };
    (@ $of:expr, $name:ident, $shown:tt, $value:expr) => { ($shown)($value) };
}

fn of_adapter(all: &Attributes) -> Vec<Attribute> {
    let ia = &all.ia;
    table! { ia;
        adapter_name "Name" text = &ia.adapter_name;
        vendor_name "Vendor" text = &ia.vendor_name;
        hardware_version "Hardware version" version = (ia.hardware_version_major, ia.hardware_version_minor);
        firmware_version "Firmware version" version = (ia.firmware_version_major, ia.firmware_version_minor);
        ia_address "Address" address = all.address.map(|address| address.ip());
        max_eps "Endpoints" count;
        max_dto_per_ep "Outstanding transfers per endpoint, each direction" count;
        max_rdma_read_per_ep_in "Outstanding RDMA reads at an endpoint as target" count;
        max_rdma_read_per_ep_in_guaranteed "  guaranteed to each endpoint" yes;
        max_rdma_read_per_ep_out "Outstanding RDMA reads at an endpoint as originator" count;
        max_rdma_read_per_ep_out_guaranteed "  guaranteed to each endpoint" yes;
        max_rdma_read_in "Outstanding RDMA reads at the adapter as target" count;
        max_rdma_read_out "Outstanding RDMA reads at the adapter as originator" count;
        max_evds "Event dispatchers" count;
        max_evd_qlen "Events in a dispatcher" count;
        max_iov_segments_per_dto "Segments of a send or receive" count;
        max_iov_segments_per_rdma_read "Segments of an RDMA read" count;
        max_iov_segments_per_rdma_write "Segments of an RDMA write" count;
        max_message_size "Largest message" bytes;
        max_rdma_size "Largest RDMA operation" bytes;
        max_pzs "Protection zones" count;
        max_lmrs "Local memory regions" count;
        max_lmr_block_size "Largest local memory region" bytes;
        max_lmr_virtual_address "Highest address of local memory" place;
        max_rmrs "Remote memory regions" count;
        max_rmr_target_address "Highest address of remote memory" place;
        max_srqs "Shared receive queues" count;
        max_ep_per_srq "Endpoints on a shared receive queue" count;
        max_recv_per_srq "Buffers in a shared receive queue" count;
    }
}

fn of_provider(all: &Attributes) -> Vec<Attribute> {
    let provider = &all.provider;
    table! { provider;
        provider_name "Name" text = &provider.provider_name;
        provider_version "Version" version = (provider.provider_version_major, provider.provider_version_minor);
        dapl_version "Version of the interface" version = (provider.dapl_version_major, provider.dapl_version_minor);
        is_thread_safe "Threads may call it concurrently" yes;
        lmr_mem_types_supported "Kinds of memory" (|value| set(value, "", &[
            // The number of virtual memory is 0, so it is in each set.
            (0, "virtual"), (DAT_MEM_TYPE_LMR, "another region"), (DAT_MEM_TYPE_SHARED_VIRTUAL, "shared"),
        ]));
        iov_ownership_on_return "List of segments after a post" (|value| choice(value, &[
            (DAT_IOV_CONSUMER, "DAT_IOV_CONSUMER", "the program's immediately"),
            (DAT_IOV_PROVIDER_NOMOD, "DAT_IOV_PROVIDER_NOMOD", "the program's after the completion"),
            (DAT_IOV_PROVIDER_MOD, "DAT_IOV_PROVIDER_MOD", "the program's after the completion, and changed"),
        ]));
        dat_qos_supported "Qualities of service" (|value| set(value, "best effort", &[
            (DAT_QOS_HIGH_THROUGHPUT, "high throughput"), (DAT_QOS_LOW_LATENCY, "low latency"),
            (DAT_QOS_ECONOMY, "economy"), (DAT_QOS_PREMIUM, "premium"),
        ]));
        completion_flags_supported "Completion flags" (|value| set(value, "none", &[
            (DAT_COMPLETION_SUPPRESS_FLAG, "suppress"), (DAT_COMPLETION_SOLICITED_WAIT_FLAG, "solicited wait"),
            (DAT_COMPLETION_UNSIGNALLED_FLAG, "unsignalled"), (DAT_COMPLETION_BARRIER_FENCE_FLAG, "barrier fence"),
            (DAT_COMPLETION_EVD_THRESHOLD_FLAG, "threshold"),
        ]));
        max_private_data_size "Private data of a connection" (|value| (json!(value), format!("{value} bytes")));
        supports_multipath "Several paths to a peer" yes;
        ep_creator "Creates endpoints for connection requests" (|value| choice(value, &[
            (DAT_PSP_CREATES_EP_NEVER, "DAT_PSP_CREATES_EP_NEVER", "never"),
            (DAT_PSP_CREATES_EP_IFASKED, "DAT_PSP_CREATES_EP_IFASKED", "on request"),
            (DAT_PSP_CREATES_EP_ALWAYS, "DAT_PSP_CREATES_EP_ALWAYS", "always"),
        ]));
        pz_support "Protection zone" (|value| choice(value, &[
            (DAT_PZ_UNIQUE, "DAT_PZ_UNIQUE", "one per endpoint"),
            (DAT_PZ_SHAREABLE, "DAT_PZ_SHAREABLE", "shared by any number of endpoints"),
        ]));
        optimal_buffer_alignment "Best alignment of buffers" bytes;
        evd_stream_merging_supported "Kinds of events that share a dispatcher" merging;
        srq_supported "Shared receive queues" yes;
        srq_watermarks_supported "  watermarks" (|value| {
            set(value, "none", &[(0x001, "low"), (0x010, "soft high"), (0x100, "hard high")])
        });
        srq_ep_pz_difference_supported "  may have another zone than its endpoints" yes;
        srq_info_supported "  counts" (|value| set(value, "none", &[(0x01, "available"), (0x10, "outstanding")]));
        ep_recv_info_supported "  counts of an endpoint" (|value| {
            set(value, "none", &[(0x01, "allocated"), (0x10, "span")])
        });
        lmr_sync_req "Memory needs dat_lmr_sync calls" yes;
        dto_async_return_guaranteed "Memory errors are reported only as completions" yes;
        rdma_write_for_rdma_read_req "Sink of an RDMA read needs the right of remote write" yes;
    }
}

fn of_20(v20: &Attributes20) -> Vec<Attribute> {
    table! { v20;
        zb_supported "Regions may be zero-based" yes;
        extension_supported "Extensions" (|value| choice(value, &[
            (DAT_EXTENSION_NONE, "DAT_EXTENSION_NONE", "none"),
            (DAT_EXTENSION_IB, "DAT_EXTENSION_IB", "those for InfiniBand"),
            (DAT_EXTENSION_IW, "DAT_EXTENSION_IW", "those for iWARP"),
        ]));
        extension_version "  version" count;
        rdma_read_lmr_rmr_context_exposure "RDMA read shows the context of local memory" yes;
        rmr_scope_supported "Remote memory regions are for" (|value| choice(value, &[
            (DAT_RMR_SCOPE_EP, "DAT_RMR_SCOPE_EP", "one endpoint"),
            (DAT_RMR_SCOPE_PZ, "DAT_RMR_SCOPE_PZ", "a protection zone"),
            (DAT_RMR_SCOPE_ANY, "DAT_RMR_SCOPE_ANY", "one endpoint or a protection zone"),
        ]));
        is_signal_safe "Calls may be made in a signal handler" yes;
        ha_supported "Another adapter can take over connections" yes;
        ha_loadbalancing "  load is spread" (|value| choice(value, &[
            (DAT_HA_LB_NONE, "DAT_HA_LB_NONE", "not"),
            (DAT_HA_LB_INTERCOMM, "DAT_HA_LB_INTERCOMM", "by connection"),
            (DAT_HA_LB_INTRACOMM, "DAT_HA_LB_INTRACOMM", "within a connection"),
        ]));
    }
}

fn text(value: &str) -> Shown {
    (json!(value), value.to_owned())
}

/// Shows a provider's text. Its JSON value is a number if the text is decimal without leading zeros.
fn number_or_text(value: &str) -> Shown {
    let number = value.parse::<u64>().ok().filter(|number| number.to_string() == value);
    (number.map_or_else(|| json!(value), |number| json!(number)), value.to_owned())
}

fn version((major, minor): (u32, u32)) -> Shown {
    text(&format!("{major}.{minor}"))
}

fn address(value: Option<IpAddr>) -> Shown {
    (json!(value), value.map_or("of another kind".to_owned(), |address| address.to_string()))
}

fn count(value: DAT_COUNT) -> Shown {
    (json!(value), value.to_string())
}

fn bytes(value: impl Into<u64>) -> Shown {
    let value = value.into();
    (json!(value), size(value))
}

fn place(value: u64) -> Shown {
    (json!(value), format!("{value:#x}"))
}

fn yes(value: bool) -> Shown {
    (json!(value), if value { "yes" } else { "no" }.to_owned())
}

/// Shows a value by its constant and words in `all`, or as a number if `all` does not contain it.
fn choice<T: Copy + PartialEq + Display>(value: T, all: &[(T, &str, &str)]) -> Shown {
    match all.iter().find(|(number, ..)| *number == value) {
        Some((_, constant, words)) => (json!(constant), (*words).to_owned()),
        None => (json!(value.to_string()), format!("{value}, which has no name")),
    }
}

/// Shows a set of bits, or `nothing` for the empty set. Omits bits that `all` does not name.
fn set<T: Copy + PartialEq + BitAnd<Output = T>>(value: T, nothing: &str, all: &[(T, &str)]) -> Shown {
    let names: Vec<&str> = all.iter().filter(|(bit, _)| value & *bit == *bit).map(|(_, name)| *name).collect();
    let words = if names.is_empty() { nothing.to_owned() } else { names.join(", ") };
    (json!(names), words)
}

/// Kinds of events, in the order of the matrix.
const STREAMS: [&str; 6] = ["software", "connection requests", "transfers", "connections", "binds", "asynchronous"];

fn merging(matrix: [[DAT_BOOLEAN; 6]; 6]) -> Shown {
    let pairs = (0..6).flat_map(|row| (0..row).map(move |column| (row, column)));
    let (merged, apart): (Vec<_>, Vec<_>) = pairs.partition(|&(row, column)| matrix[row][column] != DAT_FALSE);
    let named = |pairs: &[(usize, usize)]| -> Vec<String> {
        pairs.iter().map(|&(row, column)| format!("{} with {}", STREAMS[column], STREAMS[row])).collect()
    };
    let words = match (merged.is_empty(), apart.is_empty()) {
        (_, true) => "all kinds".to_owned(),
        (true, _) => "none".to_owned(),
        _ => format!("not {}", named(&apart).join(", not ")),
    };
    (json!(named(&merged)), words)
}

/// Formats a number of bytes in the largest unit of which it is a multiple.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let powers = (bytes.trailing_zeros() / 10) as usize;
    match powers.min(UNITS.len()) {
        _ if bytes == 0 => "0 bytes".to_owned(),
        0 => format!("{bytes} bytes"),
        power => format!("{} {}", bytes >> (10 * power), UNITS[power - 1]),
    }
}

#[cfg(test)]
mod tests;
