//! libdapltcp.so.2: uDAPL 1.2 and 2.0 over TCP. Entries of 1.2 in dat.conf name its symbolic link libdapltcp.so.1.

dat_provider::export_provider!(dat_tcp::Tcp, "libdapltcp");
