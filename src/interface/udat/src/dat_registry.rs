//! Interface between the registry and provider libraries

use core::ffi::{CStr, c_char};

use crate::dat::DAT_PROVIDER_INFO;

/// Type of dat_provider_init, which a provider library exports. The registry calls it before the first open of an
/// adapter. It must register the adapter with dat_registry_add_provider.
pub type DAT_PROVIDER_INIT_FUNC =
    Option<unsafe extern "C" fn(provider_info: *const DAT_PROVIDER_INFO, instance_data: *const c_char)>;

/// Type of dat_provider_fini, which a provider library exports. The registry calls it after the last close of an
/// adapter. It must remove the adapter with dat_registry_remove_provider.
pub type DAT_PROVIDER_FINI_FUNC = Option<unsafe extern "C" fn(provider_info: *const DAT_PROVIDER_INFO)>;

/// Name of the function of type DAT_PROVIDER_INIT_FUNC, for dlsym.
pub const DAT_PROVIDER_INIT_FUNC_STR: &CStr = c"dat_provider_init";
/// Name of the function of type DAT_PROVIDER_FINI_FUNC, for dlsym.
pub const DAT_PROVIDER_FINI_FUNC_STR: &CStr = c"dat_provider_fini";
