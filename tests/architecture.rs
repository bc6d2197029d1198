//! The house's rules: what is pure stays pure, and no file grows out of hand.

use std::fs;
use std::path::{Path, PathBuf};

/// Nothing here may touch the world.
const PURE: &[&str] = &[
    "model",
    "filter",
    "controller",
    "scheduling",
    "lifecycle",
    "rollout",
    "lint",
    "cause",
    "report",
    "remedy",
    "preflight",
    "diagnose.rs",
];

/// What would: clients, runtimes, files, the environment, the clock, printing.
const WORLD: &[&str] = &[
    "kube::",
    "tokio",
    "futures",
    "hyper",
    "http::",
    "clap",
    "comfy_table",
    "owo_colors",
    "std::fs",
    "std::env",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::",
    "Timestamp::now",
    "Zoned::now",
    "println!",
    "eprintln!",
    "print!(",
    "dbg!",
    "crate::source",
    "crate::render",
    "crate::cli",
    "crate::run",
];

/// Lines that a file may have with its tests.
const LONGEST: usize = 650;

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|e| e == "rs") {
        found.push(path.to_path_buf());
    }
}

/// The code without its tests, comments and doc text.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_middle_is_pure() {
    let mut seen = 0;
    for part in PURE {
        let mut found = Vec::new();
        files(&Path::new("src").join(part), &mut found);
        for file in found.iter().filter(|f| !f.ends_with("report/schema.rs")) {
            seen += 1;
            let code = code(&fs::read_to_string(file).unwrap());
            for word in WORLD {
                assert!(!code.contains(word), "{} names {word}", file.display());
            }
        }
    }
    assert!(seen > 40, "only {seen} files were looked at");
}

#[test]
fn renderers_and_sources_keep_apart() {
    for (folder, banned) in [("src/render", ["crate::source", "crate::filter"]), ("src/source", ["crate::render", "crate::filter"])] {
        let mut found = Vec::new();
        files(Path::new(folder), &mut found);
        assert!(!found.is_empty());
        for file in found {
            let code = code(&fs::read_to_string(&file).unwrap());
            for word in banned {
                assert!(!code.contains(word), "{} names {word}", file.display());
            }
        }
    }
}

#[test]
fn no_file_grows_out_of_hand() {
    let mut found = Vec::new();
    files(Path::new("src"), &mut found);
    for file in found {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines", file.display());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!["utils", "util", "helpers", "common", "types", "misc"].contains(&name.as_str()), "{}", file.display());
    }
    assert!(fs::read_to_string("ARCHITECTURE.md").unwrap().lines().count() < 80);
}
