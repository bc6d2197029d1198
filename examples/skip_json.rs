//! Skips through a JSON file with serde_json and does nothing else: the floor for reading one.
//!
//! ```text
//! cargo run --release --example skip_json -- big.json
//! ```

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let bytes = std::fs::read(&path)?;
        let read = start.elapsed();
        let _: serde::de::IgnoredAny = serde_json::from_slice(&bytes)?;
        println!("{path}: {} MB, read {read:.2?}, read and skipped {:.2?}", bytes.len() >> 20, start.elapsed());
    }
    Ok(())
}
