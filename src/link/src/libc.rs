//! A libc to link with from which libraries take old versions of its functions.
//!
//! A library needs of libc the versions that were its newest where the library was linked, and the loader of an older system
//! refuses it then. Libc keeps the old versions for programs that need them; so this is a copy of the system's libc in
//! which the newest version of each function up to [`NEWEST`] is the one that the linker takes. The copy is never run.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{FileHeader64, SHT_DYNSYM, SHT_GNU_VERSYM, VERSYM_HIDDEN, Versym};
use object::read::elf::{FileHeader, SectionHeader, Sym};

/// The parts of the number of a version: 2, 2, 5; the last is mostly 0.
type Number = [u32; 3];

/// The newest version that our libraries may need: that of RHEL 8 and Debian 10.
const NEWEST: Number = [2, 28, 0];

/// What libc had in its static part until version 2.33, and has in its dynamic part since.
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

    // Rust's thread-local data refer to __tls_get_addr, and for this the system's script adds the dynamic linker itself
    // to the needed libraries. The dynamic linker is in every process that has libc, so the name resolves anyway: this
    // script is the system's without the dynamic linker.
    super::write(&folder.join("libc.so"), "INPUT(-l:libc.so.6 -l:libold.a -l:libc_nonshared.a)\n");
    // Among the folders of libraries, that of the crate itself comes before those of what it depends on.
    println!("cargo::rustc-link-search=native={}", folder.display());

    // Until version 2.34 these two had what libc has now, under the same names and versions. The loader looks for a
    // name and its version in all libraries that are needed, so these have to be, though none of their names is here.
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

/// The same libc with other versions for the linker: of each name the newest up to [`NEWEST`]. A name that has none is
/// hidden from it.
fn aged(mut libc: Vec<u8>) -> object::read::Result<Vec<u8>> {
    let changes = changes(&libc)?;
    for (place, value) in changes {
        libc[place..place + 2].copy_from_slice(&value);
    }
    Ok(libc)
}

/// Words of the table of versions that have to change: where in the file, and the new bytes.
fn changes(libc: &[u8]) -> object::read::Result<Vec<(usize, [u8; 2])>> {
    let header = FileHeader64::<Endianness>::parse(libc)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, libc)?;
    let symbols = sections.symbols(endian, libc, SHT_DYNSYM)?;
    let table = sections.iter().find(|section| section.sh_type(endian) == SHT_GNU_VERSYM);
    let (Some(versions), Some(table)) = (sections.versions(endian, libc)?, table) else {
        return Ok(Vec::new());
    };
    let words = table.data_as_array::<Versym<Endianness>, _>(endian, libc)?;
    let table = table.sh_offset(endian) as usize;

    // Of each name: the word of each version, with the number of the version.
    let mut names: HashMap<&[u8], Vec<(usize, Number)>> = HashMap::new();
    for (index, symbol) in symbols.enumerate() {
        let version = versions.version(versions.version_index(endian, index).index())?;
        if let Some(number) = version.and_then(|version| number(version.name()))
            && !symbol.is_undefined(endian)
        {
            names.entry(symbols.symbol_name(endian, symbol)?).or_default().push((index.0, number));
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
            // Which of the versions programs get, if any, stays what it was.
            continue;
        }
        for entry @ &(index, _) in versions {
            let word = words[index].0.get(endian).0;
            let new = if Some(entry) == chosen { word & !VERSYM_HIDDEN.0 } else { word | VERSYM_HIDDEN.0 };
            let place = table + index * 2;
            let bytes = match endian {
                Endianness::Little => new.to_le_bytes(),
                Endianness::Big => new.to_be_bytes(),
            };
            changes.push((place, bytes));
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
