//! What makes a provider library of a transport.

/// Makes a provider library of uDAPL 1.2 of a transport: [`common::export_provider!`](crate::common::export_provider).
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        $crate::common::export_provider!($crate::Udat12, $transport, $library);
    };
}
