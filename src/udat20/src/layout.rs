//! The numbers that the binary interface of uDAPL 2.0 alone fixes on 64-bit Linux, checked at compile time: sizes,
//! alignments and offsets in bytes, and the values of constants.

mod extensions;
mod records;
mod types;
mod values;

// The unnamed member of the C structure has a name here, so this one is not among the records.
dat_udat::record!(crate::DAT_IB_EXTENSION_EVENT_DATA, 64, 8, {
    r#type: 0, 4;
    status: 4, 4;
    val: 8, 4;
    more: 16, 40;
    context: 56, 8;
});
