//! CNOs: queries, a file descriptor, and dequeuing a trigger without waiting.

use dat_core::error::{Error, Role};
use dat_core::wait::cno_take;
use dat_core::{Cno, Ia};
use dat_udat20::*;

use crate::call::{making, slow};
use crate::cno::c_agent;
use crate::handle::{find, give, raw};
use crate::ia::ia_handle;
use crate::ptr::OutPtr;
use crate::v20::Udat20;
use crate::{At, Fault, Provider};

/// Valid bits of a mask of dat_cno_query. The header numbers the fields consecutively, so a bit identifies no field.
const CNO_BITS: DAT_CNO_PARAM_MASK = 0x7;

crate::query_slot!(dat_cno_query: Cno as Cno, DAT_CNO_PARAM_MASK, CNO_BITS, DAT_CNO_PARAM, |cno| {
    let (proxy_type, proxy) = match cno.descriptor() {
        Some(fd) => (DAT_PROXY_TYPE_FD, DAT_CNO_PROXY { fd }),
        None => (DAT_PROXY_TYPE_AGENT, DAT_CNO_PROXY { agent: c_agent(cno.agent()) }),
    };
    DAT_CNO_PARAM { ia_handle: ia_handle::<F>(cno.ia()), proxy_type, proxy }
});

/// Slot of dat_cno_fd_create.
pub fn dat_cno_fd_create<F: Provider<Version = Udat20>>(
    ia_handle: DAT_IA_HANDLE,
    file_descriptor: OutPtr<DAT_FD>,
    cno_handle: OutPtr<DAT_CNO_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let descriptor = file_descriptor.required(2)?;
        let out = cno_handle.required(3)?;
        let cno = Cno::create_polled(&ia).at(&[])?;
        // The descriptor is missing only if another thread has closed the adapter, and so freed the CNO.
        descriptor.write(cno.descriptor().ok_or(Fault::Core(Error::Aborted))?);
        give(out, &cno)
    })
}

/// Slot of dat_cno_trigger.
pub fn dat_cno_trigger<F: Provider<Version = Udat20>>(
    cno_handle: DAT_CNO_HANDLE,
    evd_handle: OutPtr<DAT_EVD_HANDLE>,
) -> DAT_RETURN {
    slow::<F>(|| {
        let cno = find::<F, Cno<F::Transport>>(cno_handle, Role::Cno)?;
        let out = evd_handle.required(2)?;
        match cno_take(&cno) {
            Ok(evd) => out.write(raw(evd)),
            Err(Error::QueueEmpty) => {
                out.write(DAT_HANDLE_NULL);
                return Err(Fault::NotTriggered);
            }
            Err(error) => return Err(error).at(&[]),
        }
        Ok(())
    })
}
