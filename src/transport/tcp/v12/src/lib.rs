//! libdapltcp.so.1: uDAPL 1.2 over TCP.

dat_provider12::export_provider!(dat_tcp::Tcp, "libdapltcp");
