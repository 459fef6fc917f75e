//! Consumer notification objects.

use dat_udat12::*;

use crate::cno::c_agent;
use crate::ia::ia_handle;

crate::query_slot!(dat_cno_query: Cno as Cno, DAT_CNO_PARAM_MASK, DAT_CNO_FIELD_ALL, DAT_CNO_PARAM, |cno| {
    DAT_CNO_PARAM { ia_handle: ia_handle::<F>(cno.ia()), agent: c_agent(cno.agent()) }
});
