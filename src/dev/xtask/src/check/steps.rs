// SPDX-License-Identifier: MIT OR Apache-2.0

//! What each step does.

use std::process::Command;

use anyhow::{Context as _, Result};

use super::builds::{self, selection};
use super::context::{Context, variable};
use super::packages;
use super::table::Step;
use crate::command::End;
use crate::libraries;
use crate::tap::{self, Counts, Results};

/// An argument of make: the long programs of the C suite run with smaller numbers. The step `long` gives them their
/// full time.
const BRIEFLY: &str = "QUICK=stress.beside stress.words stress.handles stress.everyone";
/// Subjects of the C suite that test the core, which both versions share. For uDAPL 2.0, the steps `c20` and `alone`
/// omit them.
const CORE: &str = "stress neighbours containers faults";
/// The system of a virtual machine with an RDMA device: the releases of Debian from which its kernel and its libraries
/// come. An empty release means the libraries of this machine. docs/dev/kernels.md compares the systems.
type System = [(&'static str, &'static str); 2];
const OLD: System = [("VM_KERNEL", "bookworm"), ("VM_ROOT", "")];
const STABLE: System = [("VM_KERNEL", "trixie"), ("VM_ROOT", "trixie")];
const NEW: System = [("VM_KERNEL", "trixie-backports"), ("VM_ROOT", "trixie")];
/// Tests of the step `verbs`. The step `late` runs others, with the same kernel and a less forgiving device.
const DEVICE: &[(&str, &str)] = &[
    ("TESTS", "^abi/\\|^codes/\\|^containers/\\|^dapl2/\\|^faults/\\|^neighbours/\\|^registry/\\|^verbs/\\|rust/"),
    (
        "TESTS_20",
        "^dapl2/\\|^srq/[cefpqrsw]\\|^ep_modify/\\|^flow/rdma\\|^flow/refuse\\|^rely/mpi\\|^verbs/interop\\|^verbs/setup\\|^verbs/strange",
    ),
    ("TESTS_BOTH", "both/linked\\|both/opened\\|flow/rdma\\|flow/refuse"),
];
/// Tests of the steps `verbs-612` and `verbs-new`: what depends on the kernel, with fewer repetitions.
const KERNELS: &[(&str, &str)] = &[
    ("DAT_TEST_QUICK", "1"),
    ("RDMA", "rxe"),
    ("TESTS", "^srq/[befprs]\\|^ep_modify/\\|^flow/f\\|^verbs/\\(bl\\|[fw]\\|ki\\|lim\\|st\\)\\|rust/"),
    ("TESTS_20", "^flow/fences\\|^v20/[a-ce-z]\\|^v20/datagram_[bp]"),
    ("TESTS_BOTH", "flow/rdma"),
];
/// Device and tests of the step `iwarp`: what depends on the device.
const IWARP: &[(&str, &str)] = &[
    ("RDMA", "siw"),
    (
        "TESTS",
        "^srq/\\|^ep_modify/\\|^flow/[dr]\\|^flow/f\\|^flow/or\\|^verbs/faults\\|^verbs/gone\\|^verbs/i\\|^verbs/li\\|^verbs/waiting\\|rust/",
    ),
    ("TESTS_20", "^srq/[cefpqrsw]\\|^flow/fences\\|^flow/rdma\\|^v20/\\|^verbs/interop\\|^dapl2/wire"),
    ("TESTS_BOTH", "flow/rdma"),
];
/// Tests of the step `late`: transfers, and their ends. Not `faults`, which counts threads: the late device has a
/// thread of its own.
const LATE: &[(&str, &str)] = &[
    ("LATE", "1"),
    ("TESTS", "^objects/\\|^ep_modify/\\|^flow/\\|^srq/\\|^rely/\\|^stress/\\|^verbs/late\\|rust/"),
    ("TESTS_20", "^flow/fences\\|^v20/"),
    ("TESTS_BOTH", "flow/rdma"),
];
/// Scripts that read headers only.
const HEADERS: &str = "abi/check_headers.sh abi/header_compile.sh";
/// The exit status of a script that cannot run on this machine.
const CANNOT_RUN: i32 = 77;

pub type Body = fn(&Context, &Step) -> Result<Results>;

const BODIES: &[(&str, Body)] = &[
    ("fmt", fmt),
    ("derived", derived),
    ("layers", |c, s| tap(c, s, &mut c.script("tests-c/layers.sh"))),
    ("limits", |c, s| tap(c, s, own(c).arg("limits"))),
    ("clippy", clippy),
    ("rustdoc", rustdoc),
    ("test", test),
    ("loom", loom),
    ("fuzz", fuzz),
    ("crates", |c, s| tap(c, s, &mut c.script("tests-c/crates.sh"))),
    ("musl", musl),
    ("c", |c, s| suite(c, s, &["check", "ALONE=skip", BRIEFLY])),
    ("c20", c20),
    ("long", long),
    ("both", |c, s| suite(c, s, &["check-both"])),
    ("alone", alone),
    ("tcp-alone", tcp_alone),
    ("c-ring", |c, s| suite(c, s, &["check", "ALONE=skip", "TESTS=^flow/\\|^rely/\\|^srq/", "DAT_SHM_VM=0"])),
    ("c-churned", |c, s| {
        let tests = "TESTS=^flow/\\|^rely/[a-l]\\|^srq/\\|^ep_modify/";
        suite(c, s, &["check", "ALONE=skip", "QUICK=1", tests, "DAT_TEST_CHURN=1"])
    }),
    ("c-debug", |c, s| {
        debug(
            c,
            s,
            "API=1.2",
            "TESTS=^objects/\\|^flow/\\|^srq/\\|^ep_modify/\\|^rely/\\|^faults/\\|^stress/\\|^neighbours/",
        )
    }),
    ("c20-debug", |c, s| debug(c, s, "API=2.0", "TESTS=^v20/\\|^flow/\\|^srq/\\|^objects/\\|^faults/exchange")),
    ("valgrind", |c, s| valgrind(c, s, "API=1.2", "TESTS=.")),
    ("valgrind20", |c, s| valgrind(c, s, "API=2.0", "TESTS=^v20/\\|^srq/ended\\|^flow/rdma")),
    ("tcp-short", |c, s| {
        over_tcp(
            c,
            s,
            "API=1.2",
            "TESTS=^registry/tcp\\|^registry/default\\|^objects/\\|^ep_modify/\\|^flow/connect\\|^flow/rdma",
        )
    }),
    ("tcp", |c, s| {
        over_tcp(c, s, "API=1.2", "TESTS=^tcp/\\|^flow/\\|^srq/\\|^rely/data\\|^rely/connections\\|^faults/")
    }),
    ("tcp20", |c, s| {
        over_tcp(
            c,
            s,
            "API=2.0",
            "TESTS=^registry/tcp\\|^registry/default\\|^v20/\\|^srq/\\|^flow/fences\\|^flow/rdma\\|^faults/exchange\\|^dapl2/programs",
        )
    }),
    ("instructions", |c, s| measured(c, s, &["measure", "COMPARE=1"])),
    ("instructions20", |c, s| measured(c, s, &["measure", "COMPARE=1", "API=2.0"])),
    ("probes", |c, s| measured(c, s, &["check-probes"])),
    ("bench", |c, s| measured(c, s, &["check-bench"])),
    ("man", man),
    ("docs", docs),
    ("demo", demo),
    ("tools", |c, s| {
        with_release(
            c,
            s,
            c.script("tests-c/tools/all.sh").env("BIN", c.target.join("bin")).env("LIB", c.target.join("lib")),
        )
    }),
    ("glibc", |c, s| with_release(c, s, c.script("tests-c/glibc.sh").arg(c.target.join("lib")).arg(&c.target))),
    ("install", |c, s| with_release(c, s, &mut c.script("tests-c/install.sh"))),
    ("packages", |c, s| with_release(c, s, &mut c.script("tests-c/packages/packages.sh"))),
    ("systems", |c, s| tap(c, s, &mut c.script("tests-c/packages/systems.sh"))),
    ("verbs", |c, s| verbs(c, s, OLD, DEVICE)),
    ("iwarp", |c, s| verbs(c, s, STABLE, IWARP)),
    ("late", |c, s| verbs(c, s, OLD, LATE)),
    ("verbs-612", |c, s| verbs(c, s, STABLE, KERNELS)),
    ("verbs-new", |c, s| verbs(c, s, NEW, KERNELS)),
];

pub fn run(context: &Context, step: &Step) -> Result<Results> {
    body(&step.name).context("the step has no body")?(context, step)
}

pub fn body(name: &str) -> Option<Body> {
    BODIES.iter().find(|(known, _)| *known == name).map(|(_, body)| *body)
}

// ---- Kinds of results ----

fn skip(context: &Context, step: &Step, reason: String) -> Result<Results> {
    context.note(step, &format!("{}: skipped: {reason}", step.name));
    let mut results = Results::default();
    results.skip(reason);
    Ok(results)
}

fn with_status(mut results: Results, end: End) -> Results {
    if !end.is_success() && results.counts.failed == 0 {
        results.counts.failed = 1;
    }
    results
}

/// Runs a command that is one test.
fn one(context: &Context, step: &Step, command: &mut Command) -> Result<Results> {
    let (end, _) = context.run(step, command)?;
    let passed = u64::from(end.is_success());
    Ok(Results { counts: Counts { passed, failed: 1 - passed, skipped: 0 }, reasons: Vec::new() })
}

fn tap(context: &Context, step: &Step, command: &mut Command) -> Result<Results> {
    let (end, output) = context.run(step, command)?;
    Ok(with_status(tap::script(&output), end))
}

fn cargo(context: &Context, step: &Step, command: &mut Command) -> Result<Results> {
    let (end, output) = context.run(step, command)?;
    Ok(with_status(tap::cargo(&output), end))
}

fn closing(context: &Context, step: &Step, command: &mut Command) -> Result<Results> {
    let (end, output) = context.run(step, command)?;
    Ok(closed(&output, end))
}

/// Returns the results in a command's closing line, or a failure if there is no closing line.
fn closed(output: &str, end: End) -> Results {
    with_status(tap::closing(output).unwrap_or_else(Results::failure), end)
}

fn own(context: &Context) -> Command {
    context.command(&context.xtask.display().to_string())
}

fn left_out(mut results: Results, what: &str, lacking: &[String]) -> Results {
    if !lacking.is_empty() {
        results.skip(format!("{what}: not installed: {}", lacking.join(" ")));
    }
    results
}

// ---- Rust ----

fn fmt(context: &Context, step: &Step) -> Result<Results> {
    if !has_cargo_command(context, "fmt") {
        return skip(context, step, "cargo fmt is not installed".into());
    }
    one(context, step, &mut context.cargo(["fmt", "--all", "--check"]))
}

fn has_cargo_command(context: &Context, command: &str) -> bool {
    context.cargo([command, "--version"]).output().is_ok_and(|output| output.status.success())
}

fn derived(context: &Context, step: &Step) -> Result<Results> {
    builds::debug(context, step)?;
    one(context, step, context.command(&context.target.join("debug/dat-derived").display().to_string()).arg("--check"))
}

fn clippy(context: &Context, step: &Step) -> Result<Results> {
    if !has_cargo_command(context, "clippy") {
        return skip(context, step, "cargo clippy is not installed".into());
    }
    let mut command = context.cargo(["clippy"]);
    command.args(builds::TARGETS).args(selection());
    let results = one(context, step, command.args(["--", "-D", "warnings"]))?;
    Ok(left_out(results, "src/transport/verbs", &packages::verbs()))
}

fn rustdoc(context: &Context, step: &Step) -> Result<Results> {
    let mut command = context.cargo(["doc", "--no-deps", "--document-private-items"]);
    one(context, step, command.args(selection()).env("RUSTDOCFLAGS", "-D rustdoc::broken-intra-doc-links"))
}

fn test(context: &Context, step: &Step) -> Result<Results> {
    builds::debug(context, step)?;
    let mut command = context.cargo(["test", "--no-fail-fast"]);
    command.args(selection());
    let results = cargo(context, step, &mut command)?;
    Ok(left_out(results, "src/transport/verbs", &packages::verbs()))
}

/// Runs the models in a separate build, with loom's atomics.
fn loom(context: &Context, step: &Step) -> Result<Results> {
    let models =
        ["lock::", "epoch::", "waker::", "ring::", "sleep::", "hot::", "offer::", "claim::", "tx_ring::", "guard::"];
    let mut command = context.cargo(["test", "--locked", "--profile", "fuzz", "--lib"]);
    command.args(["-p", "host", "-p", "dat-core", "-p", "dat-shm", "--target-dir"]);
    command.arg(context.target.join("loom")).arg("--").args(models);
    cargo(context, step, command.env("RUSTFLAGS", variable("RUSTFLAGS", "") + " --cfg loom"))
}

fn fuzz(context: &Context, step: &Step) -> Result<Results> {
    builds::debug(context, step)?;
    let mut command = context.command(&context.target.join("debug/dat-fuzz").display().to_string());
    let results = tap(context, step, command.args(["--seconds", "8", "--out"]).arg(context.target.join("found")))?;
    Ok(left_out(results, "rdma_cm", &packages::verbs()))
}

/// Compiles the libraries for musl without linking, because Debian has no libgcc_s for musl.
fn musl(context: &Context, step: &Step) -> Result<Results> {
    let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let libraries = || {
        let output = context.command("rustc").args(["--print", "target-libdir", "--target", &triple]).output().ok()?;
        let path = String::from_utf8_lossy(&output.stdout).trim().to_string();
        std::path::Path::new(&path).is_dir().then_some(())
    };
    if libraries().is_none() && context.may_install && packages::has("rustup") {
        context.run(step, context.command("rustup").args(["--quiet", "target", "add", &triple]))?;
    }
    if libraries().is_none() {
        return skip(context, step, format!("no Rust library for {triple}"));
    }
    let crates = libraries::default_crates()?;
    let mut command = context.cargo(["check", "--locked", "--target", &triple]);
    one(context, step, command.args(crates.iter().flat_map(|name| ["-p", name])))
}

// ---- The C suite ----

/// Runs a goal of tests-c/Makefile that ends with a closing line.
fn suite(context: &Context, step: &Step, arguments: &[&str]) -> Result<Results> {
    prepare(context, step)?;
    let ia = format!("IA={}", context.ia);
    let mut make = context.make(["-C", "tests-c", &ia]);
    // The libraries and tests read `DAT_...` from the environment; other variables are for make.
    for argument in arguments {
        match argument.split_once('=') {
            Some((name, value)) if name.starts_with("DAT_") => make.env(name, value),
            _ => make.arg(argument),
        };
    }
    closing(context, step, &mut make)
}

/// Builds what the C suite needs: all programs if many steps share them.
fn prepare(context: &Context, step: &Step) -> Result<()> {
    if context.is_shared { builds::programs(context, step) } else { builds::release(context, step) }
}

/// Runs a goal of tests-c/Makefile, with Debian's packages of the C implementation of uDAPL 2.0 if they are available.
fn with_dapl2(context: &Context, step: &Step, arguments: &[&str]) -> Result<Results> {
    let output = context.script("tests-c/verbs/dapl2.sh").arg(&context.target).output()?;
    let packages = String::from_utf8_lossy(&output.stdout).trim().to_string();
    if output.status.success() {
        let packages = format!("DAT_TEST_DAPL2={packages}");
        return suite(context, step, &[arguments, &[&packages]].concat());
    }
    let why = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_string();
    let mut results = suite(context, step, arguments)?;
    results.skip(format!("dapl2: {why}"));
    Ok(results)
}

/// Runs the suite for 2.0 without the subjects that test the core.
fn c20(context: &Context, step: &Step) -> Result<Results> {
    let without = format!("LEAVE={CORE}");
    with_dapl2(context, step, &["check", "ALONE=skip", "API=2.0", &without])
}

/// Runs the programs that need the machine for themselves. `DAT_TEST_SCALE` also scales their bounds of CPU time, so it
/// omits the factor for concurrent lanes.
fn alone(context: &Context, step: &Step) -> Result<Results> {
    let (scale, without) = (format!("DAT_TEST_SCALE={}", context.slow), format!("LEAVE={CORE}"));
    let mut results = suite(context, step, &["check", "ALONE=only", BRIEFLY, &scale])?;
    results += suite(context, step, &["check", "ALONE=only", "API=2.0", &without, &scale])?;
    Ok(results)
}

/// Runs the long programs for their full time, and for 2.0 those that `alone` omits.
fn long(context: &Context, step: &Step) -> Result<Results> {
    let scale = format!("DAT_TEST_SCALE={}", context.slow);
    let tests = "TESTS=^stress/beside\\|^stress/words\\|^stress/handles$$\\|^stress/everyone";
    let mut results = suite(context, step, &["check", tests, &scale])?;
    let core = format!("TESTS=^{}/", CORE.replace(' ', "/\\|^"));
    results += suite(context, step, &["check", "ALONE=only", "API=2.0", &core, BRIEFLY, &scale])?;
    Ok(results)
}

fn tcp_alone(context: &Context, step: &Step) -> Result<Results> {
    let scale = format!("DAT_TEST_SCALE={}", context.slow);
    let mut results = suite(context, step, &["check", "IA=tcp-lo", "ALONE=only", "TESTS=^tcp/", &scale])?;
    let bursts = "TESTS=^v20/datagram_bursts";
    results += suite(context, step, &["check", "API=2.0", "IA=tcp-lo", "ALONE=only", bursts, &scale])?;
    Ok(results)
}

fn over_tcp(context: &Context, step: &Step, api: &str, tests: &str) -> Result<Results> {
    let arguments = ["check", "IA=tcp-lo", "ALONE=skip", api, tests];
    if api == "API=2.0" { with_dapl2(context, step, &arguments) } else { suite(context, step, &arguments) }
}

/// Runs a part of the suite on the debug build, which has most checks.
fn debug(context: &Context, step: &Step, api: &str, tests: &str) -> Result<Results> {
    builds::debug(context, step)?;
    let quick = format!("{BRIEFLY} stress.watching stress.polled");
    let without = format!("WITHOUT={HEADERS} stress/beside stress/idle v20/datagram_bursts");
    suite(context, step, &["check", "BUILD=debug", &quick, &without, api, tests])
}

/// Runs the suite under valgrind, without programs that start a process per inspected line, which takes minutes. So it
/// also omits the script that needs the return codes of all programs.
fn valgrind(context: &Context, step: &Step, api: &str, tests: &str) -> Result<Results> {
    if !packages::has("valgrind") {
        return skip(context, step, "valgrind is not installed".into());
    }
    let scale = format!("DAT_TEST_SCALE={}", 10.0 * context.slow);
    let without = format!(
        "WITHOUT={HEADERS} registry/explicit registry/messages registry/search registry/tcp registry/default_route.sh registry/sandbox.sh rely/masks codes/complete.sh"
    );
    suite(context, step, &["check", "VALGRIND=1", &scale, &without, api, tests])
}

/// Runs a goal of tests-c/Makefile that prints TAP.
fn measured(context: &Context, step: &Step, goal: &[&str]) -> Result<Results> {
    prepare(context, step)?;
    tap(context, step, context.make(["-C", "tests-c"]).args(goal))
}

// ---- Other users of the libraries ----

/// Runs a script that prints TAP and uses the libraries in target/lib.
fn with_release(context: &Context, step: &Step, command: &mut Command) -> Result<Results> {
    builds::release(context, step)?;
    tap(context, step, command)
}

/// Checks the manual pages. If the suite ran, the tests that docs/compat.md names must have passed. The page does not
/// name tests of the step `alone`, which runs later.
fn man(context: &Context, step: &Step) -> Result<Results> {
    let build = context.root.join("tests-c/build");
    let results = [format!("results-{}", context.ia), format!("2.0/results-{}", context.ia), "results-both".into()];
    let results = results.map(|directory| build.join(directory));
    let mut command = context.script("docs/man/check.sh");
    if context.is_shared && results.iter().all(|directory| directory.is_dir()) {
        command.args(results);
    }
    tap(context, step, &mut command)
}

fn docs(context: &Context, step: &Step) -> Result<Results> {
    builds::release(context, step)?;
    if let Some(tool) = ["python3", "pkg-config"].iter().find(|tool| !packages::has(tool)) {
        return skip(context, step, format!("{tool} is not installed"));
    }
    let pages = [
        "README.md",
        "docs/getting-started.md",
        "docs/porting.md",
        "docs/install.md",
        "docs/network.md",
        "docs/containers.md",
        "docs/mpi.md",
        "docs/troubleshooting.md",
        "docs/python.md",
    ];
    let mut results = tap(context, step, context.script("tests-c/docs/roots.sh").args(pages))?;
    results += tap(context, step, context.script("tests-c/docs/examples.py").arg(context.target.join("bin")))?;
    results += tap(context, step, &mut context.script("tests-c/docs/programs.sh"))?;
    results += tap(context, step, &mut context.script("tests-c/docs/rendered.py"))?;
    Ok(results)
}

/// Builds and runs the demo with each compiler. Users copy it, so it must compile without warnings.
fn demo(context: &Context, step: &Step) -> Result<Results> {
    builds::release(context, step)?;
    let mut results = Results::default();
    for compiler in ["gcc", "clang"] {
        if !packages::has(compiler) {
            results.skip(format!("demo: no {compiler} here"));
            continue;
        }
        let (program, lib) = (context.logs.join(format!("demo-{compiler}")), context.target.join("lib"));
        let script = "\"$0\" -std=c99 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -o \"$1\" tests-c/demo/*.c \
            -L\"$2\" -ldat -Wl,-rpath,\"$2\" && \"$1\" \"$3\"";
        let mut command = context.command("sh");
        results += one(context, step, command.args(["-c", script, compiler]).arg(program).arg(lib).arg(&context.ia))?;
    }
    Ok(results)
}

/// Runs the tests that need an RDMA device, in a virtual machine unless `$RDMA` names a device. `variables` select
/// device and tests.
fn verbs(context: &Context, step: &Step, system: System, variables: &[(&str, &str)]) -> Result<Results> {
    let lacking = packages::missing(&step.name);
    if !lacking.is_empty() {
        return skip(context, step, format!("not installed: {}", lacking.join(" ")));
    }
    builds::programs(context, step)?;
    builds::debug(context, step)?;
    // The virtual machine must not outlive the step, so its own limit is 60 s shorter.
    let limit = (step.longest as f64 * context.slow - 60.0).max(60.0) as u64;
    // The machine takes longest, so raise its priority. Without root, nice changes nothing.
    let mut command = context.command("nice");
    command.args(["-n", "-5"]).arg(context.root.join("tests-c/verbs/check.sh"));
    command.env("TARGET", &context.target).env("RESULTS", context.target.join(&step.name));
    command.envs(system).envs(variables.iter().copied());
    command.env("LIMIT", limit.to_string()).env("SCALE", (3.0 * context.slow).to_string());
    let (end, output) = context.run(step, command.env("SELECTION", selection().join(" ")))?;
    if end == End::Exited(CANNOT_RUN) {
        return skip(context, step, output.lines().last().unwrap_or_default().to_string());
    }
    Ok(closed(&output, end))
}
