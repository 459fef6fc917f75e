//! Why libdat.so.1 cannot be used.

use std::env;
use std::path::PathBuf;

use super::shell::{as_root, has_apt};
use super::step::Step;
use super::{MORE_FILES, for_all_programs};
use crate::dat::LoadError;
use crate::dat::library::NAME;
use crate::shell::quoted;

/// Directories in which it may be, although the loader does not look there, or does not know yet what is there.
const FOLDERS: [&str; 5] = ["/usr/local/lib", "/usr/local/lib64", "/usr/lib64", "/opt/libdat/lib", "/opt/libdat/lib64"];

/// Explains an error of loading the library, or of its list of adapters.
pub fn explain(error: &anyhow::Error) -> Step {
    let step = Step::wrong(format!("{error:#}"));
    if step.text.contains("Too many open files") {
        return step.mend(MORE_FILES);
    }
    let Some(error) = error.downcast_ref::<LoadError>() else { return step };
    let apt = has_apt();
    let searched = env::var_os("LD_LIBRARY_PATH").is_some_and(|path| env::split_paths(&path).any(has_library));
    mend(step, error, searched, FOLDERS.into_iter().map(PathBuf::from).find(|folder| has_library(folder.clone())), apt)
}

fn has_library(folder: PathBuf) -> bool {
    folder.join(NAME).exists()
}

/// # Parameters
/// * `searched` - whether LD_LIBRARY_PATH leads to a file of this name.
/// * `folder` - a directory that has the library.
/// * `apt` - whether packages are installed by apt, with the names that Debian gives them.
fn mend(step: Step, error: &LoadError, searched: bool, folder: Option<PathBuf>, apt: bool) -> Step {
    if error.is_chosen() {
        let step = step.more("this file was named with --library; without that, the one is used that programs find");
        return step.mend("dat-info --explain");
    }
    if searched && !error.is_absence() {
        return step.more("the file is one to which LD_LIBRARY_PATH leads").mend("unset LD_LIBRARY_PATH");
    }
    if let Some(folder) = folder {
        let folder = quoted(folder);
        return step
            .more(format!("{folder} has it; root can name it for all programs: {}", for_all_programs(&folder)))
            .mend(format!("export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"));
    }
    let step =
        step.more("it comes with the package libdat1, or with `make install` of this project, and then `ldconfig`");
    if apt { step.mend(as_root("apt-get install libdat1")) } else { step }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::dat::Library;

    #[test]
    fn a_library_that_is_nowhere_is_a_matter_of_its_package() {
        let error = LoadError::absent();
        let step = || Step::wrong("x");
        assert_eq!(mend(step(), &error, false, None, true).mend, [as_root("apt-get install libdat1")]);
        let without_apt = mend(step(), &error, false, None, false);
        assert!(without_apt.mend.is_empty() && without_apt.text.contains("make install"), "{}", without_apt.text);
        let elsewhere = mend(step(), &error, false, Some("/opt/my dat".into()), true);
        assert!(elsewhere.mend[0].starts_with("export LD_LIBRARY_PATH='/opt/my dat'$"), "{:?}", elsewhere.mend);
    }

    #[test]
    fn a_file_that_was_named_is_left_out() {
        let error = Library::load(Some(Path::new("/nowhere/libdat.so.1"))).unwrap_err();
        assert_eq!(explain(&error.into()).mend, ["dat-info --explain"]);
    }

    #[test]
    fn too_few_files_are_a_matter_of_the_limit() {
        assert_eq!(explain(&anyhow::anyhow!("x: Too many open files")).mend, [MORE_FILES]);
    }
}
