//! Devices that many claims share by capacity.
//!
//! Upstream: `CmpRequestOverCapacity` of `consumable_capacity.go` in
//! `k8s.io/dynamic-resource-allocation/structured/internal/incubating` (v0.37.2). A capacity with
//! a request policy is not judged.

use super::node::ResourceList;
use super::resource_claim::Device;

/// Whether a device has room for a request beside what is taken of it. `None` if that is not
/// judged.
pub fn has_room<'a>(
    device: &Device,
    requested: Option<&ResourceList>,
    taken: impl Iterator<Item = &'a ResourceList> + Clone,
) -> Option<bool> {
    if requested.is_some_and(|r| r.keys().any(|name| !device.capacity.contains_key(name))) {
        return Some(false);
    }
    if device.capacity.values().any(|c| c.request_policy.is_some()) {
        return None;
    }
    let wanted = consumed(device, requested);
    let fits = device.capacity.iter().all(|(name, capacity)| {
        let used = taken.clone().filter_map(|list| list.get(name)).chain(wanted.get(name)).copied();
        used.reduce(|sum, more| sum.plus(more)).is_none_or(|sum| sum <= capacity.value)
    });
    Some(fits)
}

/// What a request takes of a device: what it asks for, and the whole of what it does not name.
pub fn consumed(device: &Device, requested: Option<&ResourceList>) -> ResourceList {
    let amount = |name: &String| requested.and_then(|r| r.get(name)).copied();
    device.capacity.iter().map(|(name, capacity)| (name.clone(), amount(name).unwrap_or(capacity.value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn capacity_is_shared_out() {
        let list = |json| serde_json::from_value::<ResourceList>(json).unwrap();
        for (capacity, requested, taken, want) in [
            (json!({}), None, vec![], Some(true)),
            (json!({"memory": {"value": "10Gi"}}), None, vec![], Some(true)),
            // Without a request the whole capacity is taken.
            (json!({"memory": {"value": "10Gi"}}), None, vec![json!({"memory": "1"})], Some(false)),
            (json!({"memory": {"value": "10Gi"}}), Some(json!({"memory": "4Gi"})), vec![json!({"memory": "6Gi"})], Some(true)),
            (
                json!({"memory": {"value": "10Gi"}}),
                Some(json!({"memory": "4Gi"})),
                vec![json!({"memory": "6Gi"}), json!({"memory": "1"})],
                Some(false),
            ),
            (json!({"memory": {"value": "10Gi"}}), Some(json!({"cores": "1"})), vec![], Some(false)),
            (json!({"memory": {"value": "10Gi", "requestPolicy": {"default": "1Gi"}}}), None, vec![], None),
        ] {
            let device: Device = serde_json::from_value(json!({"name": "d", "capacity": capacity})).unwrap();
            let requested = requested.map(list);
            let taken: Vec<ResourceList> = taken.into_iter().map(list).collect();
            assert_eq!(has_room(&device, requested.as_ref(), taken.iter()), want, "{capacity} {requested:?}");
        }
    }
}
