// SPDX-License-Identifier: MIT OR Apache-2.0

//! The environment of a program of the suite.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use host::sysfs;
use tempfile::TempDir;

use super::Args;
use crate::command::remove_on_signals;

/// Variables that choose log messages. They are removed, because only the tests themselves may set them.
pub const DIAGNOSTICS: [&str; 6] =
    ["DAT_DBG_TYPE", "DAPL_DBG_TYPE", "DAT_DBG_DEST", "DAPL_DBG_DEST", "DAT_LOG", "RUST_LOG"];
/// Factor for deadlines under valgrind.
const VALGRIND_SCALE: f64 = 10.0;

pub struct Environment {
    ia: String,
    api: String,
    libdir: PathBuf,
    others: Option<PathBuf>,
    out: PathBuf,
    pattern: String,
    memcheck: bool,
    scale: f64,
    search_path: OsString,
    /// A temporary directory for shm's rendezvous directories, because their paths must be short.
    rendezvous: TempDir,
}

impl Environment {
    /// Prepares the environment of programs with outputs in `out`.
    pub fn new(args: &Args, out: &Path) -> Result<Environment> {
        let libdir = args.libdir.canonicalize().with_context(|| args.libdir.display().to_string())?;
        let others = args.others.as_ref().map(|dir| dir.canonicalize()).transpose()?;
        let mut search_path = libdir.clone().into_os_string();
        // In `others`, the other version's libraries are in a directory with the same name as `libdir`.
        if let (Some(others), Some(name)) = (&others, libdir.file_name()) {
            search_path.push(":");
            search_path.push(others.join(name));
        }
        if let Some(inherited) = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty()) {
            search_path.push(":");
            search_path.push(inherited);
        }
        let scale = std::env::var("DAT_TEST_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
        let rendezvous = tempfile::Builder::new().prefix("dat-suite-").tempdir()?;
        remove_on_signals(rendezvous.path());
        // Any user may create directories there, because some tests change their user.
        fs::set_permissions(rendezvous.path(), PermissionsExt::from_mode(0o1777))?;
        fs::create_dir_all(out.join("conf"))?;
        Ok(Environment {
            ia: args.ia.clone(),
            api: args.api.clone(),
            libdir,
            others,
            out: out.to_path_buf(),
            pattern: args.pattern.clone(),
            memcheck: args.memcheck,
            scale: if args.memcheck && scale == 1.0 { VALGRIND_SCALE } else { scale },
            search_path,
            rendezvous,
        })
    }

    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Sets the environment of a program with outputs called `file`, in thread `slot` of the pool.
    pub fn apply(&self, command: &mut Command, slot: usize, file: &str) -> Result<()> {
        for name in DIAGNOSTICS {
            command.env_remove(name);
        }
        // Adapters of tcp are built in, so they need no file.
        let conf = if self.ia == "tcp" || self.ia.starts_with("tcp-") {
            PathBuf::from("builtin")
        } else {
            let conf = self.out.join("conf").join(file);
            fs::write(&conf, self.conf(&self.rendezvous.path().join(file)))
                .with_context(|| conf.display().to_string())?;
            conf
        };
        command
            .env("DAT_OVERRIDE", conf)
            .env("LD_LIBRARY_PATH", &self.search_path)
            .env("DAT_TEST_LIBDIR", &self.libdir)
            .env("DAT_TEST_SCALE", self.scale.to_string())
            .env("DAT_TEST_SLOT", slot.to_string())
            .env("DAT_IA", &self.ia)
            .env("DAT_TEST_API", &self.api)
            .env("DAT_TEST_RESULTS", &self.out)
            .env("DAT_TEST_PATTERN", &self.pattern);
        if self.memcheck {
            command.env("DAT_TEST_VALGRIND", "1");
        }
        if let Some(others) = &self.others {
            command.env("DAT_TEST_PEERS", others);
        }
        Ok(())
    }

    /// Returns a dat.conf for a program whose processes meet in the directory `rendezvous`.
    fn conf(&self, rendezvous: &Path) -> String {
        let mut conf = String::from("# name api threads default library provider instance platform\n");
        self.entries(&mut conf, &self.api, &self.libdir, rendezvous);
        if let (Some(others), Some(name)) = (&self.others, self.libdir.file_name()) {
            let other = if self.api == "1.2" { "2.0" } else { "1.2" };
            self.entries(&mut conf, other, &others.join(name), rendezvous);
        }
        conf
    }

    /// Adds entries for the providers in `dir`: shm, the requested adapter, and an adapter for each RDMA device with a
    /// network interface.
    fn entries(&self, conf: &mut String, api: &str, dir: &Path, rendezvous: &Path) {
        let major = &api[..1];
        let mut entry = |name: &str, library: &str, instance: &str| {
            let dir = dir.display();
            let _ = writeln!(
                conf,
                "{name} u{api} threadsafe default {dir}/{library}.so.{major} dat.1.0 \"{instance}\" \"\""
            );
        };
        entry("shm", "libdaplshm", &rendezvous.display().to_string());
        if let Some(interface) = self.ia.strip_prefix("verbs-") {
            entry(&self.ia, "libdaplverbs", &format!("{interface} 0"));
        }
        for interface in rdma_interfaces() {
            entry(&format!("verbs-{interface}"), "libdaplverbs", &format!("{interface} 0"));
        }
    }
}

fn rdma_interfaces() -> Vec<String> {
    let root = Path::new(sysfs::ROOT);
    let first = |device: OsString| sysfs::interfaces(root, &device, None).into_iter().next()?.into_string().ok();
    // Without sysfs, there is no device to test.
    sysfs::devices(root).unwrap_or_default().into_iter().filter_map(first).collect()
}
