//! Sets how the library is linked.

fn main() {
    dat_link::provider("libdaplverbs.so.2");
}
