//! The API server's protobuf: lists that arrive in chunks of any size, and every kind of object.

use std::fmt::Debug;

use ds_doctor::model::daemon_set::{ControllerRevision, DaemonSet};
use ds_doctor::model::event::Event;
use ds_doctor::model::node::Node;
use ds_doctor::model::pod::Pod;
use ds_doctor::model::policy::*;
use ds_doctor::model::resource_claim::{DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice};
use ds_doctor::model::volume::*;
use ds_doctor::source::protobuf::{self, Items, ListMeta, Malformed, Status};
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read(body: &[u8], step: usize) -> Result<(Vec<Vec<u8>>, ListMeta), Malformed> {
    let mut items = Items::default();
    let mut found = Vec::new();
    for chunk in body.chunks(step.max(1)) {
        items.feed(chunk, &mut |bytes: &[u8]| {
            found.push(bytes.to_vec());
            Ok::<(), Malformed>(())
        })?;
    }
    Ok((found, items.finish()?))
}

/// What an object says, it says again after it was written; what it says in JSON can be read.
fn same<T: Message + Default + PartialEq + Debug + Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(object) = T::decode(bytes) else { return };
    let again = T::decode(object.encode_to_vec().as_slice()).unwrap();
    assert_eq!(object, again);
    let _: Result<T, _> = serde_json::from_value(serde_json::to_value(&object).unwrap());
}

/// Checks one input.
pub fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let step = usize::from(*first);
    let body = [b"k8s\0", rest].concat();
    let (whole, pieces) = (read(&body, body.len()), read(&body, step % 17));
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        (Err(_), Err(_)) => {}
        _ => panic!("{whole:?} {pieces:?}"),
    }
    let _ = protobuf::object::<Status>(&body);
    macro_rules! kinds { ($($i:literal $ty:ty),* $(,)?) => { match step % 29 { $($i => same::<$ty>(rest),)* _ => {} } } }
    kinds!(0 Node, 1 Pod, 2 DaemonSet, 3 ControllerRevision, 4 Event, 5 Namespace, 6 ServiceAccount, 7 PriorityClass, 8 RuntimeClass,
        9 LimitRange, 10 ResourceQuota, 11 PodDisruptionBudget, 12 PersistentVolumeClaim, 13 PersistentVolume, 14 StorageClass, 15 CSINode,
        16 CSIDriver, 17 CSIStorageCapacity, 18 VolumeAttachment, 19 ResourceClaim, 20 ResourceClaimTemplate, 21 DeviceClass,
        22 ResourceSlice, 23 DeviceTaintRule, 24 Lease, 25 ValidatingWebhookConfiguration, 26 MutatingWebhookConfiguration, 27 Service,
        28 EndpointSlice);
}
