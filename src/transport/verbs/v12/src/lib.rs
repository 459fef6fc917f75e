//! libdaplverbs.so.1: uDAPL 1.2 over the kernel's RDMA stack.

dat_provider12::export_provider!(dat_verbs::Verbs, "libdaplverbs");
