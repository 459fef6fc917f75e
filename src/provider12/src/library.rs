//! What makes a provider library of a transport.

/// Makes a provider library of uDAPL 1.2 of a transport. To be used once in a library.
///
/// # Parameters
/// * the type that implements [`dat_core::transport::Transport`]
/// * the name of the library, a string literal, with which lines in the log begin
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        $crate::common::export_provider!($crate::Udat12, $transport, $library);
    };
}
