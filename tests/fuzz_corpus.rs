//! The inputs that fuzzing kept, and those that once broke something, run through the same checks
//! (`fuzz/checks`).

#[path = "../fuzz/checks/mod.rs"]
mod checks;

use std::path::Path;

/// Runs a check on every input of its target.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        check(&std::fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count > 0, "{}", folder.display());
}

macro_rules! replayed {
    ($($target:ident),*) => { $( #[test] fn $target() { replay(stringify!($target), checks::$target::check); } )* };
}

replayed!(archive, cluster, json_dump, json_list, protobuf, selectors, values, yaml_dump);
