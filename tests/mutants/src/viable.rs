//! Leaves out mutants that do not compile.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::rewrite;

/// Rewrites and compiles until nothing is wrong; says how many are left.
pub fn settle(tree: &Path, dirs: &[String]) -> Result<(), String> {
    let known = tree.join("unviable");
    let mut without: BTreeSet<u32> =
        fs::read_to_string(&known).unwrap_or_default().split_whitespace().filter_map(|n| n.parse().ok()).collect();
    for round in 1..=40 {
        let left = rewrite::all(tree, dirs, &without)?;
        let output = Command::new("cargo")
            .args(["check", "--locked", "--lib", "--message-format=json"])
            .current_dir(tree)
            .output()
            .map_err(|e| e.to_string())?;
        fs::write(tree.join("check.json"), &output.stdout).map_err(|e| e.to_string())?;
        if output.status.success() {
            println!("{left} mutants, {} more do not compile", without.len());
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut found = BTreeSet::new();
        for message in text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok()) {
            if message["message"]["level"] != "error" {
                continue;
            }
            for span in message["message"]["spans"].as_array().into_iter().flatten().filter(|s| s["is_primary"] == true) {
                let (file, line) = (span["file_name"].as_str().unwrap_or_default(), span["line_start"].as_u64().unwrap_or(0));
                found.extend(near(&tree.join(file), line as usize));
            }
        }
        println!("round {round}: {} do not compile", found.len());
        if found.is_empty() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned() + &text.lines().rev().take(5).collect::<String>());
        }
        without.extend(found);
        fs::write(&known, without.iter().map(|n| format!("{n}\n")).collect::<String>()).map_err(|e| e.to_string())?;
    }
    Err("no end of errors".into())
}

/// The mutants on the line, else the nearest above it.
fn near(file: &Path, line: usize) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let before: Vec<&str> = text.lines().take(line).collect();
    for line in before.iter().rev() {
        let ids: Vec<u32> = line
            .split("crate::mutant::on(")
            .skip(1)
            .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
            .collect();
        if !ids.is_empty() {
            return ids;
        }
    }
    Vec::new()
}
