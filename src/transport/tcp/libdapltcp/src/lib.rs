//! libdapltcp.so.2: uDAPL 1.2 and 2.0 over TCP. The link libdapltcp.so.1 is for entries of 1.2 in dat.conf.

use dat_provider12::Udat12;
use dat_provider20::Udat20;

dat_provider_common::export_provider!(dat_tcp::Tcp, "libdapltcp", [Udat12, Udat20]);
dat_provider20::export_extensions!(Library<Udat20>);
