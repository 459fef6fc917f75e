//! libdapltcp.so.2: uDAPL 2.0 over TCP.

dat_provider20::export_provider!(dat_tcp::Tcp, "libdapltcp");
