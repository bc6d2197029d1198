//! The pools of devices that a node can use.
//!
//! Upstream: `GatherPools` of `k8s.io/dynamic-resource-allocation/structured/internal` (the stable
//! allocator up to 1.35, the incubating one from 1.36 on; v0.34.3, v0.37.2).

use std::collections::{BTreeMap, HashSet};

use super::affinity::NodeSelector;
use super::node::Node;
use super::quantity::Quantity;
use super::resource_claim::{Device, ResourceSlice};
use super::selector::matches_node;
use super::version::Features;

/// A device's full name: driver, pool, device.
pub type DeviceId<'a> = (&'a str, &'a str, &'a str);

/// A pool as one node sees it.
#[derive(Debug, Default)]
pub struct Pool<'a> {
    /// The driver.
    pub driver: &'a str,
    /// The pool's name within the driver.
    pub name: &'a str,
    /// Some of its slices have not been published yet.
    pub incomplete: bool,
    /// Why it cannot be used at all.
    pub invalid: Option<String>,
    /// The devices of the slices that are for the node, in the order in which they are tried.
    pub devices: Vec<&'a Device>,
    /// Those of them, by index, that are on another node: their selectors are evaluated all the same.
    pub elsewhere: HashSet<usize>,
    /// All devices of the pool, on whatever node: they share the counters.
    pub all_devices: Vec<&'a Device>,
    /// The counters that its devices share, by set and counter.
    pub counters: BTreeMap<(&'a str, &'a str), Quantity>,
}

/// The pools of which the node can use devices, in the order in which they are tried.
pub fn gather<'a>(slices: &'a [ResourceSlice], node: &Node, features: &Features) -> Vec<Pool<'a>> {
    let partitions = features.dra_partitionable_devices;
    let usable = |s: &ResourceSlice| partitions || (s.spec.per_device_node_selection.is_none() && s.spec.shared_counters.is_empty());
    let mut relevant: BTreeMap<(&str, &str), Vec<&ResourceSlice>> = BTreeMap::new();
    for slice in slices.iter().filter(|s| usable(s) && !has_groups(s) && is_relevant(s, node)) {
        let of_pool = relevant.entry((&slice.spec.driver, &slice.spec.pool.name)).or_default();
        let newest = of_pool.first().map_or(i64::MIN, |s| s.spec.pool.generation);
        if slice.spec.pool.generation > newest {
            of_pool.clear();
        }
        if slice.spec.pool.generation >= newest {
            of_pool.push(slice);
        }
    }
    let mut pools: Vec<(bool, Pool)> = Vec::new();
    for ((driver, name), mut of_node) in relevant {
        let Some(first) = of_node.first() else { continue };
        let (generation, count) = (first.spec.pool.generation, first.spec.pool.resource_slice_count);
        let of_pool = |s: &&ResourceSlice| s.spec.driver == driver && s.spec.pool.name == name;
        let mut all: Vec<&ResourceSlice> = of_node.clone();
        if features.dra_partitionable_devices && of_node.len() as i64 != count {
            // Slices for other nodes count, too; newer ones there make these out of date.
            if slices.iter().filter(of_pool).any(|s| s.spec.pool.generation > generation) {
                continue;
            }
            all = slices.iter().filter(of_pool).filter(|s| s.spec.pool.generation == generation && !has_groups(s)).collect();
        }
        let mut pool = Pool { driver, name, incomplete: all.len() as i64 != count, ..Pool::default() };
        of_node.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        let devices = || of_node.iter().flat_map(|s| s.spec.devices.iter().map(move |d| (*s, d)));
        pool.devices = devices().map(|(_, d)| d).collect();
        pool.elsewhere = devices().enumerate().filter(|(_, (s, d))| !on_node(s, d, node)).map(|(i, _)| i).collect();
        pool.all_devices = all.iter().flat_map(|s| &s.spec.devices).collect();
        let counters = all.iter().flat_map(|s| &s.spec.shared_counters);
        pool.counters =
            counters.flat_map(|set| set.counters.iter().map(|(c, counter)| ((set.name.as_str(), c.as_str()), counter.value))).collect();
        if !pool.incomplete || !features.dra_partitionable_devices {
            pool.invalid = invalid(&pool, &of_node, &all);
        }
        // Of one that cannot be used the devices are not looked at.
        let usable = !features.dra_partitionable_devices || !pool.incomplete && pool.invalid.is_none();
        pools.push((usable && pool.devices.iter().any(|d| !d.binding_conditions.is_empty()), pool));
    }
    // Pools whose devices have binding conditions come last.
    pools.sort_by_key(|(conditions, _)| *conditions);
    pools.into_iter().map(|(_, pool)| pool).collect()
}

/// Compatibility groups are an alpha feature: without it such slices are left out.
fn has_groups(slice: &ResourceSlice) -> bool {
    slice.spec.devices.iter().flat_map(|d| &d.consumes_counters).any(|c| !c.compatibility_groups.is_empty())
}

fn is_relevant(slice: &ResourceSlice, node: &Node) -> bool {
    let spec = &slice.spec;
    let name = spec.node_name.as_deref().unwrap_or_default();
    if !name.is_empty() || spec.all_nodes == Some(true) || spec.node_selector.is_some() {
        return reaches(name, spec.all_nodes, spec.node_selector.as_ref(), node);
    }
    spec.per_device_node_selection == Some(true) && spec.devices.iter().any(|d| on_node(slice, d, node))
}

fn on_node(slice: &ResourceSlice, device: &Device, node: &Node) -> bool {
    slice.spec.per_device_node_selection != Some(true)
        || reaches(device.node_name.as_deref().unwrap_or_default(), device.all_nodes, device.node_selector.as_ref(), node)
}

fn reaches(name: &str, all: Option<bool>, selector: Option<&NodeSelector>, node: &Node) -> bool {
    if name.is_empty() { all == Some(true) || selector.is_some_and(|s| matches_node(s, node)) } else { name == node.name() }
}

fn invalid(pool: &Pool, of_node: &[&ResourceSlice], all: &[&ResourceSlice]) -> Option<String> {
    let mut names: Vec<&str> = of_node.iter().flat_map(|s| &s.spec.devices).map(|d| d.name.as_str()).collect();
    names.sort_unstable();
    if let Some([name, _]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Some(format!("duplicate device name {name}"));
    }
    let mut sets: Vec<&str> = all.iter().flat_map(|s| &s.spec.shared_counters).map(|c| c.name.as_str()).collect();
    sets.sort_unstable();
    if let Some([name, _]) = sets.windows(2).find(|pair| pair[0] == pair[1]) {
        return Some(format!("duplicate counter set name {name}"));
    }
    if sets.is_empty() && pool.all_devices.iter().all(|d| d.consumes_counters.is_empty()) {
        return None;
    }
    pool.all_devices.iter().flat_map(|d| &d.consumes_counters).find_map(|c| {
        if !sets.contains(&c.counter_set.as_str()) {
            return Some(format!("counter set {} not found", c.counter_set));
        }
        let missing = c.counters.keys().find(|name| !pool.counters.contains_key(&(c.counter_set.as_str(), name.as_str())));
        missing.map(|name| format!("counter {name} not found in counter set {}", c.counter_set))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::version::ServerVersion;
    use serde_json::json;

    #[test]
    fn pools_come_in_the_order_in_which_they_are_tried() {
        let slice = |name: &str, node: Option<&str>, devices: serde_json::Value| -> ResourceSlice {
            let spec = json!({"driver": "d", "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "nodeName": node,
                "perDeviceNodeSelection": node.is_none().then_some(true), "devices": devices});
            serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec})).unwrap()
        };
        let slices = [
            slice("c", Some("n1"), json!([{"name": "x"}])),
            slice("a", Some("n1"), json!([{"name": "x", "bindingConditions": ["ready"]}])),
            // A condition of a device on another node counts, too.
            slice("b", None, json!([{"name": "x", "nodeName": "n1"}, {"name": "y", "nodeName": "n2", "bindingConditions": ["ready"]}])),
            slice("d", None, json!([{"name": "x", "nodeName": "n2"}, {"name": "y", "nodeName": "n1"}])),
            slice("e", Some("n2"), json!([{"name": "x"}])),
            // Neither a name twice nor a slice that is missing is usable, whatever the devices have.
            slice("aa", Some("n1"), json!([{"name": "x", "bindingConditions": ["ready"]}, {"name": "x"}])),
            {
                let mut incomplete = slice("ab", Some("n1"), json!([{"name": "x", "bindingConditions": ["ready"]}]));
                incomplete.spec.pool.resource_slice_count = 2;
                incomplete
            },
        ];
        let node: Node = serde_json::from_value(json!({"metadata": {"name": "n1"}})).unwrap();
        let pools = gather(&slices, &node, &ServerVersion { major: 1, minor: 37 }.features());
        let got: Vec<_> = pools.iter().map(|p| (p.name, p.devices.len(), p.elsewhere.iter().copied().collect::<Vec<_>>())).collect();
        assert_eq!(got, [("aa", 2, vec![]), ("ab", 1, vec![]), ("c", 1, vec![]), ("d", 2, vec![0]), ("a", 1, vec![]), ("b", 2, vec![1])]);
    }
}
