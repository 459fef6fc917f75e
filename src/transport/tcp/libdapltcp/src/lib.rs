//! libdapltcp.so.2: uDAPL 1.2 and 2.0 over TCP. The link libdapltcp.so.1 is for entries of 1.2 in dat.conf.

dat_provider::export_provider!(dat_tcp::Tcp, "libdapltcp");
