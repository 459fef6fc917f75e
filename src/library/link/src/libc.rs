//! A libc to link with from which libraries take old versions of its functions.
//!
//! The linker takes the newest version of each function of libc, and the loader of an older system then refuses the library.
//! Libc also has the old versions, for programs that need them. So the linker gets a copy of the system's libc in which the
//! default version of each function is the newest one up to [`NEWEST`]. The copy is never run.
//!
//! cargo-zigbuild would need no copy, but zig links LLVM's unwinder into each library, and libgcc_s unwinds cancelled threads.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::elf::{FileHeader64, SHT_DYNSYM, SHT_GNU_VERSYM, VERSYM_HIDDEN, Versym};
use object::read::elf::{FileHeader, SectionHeader, Sym};

/// The parts of the number of a version: 2, 2, 5; the last is mostly 0.
type Number = [u32; 3];

/// The newest version that our libraries may need: that of RHEL 8 and Debian 10.
const NEWEST: Number = [2, 28, 0];

/// What libc had in its static part until version 2.33, such as `stat`, and has in its dynamic part since.
const STATIC_PART: &str = include_str!("static_part.c");

/// Makes the files that the linker takes instead of those of libc.
///
/// # Parameters
/// * `folder` - gets `libc.so.6`, the copy; `libold.a`, what libc of version [`NEWEST`] had in its static part; and `libc.so`, a
///   script of the linker that names both.
///
/// If the system's libc cannot be found or read, there is a warning, and the linker takes that libc as it is.
pub fn make(folder: &Path) {
    let compiler = cc::Build::new();
    let found = system_libc(&compiler).and_then(|path| fs::read(&path).map_err(|error| format!("{path:?}: {error}")));
    let copy = found.and_then(|libc| aged(libc).map_err(|error| format!("libc.so.6: {error}")));
    let copy = match copy {
        Ok(copy) => copy,
        Err(why) => {
            println!("cargo::warning=the library may need a newer libc than {}.{}: {why}", NEWEST[0], NEWEST[1]);
            return;
        }
    };
    fs::create_dir_all(folder).expect("a folder in OUT_DIR");
    super::write(&folder.join("libc.so.6"), copy);

    let source = folder.join("static_part.c");
    super::write(&source, STATIC_PART);
    compile_static_part(&source, folder);

    // This is the system's script without the dynamic linker, which that adds to the needed libraries for __tls_get_addr. The
    // dynamic linker is in every process that has libc, so the name resolves anyway.
    super::write(&folder.join("libc.so"), "INPUT(-l:libc.so.6 -l:libold.a -l:libc_nonshared.a)\n");
    println!("cargo::rustc-link-search=native={}", folder.display());

    // Until version 2.34 threads and the dynamic loader's calls were in these two, under the same names and versions. The
    // loader searches all needed libraries for a name and its version, so these have to be needed; newer ones are empty.
    super::argument("-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state".to_owned());
}

/// Makes `libold.a` of [`STATIC_PART`], with the hardening that packages of C have.
fn compile_static_part(source: &Path, folder: &Path) {
    cc::Build::new()
        .file(source)
        .out_dir(folder)
        .cargo_metadata(false)
        .debug(false)
        .opt_level(2)
        .flag_if_supported("-fstack-protector-strong")
        // Some compilers have defined it already, with another number.
        .flag_if_supported("-U_FORTIFY_SOURCE")
        .flag_if_supported("-D_FORTIFY_SOURCE=2")
        .compile("old");
}

/// Where the compiler's libc is.
fn system_libc(compiler: &cc::Build) -> Result<PathBuf, String> {
    let compiler = compiler.try_get_compiler().map_err(|error| error.to_string())?;
    let output = compiler
        .to_command()
        .arg("-print-file-name=libc.so.6")
        .output()
        .map_err(|error| format!("{:?}: {error}", compiler.path()))?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    // A compiler that does not find it prints the bare name.
    if path.is_absolute() { Ok(path) } else { Err(format!("{:?} knows no libc.so.6", compiler.path())) }
}

/// The same libc with other default versions: of each name the newest up to [`NEWEST`]. A name that has none is hidden.
fn aged(mut libc: Vec<u8>) -> object::read::Result<Vec<u8>> {
    for (place, word) in changes(&libc)? {
        libc[place..place + 2].copy_from_slice(&word.to_le_bytes());
    }
    Ok(libc)
}

/// Words of the table of versions that have to change: where in the file, and the new value. The machines for which the
/// libraries are built are little-endian.
fn changes(libc: &[u8]) -> object::read::Result<Vec<(usize, u16)>> {
    let header = FileHeader64::<LittleEndian>::parse(libc)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, libc)?;
    let symbols = sections.symbols(endian, libc, SHT_DYNSYM)?;
    let table = sections.iter().find(|section| section.sh_type(endian) == SHT_GNU_VERSYM);
    let (Some(versions), Some(table)) = (sections.versions(endian, libc)?, table) else {
        return Ok(Vec::new());
    };
    let words = table.data_as_array::<Versym<LittleEndian>, _>(endian, libc)?;
    let table = table.sh_offset(endian) as usize;

    // Of each name: the word of each version, with the number of the version.
    let mut names: HashMap<&[u8], Vec<(usize, Number)>> = HashMap::new();
    for (index, symbol) in symbols.enumerate() {
        let version = versions.version(versions.version_index(endian, index).index())?;
        if let Some(number) = version.and_then(|version| number(version.name())) {
            if !symbol.is_undefined(endian) {
                names.entry(symbols.symbol_name(endian, symbol)?).or_default().push((index.0, number));
            }
        }
    }

    let oldest = names.values().flatten().map(|&(_, number)| number).min();
    if oldest.is_none_or(|oldest| oldest > NEWEST) {
        // The libc of this architecture began later; there is nothing older to choose.
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    for versions in names.values() {
        let chosen = versions.iter().filter(|(_, number)| *number <= NEWEST).max_by_key(|(_, number)| *number);
        let newest = versions.iter().max_by_key(|(_, number)| *number);
        if chosen == newest {
            continue;
        }
        for entry @ &(index, _) in versions {
            let word = words[index].0.get(endian).0;
            let new = if Some(entry) == chosen { word & !VERSYM_HIDDEN.0 } else { word | VERSYM_HIDDEN.0 };
            changes.push((table + index * 2, new));
        }
    }
    Ok(changes)
}

/// The number in the name of a version such as `GLIBC_2.2.5`.
fn number(version: &[u8]) -> Option<Number> {
    let mut number = Number::default();
    let mut parts = std::str::from_utf8(version).ok()?.strip_prefix("GLIBC_")?.split('.');
    for place in &mut number {
        *place = parts.next().map_or(Ok(0), str::parse).ok()?;
    }
    Some(number)
}

#[cfg(test)]
mod tests;
