//! The attributes of an adapter and of its provider, in words with units.

use dat_udat12::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dat::Attributes;

/// One attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// What it is about, for people.
    pub meaning: String,
    /// Its name in the structures of dat_ia_query, or the one that the provider gives it.
    pub name: String,
    /// Its value, for programs.
    pub value: Value,
    /// Its value, for people.
    pub words: String,
}

impl Attribute {
    fn new(name: &str, meaning: &str, value: Value, words: String) -> Self {
        Attribute { meaning: meaning.to_owned(), name: name.to_owned(), value, words }
    }
}

/// The attributes of one structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// `adapter`, `provider`, or what the pairs of names and values belong to.
    pub name: String,
    /// The attributes, in the order of the structure.
    pub attributes: Vec<Attribute>,
}

/// All attributes, in groups; groups without any are left out.
pub fn groups(all: &Attributes) -> Vec<Group> {
    let named = |pairs: &[(String, String)]| {
        pairs.iter().map(|(name, value)| Attribute::new(name, name, json!(value), value.clone())).collect()
    };
    let groups = [
        ("adapter", of_adapter(all)),
        ("provider", of_provider(all)),
        ("transport", named(&all.transport)),
        ("vendor", named(&all.vendor)),
        ("provider-specific", named(&all.provider_specific)),
    ];
    let some = groups.into_iter().filter(|(_, attributes): &(_, Vec<Attribute>)| !attributes.is_empty());
    some.map(|(name, attributes)| Group { name: name.to_owned(), attributes }).collect()
}

fn of_adapter(all: &Attributes) -> Vec<Attribute> {
    let ia = &*all.ia;
    let address = all.address.map(|address| address.ip().to_string());
    vec![
        string("adapter_name", "Name", &all.adapter_name),
        string("vendor_name", "Vendor", &all.vendor_name),
        version("hardware_version", "Hardware version", ia.hardware_version_major, ia.hardware_version_minor),
        version("firmware_version", "Firmware version", ia.firmware_version_major, ia.firmware_version_minor),
        Attribute::new(
            "ia_address",
            "Address",
            json!(address),
            address.clone().unwrap_or("of another kind".to_owned()),
        ),
        count("max_eps", "Endpoints", ia.max_eps),
        count("max_dto_per_ep", "Transfers under way per endpoint, each direction", ia.max_dto_per_ep),
        count("max_rdma_read_per_ep_in", "RDMA reads under way at an endpoint as target", ia.max_rdma_read_per_ep_in),
        yes(
            "max_rdma_read_per_ep_in_guaranteed",
            "  each endpoint has so many of its own",
            ia.max_rdma_read_per_ep_in_guaranteed,
        ),
        count(
            "max_rdma_read_per_ep_out",
            "RDMA reads under way at an endpoint as originator",
            ia.max_rdma_read_per_ep_out,
        ),
        yes(
            "max_rdma_read_per_ep_out_guaranteed",
            "  each endpoint has so many of its own",
            ia.max_rdma_read_per_ep_out_guaranteed,
        ),
        count("max_rdma_read_in", "RDMA reads under way at the adapter as target", ia.max_rdma_read_in),
        count("max_rdma_read_out", "RDMA reads under way at the adapter as originator", ia.max_rdma_read_out),
        count("max_evds", "Event dispatchers", ia.max_evds),
        count("max_evd_qlen", "Events in a dispatcher", ia.max_evd_qlen),
        count("max_iov_segments_per_dto", "Segments of a send or receive", ia.max_iov_segments_per_dto),
        count("max_iov_segments_per_rdma_read", "Segments of an RDMA read", ia.max_iov_segments_per_rdma_read),
        count("max_iov_segments_per_rdma_write", "Segments of an RDMA write", ia.max_iov_segments_per_rdma_write),
        bytes("max_message_size", "Largest message", ia.max_message_size),
        bytes("max_rdma_size", "Largest RDMA operation", ia.max_rdma_size),
        count("max_pzs", "Protection zones", ia.max_pzs),
        count("max_lmrs", "Local memory regions", ia.max_lmrs),
        bytes("max_lmr_block_size", "Largest local memory region", ia.max_lmr_block_size),
        place("max_lmr_virtual_address", "Highest address of local memory", ia.max_lmr_virtual_address),
        count("max_rmrs", "Remote memory regions", ia.max_rmrs),
        place("max_rmr_target_address", "Highest address of remote memory", ia.max_rmr_target_address),
        count("max_srqs", "Shared receive queues", ia.max_srqs),
        count("max_ep_per_srq", "Endpoints on a shared receive queue", ia.max_ep_per_srq),
        count("max_recv_per_srq", "Buffers in a shared receive queue", ia.max_recv_per_srq),
    ]
}

fn of_provider(all: &Attributes) -> Vec<Attribute> {
    let provider = &*all.provider;
    vec![
        string("provider_name", "Name", &all.provider_name),
        version("provider_version", "Version", provider.provider_version_major, provider.provider_version_minor),
        version("dapl_version", "Version of the interface", provider.dapl_version_major, provider.dapl_version_minor),
        yes("is_thread_safe", "Threads may call it at the same time", provider.is_thread_safe),
        memory_types(provider.lmr_mem_types_supported),
        choice(
            "iov_ownership_on_return",
            "List of segments after a post",
            provider.iov_ownership_on_return,
            &[
                (DAT_IOV_CONSUMER, "DAT_IOV_CONSUMER", "the program's at once"),
                (DAT_IOV_PROVIDER_NOMOD, "DAT_IOV_PROVIDER_NOMOD", "the program's after the completion"),
                (DAT_IOV_PROVIDER_MOD, "DAT_IOV_PROVIDER_MOD", "the program's after the completion, and changed"),
            ],
        ),
        set(
            "dat_qos_supported",
            "Qualities of service",
            provider.dat_qos_supported,
            &[
                (DAT_QOS_HIGH_THROUGHPUT, "high throughput"),
                (DAT_QOS_LOW_LATENCY, "low latency"),
                (DAT_QOS_ECONOMY, "economy"),
                (DAT_QOS_PREMIUM, "premium"),
            ],
            "best effort",
        ),
        set(
            "completion_flags_supported",
            "Completion flags",
            provider.completion_flags_supported,
            &[
                (DAT_COMPLETION_SUPPRESS_FLAG, "suppress"),
                (DAT_COMPLETION_SOLICITED_WAIT_FLAG, "solicited wait"),
                (DAT_COMPLETION_UNSIGNALLED_FLAG, "unsignalled"),
                (DAT_COMPLETION_BARRIER_FENCE_FLAG, "barrier fence"),
                (DAT_COMPLETION_EVD_THRESHOLD_FLAG, "threshold"),
            ],
            "none",
        ),
        count_of("max_private_data_size", "Private data of a connection", provider.max_private_data_size),
        yes("supports_multipath", "Several paths to a peer", provider.supports_multipath),
        choice(
            "ep_creator",
            "Makes endpoints for connection requests",
            provider.ep_creator,
            &[
                (DAT_PSP_CREATES_EP_NEVER, "DAT_PSP_CREATES_EP_NEVER", "never"),
                (DAT_PSP_CREATES_EP_IFASKED, "DAT_PSP_CREATES_EP_IFASKED", "if asked"),
                (DAT_PSP_CREATES_EP_ALWAYS, "DAT_PSP_CREATES_EP_ALWAYS", "always"),
            ],
        ),
        choice(
            "pz_support",
            "Protection zone",
            provider.pz_support,
            &[
                (DAT_PZ_UNIQUE, "DAT_PZ_UNIQUE", "one an endpoint"),
                (DAT_PZ_SHAREABLE, "DAT_PZ_SHAREABLE", "shared by any number of endpoints"),
            ],
        ),
        bytes("optimal_buffer_alignment", "Best alignment of buffers", provider.optimal_buffer_alignment.into()),
        merging(&provider.evd_stream_merging_supported),
        yes("srq_supported", "Shared receive queues", provider.srq_supported),
        set(
            "srq_watermarks_supported",
            "  watermarks",
            provider.srq_watermarks_supported,
            &[(0x001, "low"), (0x010, "soft high"), (0x100, "hard high")],
            "none",
        ),
        yes(
            "srq_ep_pz_difference_supported",
            "  may have another zone than its endpoints",
            provider.srq_ep_pz_difference_supported,
        ),
        set(
            "srq_info_supported",
            "  counts",
            provider.srq_info_supported,
            &[(0x01, "available"), (0x10, "outstanding")],
            "none",
        ),
        set(
            "ep_recv_info_supported",
            "  counts of an endpoint",
            provider.ep_recv_info_supported,
            &[(0x01, "allocated"), (0x10, "span")],
            "none",
        ),
        yes("lmr_sync_req", "Memory needs dat_lmr_sync calls", provider.lmr_sync_req),
        yes(
            "dto_async_return_guaranteed",
            "Errors of memory come as completions alone",
            provider.dto_async_return_guaranteed,
        ),
        yes(
            "rdma_write_for_rdma_read_req",
            "Sink of an RDMA read needs the right of remote write",
            provider.rdma_write_for_rdma_read_req,
        ),
    ]
}

fn string(name: &str, meaning: &str, value: &str) -> Attribute {
    Attribute::new(name, meaning, json!(value), value.to_owned())
}

fn version(name: &str, meaning: &str, major: u32, minor: u32) -> Attribute {
    let words = format!("{major}.{minor}");
    Attribute::new(name, meaning, json!(words), words)
}

fn count(name: &str, meaning: &str, value: DAT_COUNT) -> Attribute {
    Attribute::new(name, meaning, json!(value), value.to_string())
}

/// A count of bytes.
fn count_of(name: &str, meaning: &str, value: DAT_COUNT) -> Attribute {
    Attribute::new(name, meaning, json!(value), format!("{value} bytes"))
}

fn bytes(name: &str, meaning: &str, value: u64) -> Attribute {
    Attribute::new(name, meaning, json!(value), size(value))
}

fn place(name: &str, meaning: &str, value: u64) -> Attribute {
    Attribute::new(name, meaning, json!(value), format!("{value:#x}"))
}

fn yes(name: &str, meaning: &str, value: DAT_BOOLEAN) -> Attribute {
    let value = value != DAT_FALSE;
    Attribute::new(name, meaning, json!(value), if value { "yes" } else { "no" }.to_owned())
}

/// One of several values, each with its name and its meaning.
fn choice<T>(name: &str, meaning: &str, value: T, all: &[(T, &str, &str)]) -> Attribute
where
    T: Copy + PartialEq + std::fmt::Display,
{
    match all.iter().find(|(number, ..)| *number == value) {
        Some((_, constant, words)) => Attribute::new(name, meaning, json!(constant), (*words).to_owned()),
        None => Attribute::new(name, meaning, json!(value.to_string()), format!("{value}, which has no name")),
    }
}

/// A set of bits.
///
/// # Parameters
/// * `all` - a name for each bit; bits without one are left out.
/// * `nothing` - the words for the empty set.
fn set<T>(name: &str, meaning: &str, value: T, all: &[(T, &str)], nothing: &str) -> Attribute
where
    T: Copy + PartialEq + std::ops::BitAnd<Output = T>,
{
    let names: Vec<&str> = all.iter().filter(|(bit, _)| value & *bit == *bit).map(|(_, name)| *name).collect();
    let words = if names.is_empty() { nothing.to_owned() } else { names.join(", ") };
    Attribute::new(name, meaning, json!(names), words)
}

/// Kinds of memory; that of the process has the number 0 and is always among them.
fn memory_types(value: DAT_MEM_TYPE) -> Attribute {
    let mut names = vec!["virtual"];
    let others = [(DAT_MEM_TYPE_LMR, "another region"), (DAT_MEM_TYPE_SHARED_VIRTUAL, "shared")];
    names.extend(others.iter().filter(|(bit, _)| value & bit == *bit).map(|(_, name)| *name));
    Attribute::new("lmr_mem_types_supported", "Kinds of memory", json!(names), names.join(", "))
}

/// Kinds of events that may come from one dispatcher, in the order of the matrix.
const STREAMS: [&str; 6] = ["software", "connection requests", "transfers", "connections", "binds", "asynchronous"];

fn merging(matrix: &[[DAT_BOOLEAN; 6]; 6]) -> Attribute {
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
    Attribute::new(
        "evd_stream_merging_supported",
        "Kinds of events that share a dispatcher",
        json!(named(&merged)),
        words,
    )
}

/// A number of bytes: in the largest unit of which it is a multiple, if that is not the byte.
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
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1000), "1000 bytes");
        assert_eq!(size(2 << 30), "2 GiB");
        assert_eq!(size(1536), "1536 bytes");
        assert_eq!(size(8 << 20), "8 MiB");
        assert_eq!(size(u64::MAX), format!("{} bytes", u64::MAX));
    }

    #[test]
    fn sets_name_their_bits() {
        let all = [(1, "one"), (2, "two")];
        assert_eq!(set("s", "S", 3, &all, "none").words, "one, two");
        assert_eq!(set("s", "S", 4, &all, "none").words, "none");
        assert_eq!(set("s", "S", 2, &all, "none").value, json!(["two"]));
    }

    #[test]
    fn a_choice_without_a_name_is_shown_as_it_is() {
        let all = [(1, "ONE", "the one")];
        assert_eq!(choice("c", "C", 1, &all).value, json!("ONE"));
        assert_eq!(choice("c", "C", 7, &all).words, "7, which has no name");
    }

    #[test]
    fn streams_that_cannot_be_merged_are_named() {
        let mut matrix = [[DAT_TRUE; 6]; 6];
        assert_eq!(merging(&matrix).words, "all kinds");
        matrix[2][0] = DAT_FALSE;
        assert_eq!(merging(&matrix).words, "not software with transfers");
        assert_eq!(merging(&[[DAT_FALSE; 6]; 6]).words, "none");
    }
}
