//! Fuzz targets for external input.
//!
//! A *target* feeds arbitrary bytes to one parser or state machine, as a file, peer or network would, and panics if an
//! invariant is violated. Two drivers run the targets: this crate's program, with any compiler and reproducible inputs,
//! and libFuzzer (src/dev/fuzz/libfuzzer), with a nightly compiler. Both start from `corpus/TARGET`, inputs that
//! reach different code.

mod census;
mod conf;
mod input;
mod node;
#[cfg(feature = "verbs")]
mod rdma_cm;
mod records;
mod regions;
mod ring;
mod tcp;
mod victim;
mod wire;

/// A fuzz target.
pub struct Target {
    /// Name of the target and of its directory in the corpus.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
}

/// All targets of this build.
pub const TARGETS: &[Target] = &[
    Target { name: "census", run: census::run },
    Target { name: "conf", run: conf::run },
    Target { name: "wire", run: wire::run },
    Target { name: "node", run: node::run },
    Target { name: "ring", run: ring::run },
    Target { name: "records", run: records::run },
    Target { name: "regions", run: regions::run },
    Target { name: "tcp", run: tcp::run },
    #[cfg(feature = "verbs")]
    Target { name: "rdma_cm", run: rdma_cm::run },
];

/// Runs one input on the target `name`.
///
/// # Panics
/// If an invariant is violated, or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("one of the targets");
    (target.run)(data);
}
