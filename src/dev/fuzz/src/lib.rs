//! Fuzzing of what comes from outside.
//!
//! A *target* is a function of an input, any bytes. It hands them to a part of the libraries as a file, a peer or the
//! wire would, and panics where a rule is broken that holds for any bytes. Two drivers run the targets: this crate's
//! program, on any compiler, with inputs that follow from a seed, and libFuzzer (src/dev/fuzz/libfuzzer), on a nightly one.
//! The inputs of `corpus/TARGET` are where both begin; an input that found something stays there for ever.

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

/// A target.
pub struct Target {
    /// Its name, and that of its folder of inputs.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]),
}

/// All targets of this build.
pub const TARGETS: &[Target] = &[
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

/// Tries one input on the target `name`, which is one of [`TARGETS`].
///
/// # Panics
/// Where a rule is broken; without such a target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("one of the targets");
    (target.run)(data);
}
