//! libdaplshm.so.1: uDAPL 1.2 over shared memory.

dat_provider12::export_provider!(dat_shm::Shm, "libdaplshm");
