//! Links libdat2.so.2.

fn main() {
    // The second node contains the functions that other libraries of uDAPL 2.0 lack. If a program uses one of them, the
    // loader refuses to start the program with another library, instead of failing later. Linkers other than lld write
    // the predecessor node into the library; no loader reads it.
    // rustc's version script lacks dat_extension_op, because it is not a Rust function.
    dat_link::library("libdat2.so.2", "DAT_2.0 { global: dat_extension_op; };\nDAT_2.0_FULL { } DAT_2.0;\n");
}
