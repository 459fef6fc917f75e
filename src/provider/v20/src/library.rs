//! What makes a provider library of a transport.

/// Makes a provider library of uDAPL 2.0 of a transport, which exports `dapl_extensions` as well: see
/// [`common::export_provider!`](crate::common::export_provider).
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        $crate::common::export_provider!($crate::Udat20, $transport, $library);

        /// Carries out the extended operation `op` on an object. Registries look whether this function is there.
        ///
        /// # Safety
        /// The arguments are those of the operation.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dapl_extensions(
            handle: $crate::udat20::DAT_HANDLE,
            op: $crate::udat20::DAT_EXTENDED_OP,
            arguments: *mut $crate::udat20::VaList,
        ) -> $crate::udat20::DAT_RETURN {
            // SAFETY: the caller's promise.
            unsafe { $crate::extension::dat_extension_op::<Library>(handle, op, arguments) }
        }
    };
}
