//! libdaplshm.so.2: uDAPL 1.2 and 2.0 over shared memory. The link libdaplshm.so.1 is for entries of 1.2 in dat.conf.

use dat_provider12::Udat12;
use dat_provider20::Udat20;

dat_provider_common::export_provider!(dat_shm::Shm, "libdaplshm", [Udat12, Udat20]);
dat_provider20::export_extensions!(Library<Udat20>);
