//! Links libdat2.so.2.

fn main() {
    // The second node contains functions that other uDAPL 2.0 libraries lack, so that the loader rejects a program that
    // uses such a function with another library. Linkers other than lld write the predecessor node into the library; no
    // loader reads it. rustc's version script lacks dat_extension_op, which is not a Rust function.
    dat_link::library("libdat2.so.2", "DAT_2.0 { global: dat_extension_op; };\nDAT_2.0_FULL { } DAT_2.0;\n");
}
