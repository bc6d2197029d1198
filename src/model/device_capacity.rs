//! Devices that many claims share by capacity.
//!
//! Upstream: `CmpRequestOverCapacity` of `consumable_capacity.go` in
//! `k8s.io/dynamic-resource-allocation/structured/internal/incubating` (v0.37.2).

use super::node::ResourceList;
use super::quantity::Quantity;
use super::resource_claim::{Device, DeviceCapacity, RequestPolicy, RequestPolicyRange};

/// Whether a device has room for a request beside what is taken of it. `None` if an amount cannot
/// be represented in the arithmetic of its policy: upstream gives the whole allocation up there.
/// `fractions`: the feature `DRAFractionalCapacityRange`.
pub fn has_room<'a>(
    device: &Device,
    requested: Option<&ResourceList>,
    taken: impl Iterator<Item = &'a ResourceList> + Clone,
    fractions: bool,
) -> Option<bool> {
    if requested.is_some_and(|r| r.keys().any(|name| !device.capacity.contains_key(name))) {
        return Some(false);
    }
    let wanted = consumed(device, requested, fractions)?;
    let fits = device.capacity.iter().all(|(name, capacity)| {
        let Some(wanted) = wanted.get(name) else { return true };
        if capacity.request_policy.as_ref().is_some_and(|policy| violates(*wanted, policy, fractions)) {
            return false;
        }
        let used = taken.clone().filter_map(|list| list.get(name)).fold(*wanted, |sum, more| sum.plus(*more));
        used <= capacity.value
    });
    Some(fits)
}

/// What a request takes of a device: what it asks for, rounded up as the policy of each capacity
/// wants it, and the default or the whole of what it does not name.
pub fn consumed(device: &Device, requested: Option<&ResourceList>, fractions: bool) -> Option<ResourceList> {
    let amount = |name: &String| requested.and_then(|r| r.get(name)).copied();
    device.capacity.iter().map(|(name, capacity)| Some((name.clone(), taken_of(capacity, amount(name), fractions)?))).collect()
}

fn taken_of(capacity: &DeviceCapacity, requested: Option<Quantity>, fractions: bool) -> Option<Quantity> {
    let policy = capacity.request_policy.as_ref();
    let Some(requested) = requested else {
        return Some(policy.and_then(|p| p.default).unwrap_or(capacity.value));
    };
    let taken = match policy {
        Some(RequestPolicy { valid_range: Some(range @ RequestPolicyRange { min: Some(min), .. }), .. }) => {
            rounded_up(requested, *min, range, fractions)?
        }
        Some(policy) => policy.valid_values.iter().copied().find(|v| requested <= *v).unwrap_or(requested),
        None => requested,
    };
    (taken >= Quantity::default()).then_some(taken)
}

/// The next step of the range, counted from its least.
fn rounded_up(requested: Quantity, min: Quantity, range: &RequestPolicyRange, fractions: bool) -> Option<Quantity> {
    if requested < min {
        return Some(min);
    }
    let Some(step) = range.step else { return Some(requested) };
    let grain = Grain::of(range, fractions);
    if grain == Grain::Milli && requested.rounded_to_milli() != requested {
        return None;
    }
    let (least, step) = (grain.count(min), grain.count(step));
    if step <= 0 {
        return None;
    }
    let above = grain.count(requested) - least;
    let steps = above.div_euclid(step) + i128::from(above.rem_euclid(step) != 0);
    let count = i64::try_from(least + steps * step).ok()?;
    Some(match grain {
        Grain::Milli => Quantity::millis(count),
        Grain::Whole => Quantity::units(count, step_format(range)),
    })
}

fn step_format(range: &RequestPolicyRange) -> super::quantity::Format {
    range.step.unwrap_or_default().format()
}

/// In what a range counts.
#[derive(Clone, Copy, PartialEq)]
enum Grain {
    Whole,
    Milli,
}

impl Grain {
    fn of(range: &RequestPolicyRange, fractions: bool) -> Grain {
        let all = [range.min, range.max, range.step];
        let fits = all.iter().flatten().all(|q| q.rounded_to_milli() == *q);
        if fractions && fits { Grain::Milli } else { Grain::Whole }
    }

    fn count(self, q: Quantity) -> i128 {
        match self {
            Grain::Whole => q.value().into(),
            Grain::Milli => q.milli_value().into(),
        }
    }
}

/// True if the policy does not allow this amount.
fn violates(amount: Quantity, policy: &RequestPolicy, fractions: bool) -> bool {
    if policy.default == Some(amount) {
        return false;
    }
    let Some(range) = &policy.valid_range else {
        return !policy.valid_values.is_empty() && !policy.valid_values.contains(&amount);
    };
    if range.max.is_some_and(|max| amount > max) {
        return true;
    }
    let Some(step) = range.step else { return false };
    let grain = Grain::of(range, fractions);
    let (step, least) = (grain.count(step), grain.count(range.min.unwrap_or_default()));
    let between = grain == Grain::Milli && amount.rounded_to_milli() != amount;
    between || step <= 0 || (grain.count(amount) - least) % step != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn capacity_is_shared_out() {
        let list = |json| serde_json::from_value::<ResourceList>(json).unwrap();
        let memory = |policy| json!({"memory": {"value": "10Gi", "requestPolicy": policy}});
        let range = |step: &str| json!({"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": step}});
        let values = || json!({"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]});
        let share = |step: &str| json!({"share": {"value": "1", "requestPolicy": {"default": "100m", "validRange": {"min": "100m", "step": step}}}});
        for (capacity, requested, taken, fractions, want) in [
            (json!({}), None, vec![], true, Some(true)),
            (json!({"memory": {"value": "10Gi"}}), None, vec![], true, Some(true)),
            // Without a request the whole capacity is taken.
            (json!({"memory": {"value": "10Gi"}}), None, vec![json!({"memory": "1"})], true, Some(false)),
            (json!({"memory": {"value": "10Gi"}}), Some(json!({"memory": "4Gi"})), vec![json!({"memory": "6Gi"})], true, Some(true)),
            (
                json!({"memory": {"value": "10Gi"}}),
                Some(json!({"memory": "4Gi"})),
                vec![json!({"memory": "6Gi"}), json!({"memory": "1"})],
                true,
                Some(false),
            ),
            (json!({"memory": {"value": "10Gi"}}), Some(json!({"cores": "1"})), vec![], true, Some(false)),
            // The policy's default, steps, values and bounds.
            (memory(range("1Gi")), None, vec![json!({"memory": "9Gi"})], true, Some(true)),
            (memory(range("1Gi")), None, vec![json!({"memory": "10Gi"})], true, Some(false)),
            (memory(range("1Gi")), Some(json!({"memory": "1100Mi"})), vec![json!({"memory": "8Gi"})], true, Some(true)),
            (memory(range("1Gi")), Some(json!({"memory": "1100Mi"})), vec![json!({"memory": "9Gi"})], true, Some(false)),
            (memory(range("1Gi")), Some(json!({"memory": "1Mi"})), vec![json!({"memory": "9Gi"})], true, Some(true)),
            (memory(range("1Gi")), Some(json!({"memory": "9Gi"})), vec![], true, Some(false)),
            (memory(range("3Gi")), Some(json!({"memory": "7Gi"})), vec![], true, Some(true)),
            (memory(range("3Gi")), Some(json!({"memory": "8Gi"})), vec![], true, Some(false)),
            (memory(values()), Some(json!({"memory": "3Gi"})), vec![json!({"memory": "6Gi"})], true, Some(true)),
            (memory(values()), Some(json!({"memory": "3Gi"})), vec![json!({"memory": "7Gi"})], true, Some(false)),
            (memory(values()), Some(json!({"memory": "5Gi"})), vec![], true, Some(false)),
            (memory(json!({"default": "1Gi"})), Some(json!({"memory": "9Gi"})), vec![], true, Some(true)),
            // Parts of one: by thousandths from 1.37 on, before it in whole numbers.
            (share("100m"), Some(json!({"share": "250m"})), vec![json!({"share": "700m"})], true, Some(true)),
            (share("100m"), Some(json!({"share": "250m"})), vec![json!({"share": "800m"})], true, Some(false)),
            (share("100m"), Some(json!({"share": "250m"})), vec![json!({"share": "100m"})], false, Some(false)),
            (share("100m"), Some(json!({"share": "250u"})), vec![], true, Some(true)),
            (share("100m"), Some(json!({"share": "100250u"})), vec![], true, None),
        ] {
            let device: Device = serde_json::from_value(json!({"name": "d", "capacity": capacity})).unwrap();
            let requested = requested.map(list);
            let taken: Vec<ResourceList> = taken.into_iter().map(list).collect();
            assert_eq!(has_room(&device, requested.as_ref(), taken.iter(), fractions), want, "{capacity} {requested:?}");
        }
    }
}
