//! The numbers that the binary interface of uDAPL 1.2 alone fixes on 64-bit Linux, checked at compile time: sizes,
//! alignments and offsets in bytes, and the values of constants.

mod records;
mod types;
mod values;
