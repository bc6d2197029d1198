//! What is held of a saved cluster: bytes of the snapshot, of its report, and the most in between.
//!
//! ```text
//! cargo run --release --example held -- big.json monitoring node-exporter
//! ```

use std::alloc::System;
use std::collections::BTreeMap;
use std::path::PathBuf;

use cap::Cap;
use ds_doctor::diagnose::{Options, diagnose};
use ds_doctor::source::files::{Focus, ReadOptions, read};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, namespace, name] = arguments.as_slice() else { return Err("usage: held FILE NAMESPACE NAME".into()) };
    let focus = Focus { namespace: Some(namespace.clone()), names: vec![name.clone()] };
    let snapshot = read(&[PathBuf::from(file)], &ReadOptions { focus, ..ReadOptions::default() })?;
    println!("snapshot of {} nodes and {} pods: {} kB", snapshot.nodes.len(), snapshot.pods.len(), HEAP.allocated() >> 10);
    let Some(ds) = snapshot.daemon_sets.iter().find(|d| d.metadata.name == *name) else { return Err("no such DaemonSet".into()) };
    let report = diagnose(&snapshot, ds, &Options::default());
    println!("with the report on {} nodes: {} kB", report.nodes.len(), HEAP.allocated() >> 10);
    println!("most at any time: {} kB", HEAP.max_allocated() >> 10);
    let copied = |copy: &dyn Fn() -> Box<dyn std::any::Any>| {
        let before = HEAP.allocated();
        let copy = copy();
        let bytes = HEAP.allocated() - before;
        drop(copy);
        bytes
    };
    let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut add = |what, bytes| {
        let (number, sum) = sizes.entry(what).or_default();
        (*number, *sum) = (*number + 1, *sum + bytes);
    };
    for node in snapshot.nodes.iter() {
        add("nodes", copied(&|| Box::new(node.clone())));
    }
    for pod in snapshot.pods.iter() {
        let own = pod.metadata.controller().is_some_and(|o| o.name == *name);
        add(if own { "own pods, beyond what they share" } else { "other pods, beyond what they share" }, copied(&|| Box::new(pod.clone())));
        if own {
            add("specs of own pods", copied(&|| Box::new((*pod.spec).clone())));
            add("statuses of own pods", copied(&|| Box::new((*pod.status).clone())));
        }
    }
    for (what, (number, bytes)) in sizes {
        println!("{number} {what}: {} bytes each", bytes / number);
    }
    Ok(())
}
