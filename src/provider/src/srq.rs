//! Shared receive queues. Posting to them is in [`crate::post`].

#![expect(missing_docs, reason = "the list of calls documents the slots")]

use dat_core::error::{Arg, Role};
use dat_core::{Ia, Pz, Srq};
use dat_udat::*;

use crate::call::{making, slow};
use crate::handle::{find, find_in, give, handle_or_null};
use crate::ia::ia_handle;
use crate::ptr::{InPtr, OutPtr};
use crate::{At, Fault, Provider, Version, count};

pub fn dat_srq_create<F: Provider>(
    ia_handle: DAT_IA_HANDLE,
    pz_handle: DAT_PZ_HANDLE,
    srq_attributes: InPtr<DAT_SRQ_ATTR>,
    srq_handle: OutPtr<DAT_SRQ_HANDLE>,
) -> DAT_RETURN {
    making::<F>(|| {
        let ia = find::<F, Ia<F::Transport>>(ia_handle, Role::Ia)?;
        let pz = find_in::<F, _>(&ia, pz_handle, Role::Pz, Pz::ia)?;
        let attr: DAT_SRQ_ATTR = srq_attributes.required(3)?;
        let out = srq_handle.required(4)?;
        if attr.low_watermark != DAT_SRQ_LW_DEFAULT {
            return Err(Fault::Argument(3));
        }
        let size = |count| usize::try_from(count).map_err(|_| Fault::Argument(3));
        let srq =
            Srq::create(&ia, &pz, size(attr.max_recv_dtos)?, size(attr.max_recv_iov)?).at(&[(Arg::Attributes, 3)])?;
        give(out, &srq)
    })
}

crate::query_slot!(fast dat_srq_query: Srq as Srq, DAT_SRQ_PARAM_MASK, DAT_SRQ_FIELD_ALL, DAT_SRQ_PARAM, |srq| {
    let status = srq.query();
    DAT_SRQ_PARAM {
        ia_handle: ia_handle::<F>(srq.ia()),
        srq_state: F::Version::SRQ_OPERATIONAL,
        pz_handle: handle_or_null(srq.pz().as_ref()),
        max_recv_dtos: count(status.max_recvs),
        max_recv_iov: count(status.max_segments),
        low_watermark: count(status.low_watermark),
        available_dto_count: count(status.available),
        outstanding_dto_count: count(status.outstanding),
    }
});

pub fn dat_srq_resize<F: Provider>(srq_handle: DAT_SRQ_HANDLE, srq_max_recv_dto: DAT_COUNT) -> DAT_RETURN {
    making::<F>(|| {
        let srq = find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?;
        let size = usize::try_from(srq_max_recv_dto).map_err(|_| Fault::Argument(2))?;
        srq.resize(size).at(&[(Arg::QueueLength, 2)])
    })
}

pub fn dat_srq_set_lw<F: Provider>(srq_handle: DAT_SRQ_HANDLE, low_watermark: DAT_COUNT) -> DAT_RETURN {
    slow::<F>(|| {
        let srq = find::<F, Srq<F::Transport>>(srq_handle, Role::Srq)?;
        let low_watermark = usize::try_from(low_watermark).map_err(|_| Fault::Argument(2))?;
        srq.set_low_watermark(low_watermark).at(&[(Arg::Watermark, 2)])
    })
}

crate::simple_slot!(dat_srq_free: Srq as Srq, free);
