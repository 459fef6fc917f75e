//! The link options of the shared libraries, for build scripts.
//!
//! The libraries need no symbol newer than GLIBC_2.28 (RHEL 8, Debian 10), wherever they are built; see [`libc`]. The
//! Rust standard library refers weakly to later functions such as `gettid`. tests-c/glibc.sh checks this, and runs
//! programs of Debian 11 (glibc 2.31).
//!
//! All crates except verbs compile for musl, which `make check` verifies; no test links them. Shared libraries for musl
//! need `-C target-feature=-crt-static`, a musl linker such as musl-gcc with lld, and a libgcc_s for musl, which Debian
//! lacks. Linked manually, the uDAPL 1.2 demo ran over shm.
//!
//! The musl loader ignores symbol versions, so a process cannot contain programs of both uDAPL versions. It does not
//! report a library's directory, so a relative LD_LIBRARY_PATH fails after a change of the directory.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod libc;

/// Links a library against which programs are linked.
///
/// # Parameters
/// * `soname` - the name that programs load.
/// * `nodes` - the version nodes, as a version script. rustc's own script hides all other symbols.
pub fn library(soname: &str, nodes: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    let out = out();

    argument(format!("-Wl,-soname,{soname}"));

    let map = out.join("nodes.map");
    write(&map, nodes);
    argument(format!("-Wl,--version-script={}", map.display()));

    // rustc passes a version script with the exports. GNU ld accepts no second script, but lld does.
    argument(format!("-B{}", compilers_linker().display()));
    argument("-fuse-ld=lld".to_owned());

    // Provider libraries, which are never unloaded, store addresses in this library.
    argument("-Wl,-z,nodelete".to_owned());
    old_libc(&out);
}

/// Links a provider library.
///
/// # Parameters
/// * `soname` - the file name, by which the loader identifies the library.
pub fn provider(soname: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    argument(format!("-Wl,-soname,{soname}"));
    old_libc(&out());
}

/// Returns the directory in which rustc may have lld under the name that C compilers search.
fn compilers_linker() -> PathBuf {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let host = env::var_os("HOST").expect("cargo sets HOST");
    let printed = Command::new(rustc).args(["--print", "target-libdir", "--target"]).arg(host).output();
    let printed = printed.expect("the compiler runs").stdout;
    let libraries = PathBuf::from(String::from_utf8(printed).expect("a path").trim_end());
    libraries.with_file_name("bin").join("gcc-ld")
}

fn old_libc(out: &Path) {
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        libc::make(&out.join("libc"));
    }
}

fn out() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

fn argument(text: String) {
    println!("cargo::rustc-cdylib-link-arg={text}");
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).expect("a file in OUT_DIR");
}
