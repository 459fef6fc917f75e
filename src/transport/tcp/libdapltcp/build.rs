//! Sets the file name (soname) and the other linker options of the library.

fn main() {
    dat_link::provider("libdapltcp.so.2");
}
