//! Reads the headers of rdma-core, with which `src/sys/layout.rs` compares the structures that the crate rdma-sys
//! declares in Rust.

use std::env;
use std::path::PathBuf;

const HEADERS: &str = "#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\n#include <rdma/ib_user_verbs.h>\n";

/// A regular expression for the names of the types to read: the structures that `src/sys/layout.rs` compares, the
/// kernel's command that posts a send, and enumerations of libibverbs.
const STRUCTURES: &str = "ibv_(send_wr|recv_wr|wc|sge|mw|mw_bind|mw_bind_info|ah_attr|global_route|gid|async_event|context|context_ops|\
    qp|cq|srq|pd|device|port_attr)|verbs_context|rdma_(cm_event|cm_id|conn_param|ud_param|addr|ib_addr|route)|ib_uverbs_post_send|\
    ib_uverbs_cmd_hdr|ib_uverbs_write_cmds|ibv_event_type|ibv_wr_opcode|ibv_wc_opcode|ibv_wc_status|ibv_send_flags";

fn main() {
    let paths = ["libibverbs", "librdmacm"].map(|name| {
        // Only the include paths are needed: rdma-sys links the library.
        let library = pkg_config::Config::new().cargo_metadata(false).probe(name);
        library.unwrap_or_else(|error| panic!("{error}")).include_paths
    });
    let includes = paths.into_iter().flatten().map(|path| format!("-I{}", path.display()));
    let bindings = bindgen::Builder::default()
        .header_contents("rdma-core.h", HEADERS)
        .clang_args(includes)
        .allowlist_type(STRUCTURES)
        .layout_tests(false)
        .generate_comments(false)
        .size_t_is_usize(true)
        .generate()
        .expect("the headers of rdma-core cannot be read");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    bindings.write_to_file(folder.join("headers.rs")).expect("the file cannot be written");
}
