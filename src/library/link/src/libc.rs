//! A libc for linking that offers old versions of its functions.
//!
//! The linker binds each libc function to its newest version, which older systems lack. So the linker gets a copy of
//! the system's libc in which the default version of each function is the newest up to [`NEWEST`]. The copy is never
//! executed.
//!
//! cargo-zigbuild would need no copy. But zig links its own unwinder, while glibc unwinds cancelled threads with
//! libgcc_s.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::elf::{FileHeader64, SHT_DYNSYM, SHT_GNU_VERSYM, VERSYM_HIDDEN, Versym};
use object::read::elf::{FileHeader, SectionHeader, Sym};

/// A version number such as 2.2.5. The last part is usually 0.
type Number = [u32; 3];

/// The newest version that the libraries may need: the glibc of RHEL 8 and Debian 10.
const NEWEST: Number = [2, 28, 0];

/// Functions such as `stat`, which libc contained in its static part before version 2.33.
const STATIC_PART: &str = include_str!("static_part.c");

/// Creates the libc files for the linker.
///
/// # Parameters
/// * `folder` - gets `libc.so.6`, the copy; `libold.a`, the static part of a libc of version [`NEWEST`]; and `libc.so`,
///   a linker script that names both.
///
/// Without a readable system libc, prints a warning, and the linker uses the libc that it finds.
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

    // The system's script also names the dynamic linker, for __tls_get_addr. Every process contains that linker, so the
    // name resolves.
    super::write(&folder.join("libc.so"), "INPUT(-l:libc.so.6 -l:libold.a -l:libc_nonshared.a)\n");
    println!("cargo::rustc-link-search=native={}", folder.display());

    // Before glibc 2.34, these libraries contained the functions of threads and of the loader, with the same names and
    // versions. Since 2.34 they are empty, but on older systems the functions are still in them.
    super::argument("-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state".to_owned());
}

/// Compiles [`STATIC_PART`] to `libold.a`, with the usual hardening of C packages.
fn compile_static_part(source: &Path, folder: &Path) {
    cc::Build::new()
        .file(source)
        .out_dir(folder)
        .cargo_metadata(false)
        .debug(false)
        .opt_level(2)
        .flag_if_supported("-fstack-protector-strong")
        // Some compilers define _FORTIFY_SOURCE with another value.
        .flag_if_supported("-U_FORTIFY_SOURCE")
        .flag_if_supported("-D_FORTIFY_SOURCE=2")
        .compile("old");
}

fn system_libc(compiler: &cc::Build) -> Result<PathBuf, String> {
    let compiler = compiler.try_get_compiler().map_err(|error| error.to_string())?;
    let output = compiler
        .to_command()
        .arg("-print-file-name=libc.so.6")
        .output()
        .map_err(|error| format!("{:?}: {error}", compiler.path()))?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    // A compiler that does not find the file prints the bare name.
    if path.is_absolute() { Ok(path) } else { Err(format!("{:?} knows no libc.so.6", compiler.path())) }
}

/// Returns `libc` with the newest version up to [`NEWEST`] as the default of each symbol. Hides symbols without such a
/// version.
fn aged(mut libc: Vec<u8>) -> object::read::Result<Vec<u8>> {
    for (place, word) in changes(&libc)? {
        libc[place..place + 2].copy_from_slice(&word.to_le_bytes());
    }
    Ok(libc)
}

/// Returns the changed words of the version table: offset in the file and new value. All supported machines are
/// little-endian.
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

    // For each name, the index and number of each version.
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
        // The first libc of this architecture is newer than [`NEWEST`].
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

/// Returns the number in a version name such as `GLIBC_2.2.5`, or `None` for another form.
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
