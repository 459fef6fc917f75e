//! Adapters opened only for queries of their attributes. Registries other than libdat call [`open`] with the adapter's
//! name as the handle; libdat opens the adapter itself.

use std::ptr::null_mut;

use dat_udat20::*;
use host::va_list::VaList;

use crate::call::making;
use crate::ia::{dat_ia_close, dat_ia_openv, dat_ia_query};
use crate::ptr::{OutPtr, Parameter};
use crate::v20::Udat20;
use crate::{Fault, Provider};

/// Length of the asynchronous EVD, which programs do not use.
const QUEUE: DAT_COUNT = 8;

/// Opens and queries the adapter `name` (dat_ib_open_query).
///
/// # Safety
/// `name` is a C string. The arguments are `DAT_IA_HANDLE *`, `DAT_IA_ATTR_MASK`, `DAT_IA_ATTR *`,
/// `DAT_PROVIDER_ATTR_MASK` and `DAT_PROVIDER_ATTR *`; pointers are NULL or writable.
pub(super) unsafe fn open<F: Provider<Version = Udat20>>(name: DAT_HANDLE, arguments: &mut VaList) -> DAT_RETURN {
    // SAFETY: the caller promises these arguments.
    let [out, ia_mask, ia_attr, provider_mask, provider_attr] = unsafe { arguments.next_words() };
    // SAFETY: a pointer that is NULL or writable.
    let out = unsafe { OutPtr::<DAT_IA_HANDLE>::of(VaList::pointer(out)) };
    // SAFETY: a pointer that is NULL or writable.
    let ia_attr = unsafe { OutPtr::of(VaList::pointer(ia_attr)) };
    // SAFETY: a pointer that is NULL or writable.
    let provider_attr = unsafe { OutPtr::of(VaList::pointer(provider_attr)) };
    let mut refused = DAT_SUCCESS;
    let code = making::<F>(|| {
        let out = out.required(4)?;
        if ia_attr.is_null() && provider_attr.is_null() {
            return Err(Fault::Argument(5));
        }
        let (mut async_evd, mut ia) = (null_mut(), null_mut());
        // SAFETY: both variables outlive the calls.
        let [evd_out, ia_out] = [&raw mut async_evd, &raw mut ia].map(|place| unsafe { OutPtr::of(place) });
        // SAFETY: the caller's `name` is a C string; the EVD handle is initialised.
        refused = unsafe { dat_ia_openv::<F>(name.cast(), QUEUE, evd_out, ia_out) };
        if refused != DAT_SUCCESS {
            return Ok(());
        }
        refused = dat_ia_query::<F>(ia, evd_out, ia_mask, ia_attr, provider_mask, provider_attr);
        if refused == DAT_SUCCESS {
            out.write(ia);
        } else {
            let _ = dat_ia_close::<F>(ia, DAT_CLOSE_ABRUPT_FLAG);
            refused = open_query_code(refused);
        }
        Ok(())
    });
    if code == DAT_SUCCESS { refused } else { code }
}

/// Closes an adapter that [`open`] returned (dat_ib_close_query).
pub(super) fn close<F: Provider<Version = Udat20>>(ia: DAT_HANDLE) -> DAT_RETURN {
    dat_ia_close::<F>(ia, DAT_CLOSE_ABRUPT_FLAG)
}
