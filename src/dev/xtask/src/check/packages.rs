// SPDX-License-Identifier: MIT OR Apache-2.0

//! The Debian packages that steps need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::context::{Context, variable};
use super::table::Step;

type Tool = (&'static str, &'static str);

/// Commands that several steps with programs of the C suite need, with their packages.
const COMPILERS: &[Tool] =
    &[("gcc", "gcc"), ("g++", "g++"), ("clang", "clang"), ("readelf", "binutils"), ("pkg-config", "pkg-config")];

/// Returns the commands that a step needs beyond cargo, cc and make, each with the package that contains it.
fn tools(step: &str) -> &'static [Tool] {
    match step {
        "c" | "c20" | "long" | "c-debug" | "c20-debug" | "alone" => COMPILERS,
        "tcp" | "tcp20" | "tcp-short" | "tcp-alone" => &[("ip", "iproute2")],
        "valgrind" | "valgrind20" => &[("valgrind", "valgrind")],
        "instructions" | "instructions20" => &[("valgrind", "valgrind"), ("objdump", "binutils")],
        "man" => &[("mandoc", "mandoc"), ("groff", "groff"), ("gcc", "gcc")],
        "docs" => &[
            ("python3", "python3"),
            ("pkg-config", "pkg-config"),
            ("cmake", "cmake"),
            ("ip", "iproute2"),
            ("pandoc", "pandoc"),
            ("mandoc", "mandoc"),
        ],
        "demo" => &[("gcc", "gcc"), ("clang", "clang")],
        "install" => &[
            ("pkg-config", "pkg-config"),
            ("readelf", "binutils"),
            ("mandoc", "mandoc"),
            ("cmake", "cmake"),
            ("g++", "g++"),
        ],
        "tools" => &[("python3", "python3"), ("zsh", "zsh"), ("fish", "fish")],
        "probes" => &[("readelf", "binutils"), ("bpftrace", "bpftrace")],
        "crates" | "glibc" => &[("python3", "python3"), ("readelf", "binutils")],
        "packages" => &[
            ("dpkg-buildpackage", "dpkg-dev"),
            ("dh", "debhelper"),
            ("lintian", "lintian"),
            ("rpmbuild", "rpm"),
            ("rpmlint", "rpmlint"),
            ("eu-strip", "elfutils"),
            ("mmdebstrap", "mmdebstrap"),
            ("python3", "python3"),
        ],
        "systems" => &[("mmdebstrap", "mmdebstrap")],
        "verbs" | "iwarp" | "late" | "verbs-612" | "verbs-new" => &[
            ("qemu-system-x86_64", "qemu-system-x86"),
            ("modprobe", "kmod"),
            ("cpio", "cpio"),
            ("rdma", "iproute2"),
            ("xz", "xz-utils"),
        ],
        _ => &[],
    }
}

fn uses_verbs(step: &str) -> bool {
    !matches!(step, "fmt" | "layers" | "limits" | "crates" | "loom" | "musl" | "systems")
}

pub fn has(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/sbin"), PathBuf::from("/usr/sbin")])
        .any(|dir| dir.join(command).is_file())
}

fn succeeds(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the packages that are missing to build the transport for RDMA devices.
pub fn verbs() -> Vec<String> {
    let needs = succeeds(&mut Command::new(crate::root().join("src/transport/verbs/needs.sh")));
    needs.unwrap_or_default().lines().map(String::from).collect()
}

pub fn missing(step: &str) -> Vec<String> {
    let is_on_a_device = matches!(step, "verbs" | "late") && !variable("RDMA", "").is_empty();
    let tools = tools(step)
        .iter()
        .filter(|(command, _)| !is_on_a_device && !has(command))
        .map(|(_, package)| package.to_string());
    let mut packages: BTreeSet<String> = tools.collect();
    if uses_verbs(step) {
        packages.extend(verbs());
    }
    if step == "docs" {
        for module in ["cffi", "yaml"] {
            if succeeds(Command::new("python3").args(["-c", &format!("import {module}")])).is_none() {
                packages.insert(format!("python3-{module}"));
            }
        }
    }
    if matches!(step, "verbs" | "iwarp" | "late" | "verbs-612" | "verbs-new") {
        if !Path::new("/etc/libibverbs.d").is_dir() {
            packages.insert("ibverbs-providers".into());
        }
        // Without a static busybox, the virtual machine would lack busybox's libraries.
        let is_static = succeeds(Command::new("sh").args(["-c", "b=$(command -v busybox) && ! ldd \"$b\""])).is_some();
        if !is_on_a_device && !is_static {
            packages.insert("busybox-static".into());
        }
    }
    packages.into_iter().collect()
}

/// Installs the packages that the steps lack, if allowed. Returns a line for each that is still missing.
pub fn provide(context: &Context, steps: &[Step]) -> Result<Vec<String>> {
    let lacking = || -> BTreeSet<String> { steps.iter().flat_map(|step| missing(&step.name)).collect() };
    let wanted = lacking();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let why = if !context.may_install {
        "nothing is installed (make check and make check-all install as root, unless CHECK_INSTALL=0)"
    } else if !rustix::process::geteuid().is_root() {
        "not root"
    } else if !has("apt-get") {
        "no apt-get"
    } else {
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        println!("xtask: installing Debian packages (CHECK_INSTALL=0 leaves them out): {}", wanted.join(" "));
        let log = context.logs.join("apt.log");
        let install = format!(
            "{{ timeout 300 apt-get update -q && timeout 600 apt-get install -q -y --no-install-recommends {}; }} >{} 2>&1",
            wanted.join(" "),
            log.display()
        );
        context.command("sh").env("DEBIAN_FRONTEND", "noninteractive").args(["-c", &install]).status()?;
        "apt-get could not install it"
    };
    Ok(lacking()
        .iter()
        .map(|package| format!("package {package} is missing, and what needs it is skipped: {why}"))
        .collect())
}
