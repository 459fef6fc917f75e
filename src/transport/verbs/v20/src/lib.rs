//! libdaplverbs.so.2: uDAPL 2.0 over the kernel's RDMA stack.

dat_provider20::export_provider!(dat_verbs::Verbs, "libdaplverbs");
