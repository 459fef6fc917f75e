//! libdaplverbs.so.2: uDAPL 1.2 and 2.0 over the kernel's RDMA stack. The link libdaplverbs.so.1 is for entries of 1.2 in dat.conf.

use dat_provider12::Udat12;
use dat_provider20::Udat20;

dat_provider_common::export_provider!(dat_verbs::Verbs, "libdaplverbs", [Udat12, Udat20]);
dat_provider20::export_extensions!(Library<Udat20>);
