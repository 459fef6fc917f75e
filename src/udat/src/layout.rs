//! The numbers that the binary interface of every version fixes on 64-bit Linux, checked at compile time: sizes,
//! alignments and offsets in bytes, and the values of constants. Those of one version are in its crate.
//! tests-c/abi/layout.def and its like, which check the C headers, are written from both.

mod records;
mod types;
mod values;
