//! The numbers that the binary interface fixes on Linux x86_64, checked at compile time: sizes, alignments and offsets
//! in bytes, and the values of constants. tests-c/abi/layout.def, which checks the C headers, is written from here.

mod records;
mod types;
mod values;
