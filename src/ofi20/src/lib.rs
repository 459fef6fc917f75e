//! libdaplofi.so.2: uDAPL 2.0 over libfabric.

dat_provider20::export_provider!(dat_ofi::Ofi, "libdaplofi");
