//! libdaplshm.so.2: uDAPL 1.2 and 2.0 over shared memory. The link libdaplshm.so.1 is for entries of 1.2 in dat.conf.

dat_provider::export_provider!(dat_shm::Shm, "libdaplshm");
