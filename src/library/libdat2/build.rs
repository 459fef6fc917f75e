//! Sets how libdat2.so.2 is linked.

fn main() {
    // The second node has the functions that the libraries of others do not export, so that a program that uses one
    // of them is refused by the loader there, and does not fail later. Its predecessor is for linkers that write it into
    // the library; lld does not, and no loader looks at it.
    // dat_extension_op is no Rust function, so rustc's own script does not have it.
    dat_link::library("libdat2.so.2", "DAT_2.0 { global: dat_extension_op; };\nDAT_2.0_FULL { } DAT_2.0;\n");
}
