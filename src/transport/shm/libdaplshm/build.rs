//! Sets how the library is linked.

fn main() {
    dat_link::provider("libdaplshm.so.2");
}
