//! Consumer notification objects. [`crate::wait`] waits for them.

use std::mem;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use dat_core::error::Role;
use dat_core::{Agent, Cno, Handle, Ia};
use dat_udat::*;

use crate::call::{making, slow};
use crate::handle::{find, give, raw};
use crate::ptr::OutPtr;
use crate::{Answer, At, Fault, Provider};

fn agent(agent: DAT_OS_WAIT_PROXY_AGENT) -> Answer<Option<Agent>> {
    match agent.proxy_agent_func {
        Some(function) => Ok(Some(Agent {
            data: agent.instance_data.expose_provenance(),
            function: (function as *const ()).expose_provenance(),
            call,
        })),
        None if agent.instance_data.is_null() => Ok(None),
        None => Err(Fault::Argument(2)),
    }
}

/// Calls an agent. Has no destructors, because an agent that exits its thread unwinds this frame.
fn call(data: usize, function: usize, evd: Handle) {
    // SAFETY: `agent` got the address from this type of function, which here can unwind.
    let function: unsafe extern "C-unwind" fn(DAT_PVOID, DAT_EVD_HANDLE) =
        unsafe { mem::transmute(with_exposed_provenance::<()>(function)) };
    // SAFETY: an agent accepts its own data, and a handle or NULL.
    unsafe { function(with_exposed_provenance_mut(data), raw(evd)) };
}

/// Converts an agent into its C structure.
pub fn c_agent(agent: Option<Agent>) -> DAT_OS_WAIT_PROXY_AGENT {
    match agent {
        Some(agent) => DAT_OS_WAIT_PROXY_AGENT {
            instance_data: with_exposed_provenance_mut(agent.data),
            // SAFETY: `agent` got the address from a function of this type, whose option has the layout of a pointer.
            proxy_agent_func: unsafe {
                mem::transmute::<*const (), DAT_AGENT_FUNC>(with_exposed_provenance(agent.function))
            },
        },
        None => DAT_OS_WAIT_PROXY_AGENT_NULL,
    }
}

/// # Safety
/// The agent function has its type and stays valid while it is installed.
pub unsafe fn dat_cno_create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    agent: DAT_OS_WAIT_PROXY_AGENT,
    cno_handle: OutPtr<DAT_CNO_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let agent = self::agent(agent)?;
        let out = cno_handle.required(3)?;
        give(out, &Cno::create(&ia, agent).at(&[])?)
    })
}

/// # Safety
/// The agent function has its type and stays valid while it is installed.
pub unsafe fn dat_cno_modify_agent<F: Provider>(
    cno_handle: DAT_CNO_HANDLE,
    agent: DAT_OS_WAIT_PROXY_AGENT,
) -> DAT_RETURN {
    slow::<F>(|| {
        let cno = find::<F, Cno<F::Transport>>(cno_handle, Role::Cno)?;
        cno.modify_agent(self::agent(agent)?).at(&[])
    })
}

crate::simple_slot!(dat_cno_free: Cno as Cno, free);
