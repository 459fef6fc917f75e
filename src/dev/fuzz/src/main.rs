//! dat-fuzz - runs the targets with any compiler. Inputs are reproducible from a seed.
//!
//!     dat-fuzz [--seconds N] [--seed N] [--corpus FOLDER] [--out FOLDER] [--keep] [TARGET...]
//!     dat-fuzz --replay FILE TARGET
//!
//! Runs the inputs of `corpus/TARGET`, then mutations of these for N seconds (10) per target, and prints TAP. A failing
//! input is shrunk and stored in the directory of --out (target/found). An input that takes longer than a minute ends
//! the run. --keep stores each input before its run, in case it kills the process. --replay runs one input.

mod mutate;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dat_fuzz::{TARGETS, Target};
use mutate::Mutator;

const INPUT_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_SHRINKS: usize = 400;
/// Maximum bytes of an input, as for libFuzzer.
const MAX_INPUT: usize = 4096;

/// Set when any thread panics.
static PANICKED: AtomicBool = AtomicBool::new(false);

struct Options {
    seconds: u64,
    seed: u64,
    corpus: PathBuf,
    out: PathBuf,
    keep: bool,
    replay: Option<PathBuf>,
    targets: Vec<&'static Target>,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut options = Options {
            seconds: 10,
            seed: 1,
            corpus: here.join("corpus"),
            out: PathBuf::from("target/found"),
            keep: false,
            replay: None,
            targets: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} takes a value"));
            let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
            match word.as_str() {
                "--seconds" => options.seconds = number(value()?)?,
                "--seed" => options.seed = number(value()?)?,
                "--corpus" => options.corpus = value()?.into(),
                "--out" => options.out = value()?.into(),
                "--keep" => options.keep = true,
                "--replay" => options.replay = Some(value()?.into()),
                name => {
                    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                    let target = TARGETS.iter().find(|target| target.name == name);
                    options.targets.push(target.ok_or(format!("no target {name}; there are: {}", names.join(" ")))?);
                }
            }
        }
        if options.targets.is_empty() {
            options.targets = TARGETS.iter().collect();
        }
        Ok(options)
    }
}

/// The input that runs now and its start time, for the watchdog. `None` between inputs.
type Current = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

struct Runner<'a> {
    target: &'a Target,
    options: &'a Options,
    current: Current,
}

impl Runner<'_> {
    fn place(&self, what: &str) -> PathBuf {
        self.options.out.join(format!("{}-{what}", self.target.name))
    }

    fn passes(&self, data: &[u8]) -> bool {
        if self.options.keep {
            let _ = fs::write(self.place("last"), data);
        }
        *self.current.lock().expect("the watch holds it for moments") = Some((Instant::now(), data.to_vec()));
        let fine = panic::catch_unwind(AssertUnwindSafe(|| (self.target.run)(data))).is_ok();
        *self.current.lock().expect("the watch holds it for moments") = None;
        fine & !PANICKED.swap(false, Ordering::SeqCst)
    }

    /// Shrinks and stores a failing input. Returns a message with its path.
    fn report(&self, data: &[u8]) -> String {
        let mut small = data.to_vec();
        let _ = fs::write(self.place("failed"), &small);
        let mut left = MAX_SHRINKS;
        let mut chunk = small.len().next_power_of_two();
        panic::set_hook(Box::new(|_| PANICKED.store(true, Ordering::SeqCst)));
        while chunk > 0 {
            let mut at = 0;
            while at < small.len() && left > 0 {
                let mut less = small.clone();
                less.drain(at..(at + chunk).min(small.len()));
                if self.passes(&less) {
                    at += chunk;
                } else {
                    small = less;
                    let _ = fs::write(self.place("failed"), &small);
                }
                left -= 1;
            }
            chunk /= 2;
        }
        let text: String = small.iter().take(64).map(|byte| format!("{byte:02x}")).collect();
        format!("{} bytes in {}: {text}", small.len(), self.place("failed").display())
    }

    /// Runs the corpus, and then mutations until the time has expired. Returns a line of TAP.
    fn run(&self) -> Result<String, String> {
        let corpus = corpus(&self.options.corpus.join(self.target.name));
        for (name, data) in &corpus {
            if !self.passes(data) {
                return Err(format!("corpus/{}/{name} fails", self.target.name));
            }
        }
        let mut mutator = Mutator::new(self.options.seed, corpus.iter().map(|(_, data)| &data[..]), MAX_INPUT);
        let end = Instant::now() + Duration::from_secs(self.options.seconds);
        let mut made = 0_u64;
        while Instant::now() < end {
            let data = mutator.next();
            made += 1;
            if !self.passes(&data) {
                let seed = self.options.seed;
                return Err(format!("input {made} of seed {seed} fails; {}", self.report(&data)));
            }
        }
        Ok(format!("{} inputs kept, {made} made of seed {}", corpus.len(), self.options.seed))
    }
}

/// Returns the names and contents of the inputs in a directory, sorted by name for a reproducible order.
fn corpus(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| Some((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).ok()?)))
        .collect();
    found.sort();
    found
}

/// Starts the watchdog, which ends the process if an input hangs.
fn watch(current: Current, out: PathBuf) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let current = current.lock().expect("it is held for moments");
            if let Some((began, data)) = &*current {
                if began.elapsed() > INPUT_TIMEOUT {
                    let place = out.join("hangs");
                    let _ = fs::write(&place, data);
                    println!("Bail out! an input takes longer than {} s: {}", INPUT_TIMEOUT.as_secs(), place.display());
                    std::process::exit(3);
                }
            }
        }
    });
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("dat-fuzz: {why}");
            return ExitCode::from(2);
        }
    };
    if let Err(error) = fs::create_dir_all(&options.out) {
        eprintln!("dat-fuzz: {}: {error}", options.out.display());
        return ExitCode::from(2);
    }
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::SeqCst);
        hook(info);
    }));
    let current = Current::default();
    watch(current.clone(), options.out.clone());
    if let Some(file) = &options.replay {
        let data = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let fine = options
            .targets
            .iter()
            .all(|target| Runner { target, options: &options, current: current.clone() }.passes(&data));
        return ExitCode::from(u8::from(!fine));
    }
    println!("1..{}", options.targets.len());
    let mut fine = true;
    for (number, target) in (1..).zip(&options.targets) {
        match (Runner { target, options: &options, current: current.clone() }).run() {
            Ok(what) => println!("ok {number} - fuzz: {}: {what}", target.name),
            Err(why) => {
                println!("not ok {number} - fuzz: {}: {why}", target.name);
                fine = false;
            }
        }
    }
    ExitCode::from(u8::from(!fine))
}
