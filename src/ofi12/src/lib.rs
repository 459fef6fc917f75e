//! libdaplofi.so.1: uDAPL 1.2 over libfabric.

dat_provider12::export_provider!(dat_ofi::Ofi, "libdaplofi");
