/// Creates a provider library of uDAPL 2.0 like [`common::export_provider!`](crate::common::export_provider). The
/// library also exports `dapl_extensions`.
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        $crate::common::export_provider!($crate::Udat20, $transport, $library);

        /// Executes the extended operation `op` on an object. Registries check for this symbol.
        ///
        /// # Safety
        /// The arguments match the operation.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dapl_extensions(
            handle: $crate::udat20::DAT_HANDLE,
            op: $crate::udat20::DAT_EXTENDED_OP,
            arguments: *mut $crate::udat20::VaList,
        ) -> $crate::udat20::DAT_RETURN {
            // SAFETY: the caller's arguments match the operation.
            unsafe { $crate::extension::dat_extension_op::<Library>(handle, op, arguments) }
        }
    };
}
