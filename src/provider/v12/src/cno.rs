//! Consumer notification objects.

use dat_provider_common::cno::c_agent;
use dat_provider_common::ia::ia_handle;
use dat_udat12::*;

dat_provider_common::query_slot!(dat_cno_query: Cno as Cno, DAT_CNO_PARAM_MASK, DAT_CNO_FIELD_ALL, DAT_CNO_PARAM, |cno| {
    DAT_CNO_PARAM { ia_handle: ia_handle::<F>(cno.ia()), agent: c_agent(cno.agent()) }
});
