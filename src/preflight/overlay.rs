//! The cluster as it would be with what else the files of a manifest hold: a ServiceAccount or
//! PriorityClass that comes with the DaemonSet is no missing one.

use crate::model::object::Object;
use crate::model::policy::{Namespace, ServiceAccount};
use crate::model::snapshot::{Listed, Objects, Snapshot};

/// Puts these objects into the snapshot, each in the place of one of its name.
pub fn apply(snapshot: &mut Snapshot, objects: &Objects) {
    for namespace in &objects.namespaces.items {
        add_namespace(snapshot, namespace);
    }
    accounts(snapshot, &objects.service_accounts.items);
    let there = &mut snapshot.objects;
    put(&mut there.priority_classes, &objects.priority_classes.items);
    put(&mut there.runtime_classes, &objects.runtime_classes.items);
    put(&mut there.limit_ranges, &objects.limit_ranges.items);
    put(&mut there.persistent_volume_claims, &objects.persistent_volume_claims.items);
    put(&mut there.persistent_volumes, &objects.persistent_volumes.items);
    put(&mut there.storage_classes, &objects.storage_classes.items);
    put(&mut there.resource_claim_templates, &objects.resource_claim_templates.items);
    put(&mut there.device_classes, &objects.device_classes.items);
    for quota in &objects.resource_quotas.items {
        let mut quota = quota.clone();
        quota.status.hard = quota.spec.hard.clone();
        let same = |q: &&crate::model::policy::ResourceQuota| q.metadata.full_name() == quota.metadata.full_name();
        if let Some(known) = there.resource_quotas.items.iter().find(same) {
            quota.status.used = known.status.used.clone();
        }
        put(&mut there.resource_quotas, &[quota]);
    }
}

fn put<T: Object + Clone>(list: &mut Listed<T>, objects: &[T]) {
    for object in objects {
        let (name, namespace) = (&object.meta().name, &object.meta().namespace);
        match list.items.iter_mut().find(|o| o.meta().name == *name && o.meta().namespace == *namespace) {
            Some(known) => *known = object.clone(),
            None => list.items.push(object.clone()),
        }
    }
}

/// Labels that are there and not in the file stay, as with `kubectl apply`.
fn add_namespace(snapshot: &mut Snapshot, namespace: &Namespace) {
    let known = snapshot.objects.namespaces.items.iter_mut().find(|n| n.metadata.name == namespace.metadata.name);
    if let Some(known) = known {
        known.metadata.labels.extend(namespace.metadata.labels.iter().map(|(k, v)| (k.clone(), v.clone())));
        known.metadata.annotations.extend(namespace.metadata.annotations.iter().map(|(k, v)| (k.clone(), v.clone())));
        return;
    }
    // Every namespace is given the account `default`.
    let default = serde_json::json!({"metadata": {"name": "default", "namespace": namespace.metadata.name}});
    let fresh = !(snapshot.from_files && snapshot.namespaces.is_empty());
    if let Some(account) = serde_json::from_value(default).ok().filter(|_| fresh) {
        put::<ServiceAccount>(&mut snapshot.objects.service_accounts, &[account]);
    }
    snapshot.objects.namespaces.items.push(namespace.clone());
}

/// Accounts are added only to those of a namespace whose accounts are known: one alone would make
/// the others look missing.
fn accounts(snapshot: &mut Snapshot, accounts: &[ServiceAccount]) {
    for account in accounts {
        let namespace = &account.metadata.namespace;
        let known = snapshot.service_accounts.iter().any(|a| a.metadata.namespace == *namespace);
        if known || (!snapshot.from_files && snapshot.service_accounts.is_complete()) {
            put(&mut snapshot.objects.service_accounts, std::slice::from_ref(account));
        }
    }
}
