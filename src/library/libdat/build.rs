//! Links libdat.so.1.

fn main() {
    dat_link::library("libdat.so.1", "DAT_1.2 { };\n");
}
