// SPDX-License-Identifier: MIT OR Apache-2.0

//! packaging/libraries.txt: the libraries of the project.

use std::fs;

use anyhow::{Context, Result};

/// Returns the crates of the libraries whose build needs no development packages.
pub fn default_crates() -> Result<Vec<String>> {
    let path = crate::root().join("packaging/libraries.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(crates(&text))
}

fn crates(table: &str) -> Vec<String> {
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    rows.filter(|columns| columns.get(6) == Some(&"always")).map(|columns| columns[1].to_string()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_the_rows_that_are_always_built() {
        let table = "# head\n1.2  libdat  libdat.so  libdat.so.1  libdat  libdat1  always\n\
            both libdaplverbs  a.so  a.so.2  verbs  libdat-verbs  verbs\nlink a.so.1  a.so.2  libdat-verbs\n";
        assert_eq!(super::crates(table), ["libdat"]);
    }
}
