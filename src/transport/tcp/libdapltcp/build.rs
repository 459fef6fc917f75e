//! Sets how the library is linked.

fn main() {
    dat_link::provider("libdapltcp.so.2");
}
