//! libdaplverbs.so.2: uDAPL 1.2 and 2.0 over the kernel's RDMA stack. Entries of 1.2 in dat.conf name its symbolic link
//! libdaplverbs.so.1.

dat_provider::export_provider!(dat_verbs::Verbs, "libdaplverbs");
