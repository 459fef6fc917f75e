//! Definition of provider libraries.

/// Defines a provider library of uDAPL 1.2: [`common::export_provider!`](crate::common::export_provider).
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        $crate::common::export_provider!($crate::Udat12, $transport, $library);
    };
}
