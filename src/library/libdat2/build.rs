//! Links libdat2.so.2.

fn main() {
    // DAT_2.0 contains the functions of each uDAPL 2.0 library, DAT_2.0_FULL those that other libraries lack. A program
    // that uses a function of DAT_2.0_FULL needs this version, so the loader does not start it with another library.
    // Linkers other than lld record that DAT_2.0 precedes DAT_2.0_FULL; no loader reads this record. rustc's own
    // version script exports the Rust functions. dat_extension_op is not one of them, so DAT_2.0 names it here.
    dat_link::library("libdat2.so.2", "DAT_2.0 { global: dat_extension_op; };\nDAT_2.0_FULL { } DAT_2.0;\n");
}
