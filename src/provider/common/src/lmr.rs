//! Local memory regions.

use std::sync::atomic::{Ordering, fence};

use dat_core::error::{Arg, Role};
use dat_core::{Base, Ia, Lmr, Memory, Pz};
use dat_udat::*;
use host::memory;

use crate::attr::rights;
use crate::call::slow;
use crate::handle::{find, find_in, handle_of, raw};
use crate::post::LmrTriplet;
use crate::ptr::OutPtr;
use crate::{Answer, At, Fault, Provider, Version};

type LmrParam<F> = <<F as Provider>::Version as Version>::LmrParam;

/// Converts a memory description, the third argument, of `kind`, the second. Rejects `DAT_MEM_TYPE_LMR`, which the
/// caller handles.
///
/// # Safety
/// As [`create_lmr`].
unsafe fn memory(kind: DAT_MEM_TYPE, region: DAT_REGION_DESCRIPTION) -> Answer<Memory> {
    match kind {
        DAT_MEM_TYPE_VIRTUAL => {
            // SAFETY: the caller promises that this member is initialised.
            let start = unsafe { region.for_va };
            Ok(Memory::Virtual(start.addr() as u64))
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
            Ok(Memory::Shared(shared.virtual_address.addr() as u64, memory::copied(&name)?))
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

/// Builds the `DAT_LMR_PARAM` of the version in scope. The list sets fields that only this version has.
#[macro_export]
macro_rules! lmr_param {
    ($lmr:expr, { $($field:ident: $value:expr),* $(,)? }) => {{
        use $crate::handle::handle_or_null;
        use $crate::ia::ia_handle;

        let lmr = $lmr;
        let (mem_type, region_desc) = $crate::lmr::c_memory(&lmr.memory);
        DAT_LMR_PARAM {
            ia_handle: ia_handle::<F>(lmr.ia()),
            mem_type,
            region_desc,
            length: lmr.len,
            pz_handle: handle_or_null(lmr.pz().as_ref()),
            mem_priv: lmr.rights.bits().into(),
            lmr_context: lmr.context,
            rmr_context: lmr.remote_key,
            registered_size: lmr.len,
            registered_address: lmr.addr(),
            $($field: $value,)*
        }
    }};
}

/// The first arguments of dat_lmr_create.
#[expect(missing_docs, reason = "the call describes them")]
pub struct Inputs {
    pub ia_handle: DAT_IA_HANDLE,
    pub mem_type: DAT_MEM_TYPE,
    pub region_description: DAT_REGION_DESCRIPTION,
    pub length: DAT_VLEN,
    pub pz_handle: DAT_PZ_HANDLE,
    pub privileges: DAT_MEM_PRIV_FLAGS,
}

/// Outputs of dat_lmr_create. Only `lmr_handle` is required.
#[expect(missing_docs, reason = "the call describes them")]
pub struct Results {
    pub lmr_handle: OutPtr<DAT_LMR_HANDLE>,
    pub lmr_context: OutPtr<DAT_LMR_CONTEXT>,
    pub rmr_context: OutPtr<DAT_RMR_CONTEXT>,
    pub registered_length: OutPtr<DAT_VLEN>,
    pub registered_address: OutPtr<DAT_VADDR>,
}

/// Implements dat_lmr_create. Peers address the region by `base`; the LMR handle is the argument at `position`.
///
/// # Safety
/// The description's member of this kind is initialised. A shared memory name is NULL or has 40 readable bytes.
pub unsafe fn create_lmr<F: Provider>(from: Inputs, base: Answer<Base>, to: Results, position: u32) -> Answer<()> {
    let ia = find::<F, Ia<F::Transport>>(from.ia_handle, Role::Ia)?;
    let pz = find_in::<F, _>(&ia, from.pz_handle, Role::Pz, Pz::ia)?;
    let (memory, source) = if from.mem_type == DAT_MEM_TYPE_LMR {
        // SAFETY: the caller promises that this member is initialised.
        let source = unsafe { from.region_description.for_lmr_handle };
        let source = find_in::<F, _>(&ia, source, Role::Lmr, Lmr::ia)?;
        (Memory::Region(dat_core::Object::header(&*source).handle()), Some(source))
    } else {
        // SAFETY: the caller promises an initialised member, and NULL or 40 bytes as a name.
        (unsafe { self::memory(from.mem_type, from.region_description) }?, None)
    };
    let rights = rights::<F::Version>(from.privileges).ok_or(Fault::Argument(6))?;
    let base = base?;
    let handle = to.lmr_handle.required(position)?;
    let lmr = Lmr::create(&ia, memory, source.as_deref(), from.length, &pz, rights, base)
        .at(&[(Arg::Region, 3), (Arg::Length, 4)])?;
    handle.write(handle_of(&*lmr));
    to.lmr_context.offer(lmr.context);
    to.rmr_context.offer(lmr.remote_key);
    to.registered_length.offer(lmr.len);
    to.registered_address.offer(lmr.addr());
    Ok(())
}

crate::query_slot!(
    dat_lmr_query: Lmr as Lmr, DAT_LMR_PARAM_MASK, F::Version::LMR_FIELDS, LmrParam<F>, F::Version::lmr_param::<F>
);

crate::simple_slot!(dat_lmr_free: Lmr as Lmr, free);

/// Checks the segments, and executes a fence, which suffices because memory is coherent.
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

/// # Safety
/// `local_segments` is NULL or has `num_segments` elements.
pub unsafe fn dat_lmr_sync_rdma_read<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    local_segments: *const LmrTriplet<F>,
    num_segments: DAT_VLEN,
) -> DAT_RETURN {
    // SAFETY: the caller promises NULL or `num_segments` elements.
    slow::<F>(|| unsafe { sync::<F>(ia_handle, local_segments, num_segments) })
}

/// # Safety
/// `local_segments` is NULL or has `num_segments` elements.
pub unsafe fn dat_lmr_sync_rdma_write<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    local_segments: *const LmrTriplet<F>,
    num_segments: DAT_VLEN,
) -> DAT_RETURN {
    // SAFETY: the caller promises NULL or `num_segments` elements.
    slow::<F>(|| unsafe { sync::<F>(ia_handle, local_segments, num_segments) })
}
