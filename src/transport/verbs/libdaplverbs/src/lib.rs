//! libdaplverbs.so.2: uDAPL 1.2 and 2.0 over the kernel's RDMA stack. The link libdaplverbs.so.1 is for entries of 1.2 in dat.conf.

dat_provider::export_provider!(dat_verbs::Verbs, "libdaplverbs");
