//! libdaplshm.so.2: uDAPL 2.0 over shared memory.

dat_provider20::export_provider!(dat_shm::Shm, "libdaplshm");
