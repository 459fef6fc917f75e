//! The numbers that the binary interface fixes on Linux x86_64, checked while compiling: sizes, alignments and offsets in
//! bytes, and the values of constants. tests-c/abi/layout.def, with which the C headers are checked, is written from here.

mod records;
mod types;
mod values;
