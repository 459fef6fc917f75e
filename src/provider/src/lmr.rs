//! Local memory regions.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use dat_core::error::Role;
use dat_core::{Ia, Lmr, Memory, Object};
use dat_udat::*;
use host::memory;

use crate::call::slow;
use crate::handle::{find, find_in, raw};
use crate::post::LmrTriplet;
use crate::{Answer, Fault, Provider, Version};

type Source<F> = Option<Arc<Lmr<<F as Provider>::Transport>>>;

/// Converts `region`, the third argument of dat_lmr_create. `kind`, the second argument, selects the member of
/// `region`. Also returns the LMR that `region` names, if any. This LMR must belong to `ia`.
///
/// # Safety
/// The member of this kind is initialised. A shared memory name is NULL or has 40 readable bytes.
pub unsafe fn memory<F: Provider>(
    ia: &Arc<Ia<F::Transport>>,
    kind: DAT_MEM_TYPE,
    region: DAT_REGION_DESCRIPTION,
) -> Answer<(Memory, Source<F>)> {
    match kind {
        DAT_MEM_TYPE_VIRTUAL => {
            // SAFETY: the caller promises that this member is initialised.
            let start = unsafe { region.for_va };
            Ok((Memory::Virtual(start.addr() as u64), None))
        }
        DAT_MEM_TYPE_LMR => {
            // SAFETY: the caller promises that this member is initialised.
            let source = unsafe { region.for_lmr_handle };
            let source = find_in::<F, _>(ia, source, Role::Lmr, Lmr::ia)?;
            Ok((Memory::Region(source.header().handle()), Some(source)))
        }
        DAT_MEM_TYPE_SHARED_VIRTUAL => {
            // SAFETY: the caller promises that this member is initialised.
            let shared = unsafe { region.for_shared_memory };
            if shared.shared_memory_id.is_null() {
                return Err(Fault::Argument(3));
            }
            // SAFETY: not NULL, so the caller promises 40 readable bytes.
            let name = unsafe { shared.shared_memory_id.read_unaligned() };
            let name = name.map(|byte| byte.to_ne_bytes()[0]);
            Ok((Memory::Shared(shared.virtual_address.addr() as u64, memory::copied(&name)?), None))
        }
        _ => Err(Fault::Argument(2)),
    }
}

/// Converts the memory of a region into its kind and description.
pub fn c_memory(memory: &Memory) -> (DAT_MEM_TYPE, DAT_REGION_DESCRIPTION) {
    match memory {
        Memory::Virtual(start) => (
            DAT_MEM_TYPE_VIRTUAL,
            DAT_REGION_DESCRIPTION { for_va: std::ptr::with_exposed_provenance_mut(*start as usize) },
        ),
        Memory::Region(source) => (DAT_MEM_TYPE_LMR, DAT_REGION_DESCRIPTION { for_lmr_handle: raw(*source) }),
        Memory::Shared(start, name) => (
            DAT_MEM_TYPE_SHARED_VIRTUAL,
            DAT_REGION_DESCRIPTION {
                for_shared_memory: DAT_SHARED_MEMORY {
                    virtual_address: std::ptr::with_exposed_provenance_mut(*start as usize),
                    shared_memory_id: name.as_ptr().cast_mut().cast(),
                },
            },
        ),
    }
}

/// Defines the slots of dat_lmr_create and dat_lmr_query of the version in scope. In `create`, the braces contain the
/// argument that only this version has, which follows the privileges. The expression `$base`, which can use this
/// argument, is the [`Base`](dat_core::Base) of the addresses that peers use. The LMR handle is the argument at
/// `$position`. In `query`, the list sets fields that only this version has.
#[macro_export]
macro_rules! lmr_slots {
    (
        create { $($va_type:ident: $type:ty)? }, $base:expr, $position:literal;
        query |$lmr:ident| { $($field:ident: $value:expr)? };
    ) => {
        use $crate::ptr::OutPtr;

        $crate::query_slot!(dat_lmr_query: Lmr as Lmr, DAT_LMR_PARAM_MASK, DAT_LMR_FIELD_ALL, DAT_LMR_PARAM, |$lmr| {
            let (mem_type, region_desc) = $crate::lmr::c_memory(&$lmr.memory);
            DAT_LMR_PARAM {
                ia_handle: $crate::ia::ia_handle::<F>($lmr.ia()),
                mem_type,
                region_desc,
                length: $lmr.len,
                pz_handle: $crate::handle::handle_or_null($lmr.pz().as_ref()),
                mem_priv: $lmr.rights.bits().into(),
                lmr_context: $lmr.context,
                rmr_context: $lmr.remote_key,
                registered_size: $lmr.len,
                registered_address: $lmr.addr(),
                $($field: $value,)?
            }
        });

        /// Slot of dat_lmr_create. The pointers to the results may be NULL, except `lmr_handle`.
        ///
        /// # Safety
        /// The description's member of this type is initialised. A shared memory name is NULL or has 40 readable bytes.
        pub unsafe fn dat_lmr_create<F: $crate::Provider>(
            ia_handle: DAT_IA_HANDLE,
            mem_type: DAT_MEM_TYPE,
            region_description: DAT_REGION_DESCRIPTION,
            length: DAT_VLEN,
            pz_handle: DAT_PZ_HANDLE,
            privileges: DAT_MEM_PRIV_FLAGS,
            $($va_type: $type,)?
            lmr_handle: OutPtr<DAT_LMR_HANDLE>,
            lmr_context: OutPtr<DAT_LMR_CONTEXT>,
            rmr_context: OutPtr<DAT_RMR_CONTEXT>,
            registered_length: OutPtr<DAT_VLEN>,
            registered_address: OutPtr<DAT_VADDR>,
        ) -> DAT_RETURN {
            use dat_core::error::{Arg, Role};
            use dat_core::{Ia, Lmr, Pz};
            use $crate::handle::{find, find_in, give};
            use $crate::{At, Fault};

            $crate::call::making::<F>(|| {
                let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
                let pz = find_in::<F, _>(&ia, pz_handle, Role::Pz, Pz::ia)?;
                // SAFETY: the caller promises an initialised member, and NULL or 40 bytes as a name.
                let (memory, source) = unsafe { $crate::lmr::memory::<F>(&ia, mem_type, region_description) }?;
                let rights = $crate::attr::rights::<F::Version>(privileges).ok_or(Fault::Argument(6))?;
                let base = $base;
                let handle = lmr_handle.required($position)?;
                let lmr = Lmr::create(&ia, memory, source.as_deref(), length, &pz, rights, base)
                    .at(&[(Arg::Region, 3), (Arg::Length, 4)])?;
                lmr_context.offer(lmr.context);
                rmr_context.offer(lmr.remote_key);
                registered_length.offer(lmr.len);
                registered_address.offer(lmr.addr());
                give(handle, &lmr)
            })
        }
    };
}

crate::simple_slot!(dat_lmr_free: Lmr as Lmr, free);

/// Checks the segments, and executes a fence. This suffices, because memory is coherent with the devices.
///
/// # Safety
/// `list` is NULL, or `count` triplets are readable.
unsafe fn sync<F: Provider>(ia_handle: DAT_IA_HANDLE, list: *const LmrTriplet<F>, count: DAT_VLEN) -> Answer<()> {
    let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
    let covered = |index: usize| {
        // SAFETY: `index` is below `count`; the caller promises that many elements unless the list is NULL. An array in
        // memory does not wrap.
        let segment = F::Version::local_segment(&unsafe { list.wrapping_add(index).read_unaligned() });
        segment.len == 0 || ia.lmrs.covers(&segment)
    };
    if list.is_null() && count > 0 || !(0..usize::try_from(count).unwrap_or(usize::MAX)).all(covered) {
        return Err(Fault::Argument(2));
    }
    fence(Ordering::SeqCst);
    Ok(())
}

macro_rules! sync_slot {
    ($name:ident) => {
        /// # Safety
        /// `local_segments` is NULL or has `num_segments` elements.
        pub unsafe fn $name<F: Provider>(
            ia_handle: DAT_IA_HANDLE,
            local_segments: *const LmrTriplet<F>,
            num_segments: DAT_VLEN,
        ) -> DAT_RETURN {
            // SAFETY: the caller promises NULL or `num_segments` elements.
            slow::<F>(|| unsafe { sync::<F>(ia_handle, local_segments, num_segments) })
        }
    };
}

sync_slot!(dat_lmr_sync_rdma_read);
sync_slot!(dat_lmr_sync_rdma_write);
