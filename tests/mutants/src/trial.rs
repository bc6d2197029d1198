//! Runs test binaries on each mutant that they reach, until one fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// A binary that waits for ever uses no processor time.
const WAITING: Duration = Duration::from_secs(900);

/// How a run of a test binary ended.
enum Ended {
    Passed,
    Failed,
    /// After so long as no run without a mutant takes.
    Hung,
}

/// Tries all mutants of `mutants.tsv` that `outcomes.tsv` does not have yet; `NAME=BIN ARG...` are the test binaries, in order.
/// `MUTANTS_SHARE=i/n` tries every n-th alone, `MUTANTS_UNTIL` (seconds since 1970) ends it early.
pub fn all(tree: &Path, binaries: &[String]) -> Result<(), String> {
    let table = fs::read_to_string(tree.join("mutants.tsv")).map_err(|e| e.to_string())?;
    let until: Option<u64> = std::env::var("MUTANTS_UNTIL").ok().and_then(|s| s.parse().ok());
    let share: (u32, u32) = std::env::var("MUTANTS_SHARE")
        .ok()
        .and_then(|s| s.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?))))
        .unwrap_or((0, 1));
    let outcomes = tree.join("outcomes.tsv");
    let known: BTreeSet<u32> =
        fs::read_to_string(&outcomes).unwrap_or_default().lines().filter_map(|l| l.split('\t').next()?.parse().ok()).collect();
    // What each binary reaches, and how long it takes, without a mutant.
    let mut stages: Vec<(String, Vec<String>, BTreeSet<u32>, Duration)> = Vec::new();
    for binary in binaries {
        let (name, command) = binary.split_once('=').ok_or("NAME=BIN")?;
        let command: Vec<String> = command.split(' ').map(str::to_string).collect();
        let log = tree.join(format!("reached-{name}"));
        let took = tree.join(format!("seconds-{name}"));
        if !took.exists() {
            let _ = fs::remove_file(&log);
            let began = Instant::now();
            if !matches!(run(tree, &command, 0, Some(&log), Duration::from_secs(3600))?, Ended::Passed) {
                return Err(format!("{name} fails without a mutant"));
            }
            fs::write(&took, began.elapsed().as_secs_f64().to_string()).map_err(|e| e.to_string())?;
        }
        let took = fs::read_to_string(&took).ok().and_then(|s| s.parse().ok()).map_or(Duration::from_secs(60), Duration::from_secs_f64);
        let reached: BTreeSet<u32> =
            fs::read_to_string(&log).unwrap_or_default().split_whitespace().filter_map(|n| n.parse().ok()).collect();
        println!("{name}: {} mutants reached, {:.1} s", reached.len(), took.as_secs_f64());
        stages.push((name.to_string(), command, reached, took * 5 + Duration::from_secs(5)));
    }
    let mut file = File::options().create(true).append(true).open(&outcomes).map_err(|e| e.to_string())?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in table.lines() {
        let Some(id) = line.split('\t').next().and_then(|n| n.parse::<u32>().ok()) else { continue };
        if known.contains(&id) || id % share.1 != share.0 {
            continue;
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        if until.is_some_and(|u| now > u) {
            break;
        }
        let mut outcome = if stages.iter().any(|s| s.2.contains(&id)) { "survived".to_string() } else { "not reached".to_string() };
        for (name, command, reached, limit) in &stages {
            if reached.contains(&id) {
                match run(tree, command, id, None, *limit)? {
                    Ended::Passed => continue,
                    Ended::Failed => outcome = format!("killed by {name}"),
                    Ended::Hung => outcome = format!("hung {name}"),
                }
                break;
            }
        }
        writeln!(file, "{id}\t{outcome}\t{}", line.split_once('\t').map_or("", |(_, rest)| rest)).map_err(|e| e.to_string())?;
        *counts.entry(outcome).or_default() += 1;
    }
    println!("{counts:#?}");
    Ok(())
}

/// Runs a test binary for at most so many seconds of processor time: on a busy machine the clock says little.
fn run(tree: &Path, command: &[String], mutant: u32, log: Option<&Path>, limit: Duration) -> Result<Ended, String> {
    let mut process = Command::new("sh");
    process.args(["-c", &format!("ulimit -t {}; exec \"$@\"", limit.as_secs().max(1)), "sh"]).args(command);
    process.current_dir(tree).env("MUTANT", mutant.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(log) = log {
        process.env("MUTANT_LOG", log);
    }
    let mut child = process.spawn().map_err(|e| format!("{}: {e}", command[0]))?;
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) if status.success() => return Ok(Ended::Passed),
            // Killed for the time that it took.
            Some(status) if status.signal().is_some_and(|s| s == SIGXCPU || s == SIGKILL) => return Ok(Ended::Hung),
            Some(_) => return Ok(Ended::Failed),
            None if began.elapsed() > WAITING => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(Ended::Hung);
            }
            None => sleep(Duration::from_millis(10)),
        }
    }
}
