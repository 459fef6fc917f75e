//! How the shared libraries are linked, for their build scripts.
//!
//! The libraries need nothing newer than GLIBC_2.28, the version of RHEL 8 and Debian 10, wherever they were built; [`libc`]
//! says how. A function that came later, such as `gettid`, has no version in the library; the Rust library refers to it
//! weakly, so the loader leaves it out where it is missing. tests-c/glibc.sh checks all of this, and runs programs of Debian
//! 11 (2.31) with the libraries. No system with 2.28 itself was at hand.
//!
//! Everything but verbs compiles for musl, which `make check` tests. Shared libraries need `-C target-feature=-crt-static`, a
//! linker for musl (Debian's musl-gcc with lld, since GNU ld does not accept the two version scripts) and a libgcc_s built
//! for musl, which Debian does not have, so no test links them. Linked by hand, the demo of uDAPL 1.2 ran over shm. The
//! loader of musl ignores versions of symbols, so a process cannot have programs of both versions of uDAPL there. Nor does it
//! say where a library lies, so a relative path in LD_LIBRARY_PATH is lost when the program changes its directory.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod libc;

/// Links a library under which programs are linked.
///
/// # Parameters
/// * `soname` - the name by which programs ask for it.
/// * `nodes` - the nodes of symbol versions, in the linker's words. The symbols of a node are named beside each function;
///   rustc's own script makes everything else local.
pub fn library(soname: &str, nodes: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    let out = out();

    argument(format!("-Wl,-soname,{soname}"));

    let map = out.join("nodes.map");
    write(&map, nodes);
    argument(format!("-Wl,--version-script={}", map.display()));

    // rustc has a version script of its own for what a library exports, and GNU ld takes no second one beside it. lld does:
    // the one that comes with the compiler, or else that of the system. For some targets rustc chooses it anyway.
    argument(format!("-B{}", compilers_linker().display()));
    argument("-fuse-ld=lld".to_owned());

    // Providers hold addresses in this library and are never unloaded, so neither is this library.
    argument("-Wl,-z,nodelete".to_owned());
    old_libc(&out);
}

/// Links a provider library.
///
/// # Parameters
/// * `soname` - its file name, by which it is known once it is loaded.
pub fn provider(soname: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    argument(format!("-Wl,-soname,{soname}"));
    old_libc(&out());
}

/// The folder where rustc has lld under the name by which C compilers look for it, if it has one.
fn compilers_linker() -> PathBuf {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let host = env::var_os("HOST").expect("cargo sets HOST");
    let printed = Command::new(rustc).args(["--print", "target-libdir", "--target"]).arg(host).output();
    let printed = printed.expect("the compiler runs").stdout;
    let libraries = PathBuf::from(String::from_utf8(printed).expect("a path").trim_end());
    libraries.with_file_name("bin").join("gcc-ld")
}

/// Links with a libc from which the library takes only what old systems have.
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
