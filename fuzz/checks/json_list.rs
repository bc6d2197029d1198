//! A list of a live server in JSON, in chunks of any size.

use ds_doctor::source::json_items::{Envelope, Items};
use ds_doctor::source::protobuf::Malformed;
use serde_json::Value;

fn read(body: &[u8], step: usize) -> Result<(Vec<Vec<u8>>, Envelope), Malformed> {
    let mut items = Items::default();
    let mut found = Vec::new();
    for chunk in body.chunks(step.max(1)) {
        items.feed(chunk, &mut |text: &[u8]| {
            found.push(text.to_vec());
            Ok::<(), Malformed>(())
        })?;
    }
    Ok((found, items.finish()?))
}

/// Checks one input.
pub fn check(input: &[u8]) {
    let Some((first, body)) = input.split_first() else { return };
    let (whole, pieces) = (read(body, body.len()), read(body, usize::from(*first) % 17));
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        (Err(_), Err(_)) => {}
        _ => panic!("{whole:?} {pieces:?}"),
    }
    // Where the text is JSON, the items are those that a whole parser finds.
    let (Ok((found, _)), Ok(value)) = (whole, serde_json::from_slice::<Value>(body)) else { return };
    let twice = body.windows(7).filter(|w| w == b"\"items\"").count() > 1 || body.contains(&b'\\');
    if let Some(items) = value["items"].as_array().filter(|_| !twice) {
        let read: Vec<Value> = found.iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
        assert_eq!(&read, items);
    }
}
