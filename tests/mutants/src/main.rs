//! Mutation testing with one build: every mutant is compiled in beside what it replaces, and an
//! environment variable says which one is alive.
//!
//!   ds-doctor-mutants rewrite TREE DIR...   put mutants into the sources of these folders of src/
//!   ds-doctor-mutants check TREE DIR...     the same, again and again without those that do not compile
//!   ds-doctor-mutants test TREE NAME=BIN... run test binaries on each mutant, until one fails
//!
//! The kinds are those of cargo-mutants, and `matches!` turned round. Rewriting happens in a copy of
//! the repository (see `mutants/run`).

mod rewrite;
mod trial;
mod viable;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, tree, rest @ ..] = &args[..] else {
        eprintln!("rewrite|check|test TREE ...");
        return ExitCode::from(2);
    };
    let tree = PathBuf::from(tree);
    match what.as_str() {
        "rewrite" => rewrite::all(&tree, rest, &Default::default()).map(|n| println!("{n} mutants")),
        "check" => viable::settle(&tree, rest),
        "test" => trial::all(&tree, rest),
        _ => Err(format!("what is {what}?")),
    }
    .map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
