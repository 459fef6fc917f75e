//! Sets how libdat2.so.2 is linked.

fn main() {
    // The second node has the functions that the libraries of others do not export, so that a program that uses one
    // of them is refused by the loader there, and does not fail later. Its predecessor is for linkers that write it into
    // the library; lld does not, and no loader looks at it.
    dat_link::library("libdat2.so.2", "DAT_2.0 { };\nDAT_2.0_FULL { } DAT_2.0;\n");
}
