//! Sets how libdat.so.1 is linked: its name, its version node, and the libraries it needs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let argument = |text: String| println!("cargo::rustc-cdylib-link-arg={text}");

    argument("-Wl,-soname,libdat.so.1".to_owned());

    // This defines only the node. The symbols that have it are named beside each function (src/symver.rs); rustc's own
    // script makes everything else local.
    let map = out.join("libdat.map");
    write(&map, "DAT_1.2 { };\n");
    argument(format!("-Wl,--version-script={}", map.display()));

    // Providers hold addresses in this library and are never unloaded, so neither is this library.
    argument("-Wl,-z,nodelete".to_owned());

    // Rust's thread-local data refer to __tls_get_addr, and for this the system's linker script of libc adds the
    // dynamic linker itself to the needed libraries. The dynamic linker is in every process that has libc, so the name
    // resolves anyway: this script is the system's without the dynamic linker.
    let gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if gnu {
        let folder = out.join("libc");
        fs::create_dir_all(&folder).expect("a folder in OUT_DIR");
        write(&folder.join("libc.so"), "INPUT(-l:libc.so.6 -l:libc_nonshared.a)\n");
        argument(format!("-L{}", folder.display()));
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("a file in OUT_DIR");
}
