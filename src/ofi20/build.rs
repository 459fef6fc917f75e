//! Sets how the library is linked.

fn main() {
    dat_link::provider("libdaplofi.so.2");
}
