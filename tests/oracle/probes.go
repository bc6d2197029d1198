package main

import (
	"encoding/json"
	"io"
)

// probe is a small named cluster: the DaemonSet default/d, its nodes and whatever else the behaviour needs.
type probe struct {
	id      string
	objects []m
}

func probesMain(out io.Writer) error {
	for _, p := range probes() {
		c := Case{ID: p.id, DaemonSet: "default/d"}
		for _, o := range p.objects {
			b, err := marshal(o)
			if err != nil {
				return err
			}
			c.Objects = append(c.Objects, json.RawMessage(b))
		}
		b, err := marshal(&c)
		if err != nil {
			return err
		}
		out.Write(append(b, '\n'))
	}
	return nil
}

// mods change a fresh object tree.
type mod func(m)

// set puts a value at a path of keys and indexes, making maps on the way.
func set(v any, path ...any) mod {
	return func(o m) {
		var at any = o
		for i, k := range path {
			last := i == len(path)-1
			switch k := k.(type) {
			case string:
				mm := at.(m)
				if last {
					mm[k] = v
					return
				}
				if mm[k] == nil {
					mm[k] = m{}
				}
				at = mm[k]
			case int:
				ll := at.(l)
				if last {
					ll[k] = v
					return
				}
				at = ll[k]
			}
		}
	}
}

func spec(v any, path ...any) mod {
	return set(v, append([]any{"spec", "template", "spec"}, path...)...)
}

func ds(mods ...mod) m {
	o := m{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": m{"name": "d", "namespace": "default", "uid": "uid-ds", "generation": 1},
		"spec": m{"selector": m{"matchLabels": m{"app": "d"}}, "template": m{"metadata": m{"labels": m{"app": "d"}}, "spec": m{"containers": l{m{"name": "c", "image": "i"}}}}}}
	for _, f := range mods {
		f(o)
	}
	return o
}

func node(name string, mods ...mod) m {
	o := m{"apiVersion": "v1", "kind": "Node", "metadata": m{"name": name, "labels": m{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
		"status": m{"allocatable": m{"cpu": "2", "memory": "4Gi", "pods": "110", "ephemeral-storage": "10Gi"}}}
	for _, f := range mods {
		f(o)
	}
	return o
}

func zone(z string) mod     { return label("topology.kubernetes.io/zone", z) }
func label(k, v string) mod { return set(v, "metadata", "labels", k) }

func pod(name, nodeName string, mods ...mod) m {
	o := m{"apiVersion": "v1", "kind": "Pod", "metadata": m{"name": name, "namespace": "default", "uid": "uid-" + name, "labels": m{"app": name}},
		"spec": m{"containers": l{m{"name": "c", "image": "i"}}, "priority": 0}, "status": m{"phase": "Running", "startTime": "2026-01-05T08:00:00Z"}}
	if nodeName != "" {
		o["spec"].(m)["nodeName"] = nodeName
	} else {
		o["status"] = m{"phase": "Pending"}
	}
	for _, f := range mods {
		f(o)
	}
	return o
}

// own makes a pod one of the DaemonSet's; without a node it waits for the node it is pinned to.
func own(pinned string) mod {
	return func(o m) {
		set(l{m{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "uid-ds", "controller": true, "blockOwnerDeletion": true}}, "metadata", "ownerReferences")(o)
		set("d", "metadata", "labels", "app")(o)
		pin(o["spec"].(m), pinned)
	}
}

func cpu(q string) mod   { return set(m{"requests": m{"cpu": q}}, "spec", "containers", 0, "resources") }
func dsCPU(q string) mod { return spec(m{"requests": m{"cpu": q}}, "containers", 0, "resources") }
func withPriority(class string, value int) mod {
	return func(o m) { set(class, "spec", "priorityClassName")(o); set(value, "spec", "priority")(o) }
}
func started(t string) mod { return set("2026-01-05T"+t+":00Z", "status", "startTime") }
func withLabels(kv m) mod  { return set(kv, "metadata", "labels") }
func terminating(o m)      { set("2026-01-05T11:59:00Z", "metadata", "deletionTimestamp")(o) }

func priorityClass(name string, value int) m {
	return m{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": m{"name": name}, "value": value}
}

func claimVolume(names ...string) l {
	var vs l
	for _, n := range names {
		vs = append(vs, m{"name": "v-" + n, "persistentVolumeClaim": m{"claimName": n}})
	}
	return vs
}

func pvc(name, class, volume string, mods ...mod) m {
	o := m{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": m{"name": name, "namespace": "default", "uid": "uid-" + name},
		"spec": m{"accessModes": l{"ReadWriteOnce"}, "storageClassName": class, "resources": m{"requests": m{"storage": "5Gi"}}}, "status": m{"phase": "Pending"}}
	if volume != "" {
		o["spec"].(m)["volumeName"] = volume
		o["metadata"].(m)["annotations"] = m{"pv.kubernetes.io/bind-completed": "yes"}
		o["status"] = m{"phase": "Bound"}
	}
	for _, f := range mods {
		f(o)
	}
	return o
}

func pv(name, class string, source m, mods ...mod) m {
	o := m{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": m{"name": name, "uid": "uid-" + name, "labels": m{}},
		"spec": m{"accessModes": l{"ReadWriteOnce"}, "storageClassName": class, "capacity": m{"storage": "10Gi"}}, "status": m{"phase": "Available"}}
	for k, v := range source {
		o["spec"].(m)[k] = v
	}
	for _, f := range mods {
		f(o)
	}
	return o
}

func csiSource(handle string) m {
	return m{"csi": m{"driver": "ebs.csi.aws.com", "volumeHandle": handle}}
}

func onNodes(names ...string) mod {
	return set(m{"required": m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": "kubernetes.io/hostname", "operator": "In", "values": toL(names)}}}}}}, "spec", "nodeAffinity")
}

func storageClass(name, provisioner, mode string, mods ...mod) m {
	o := m{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": m{"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
	for _, f := range mods {
		f(o)
	}
	return o
}

func csiNode(name, migrated string, limits m) m {
	drivers := l{}
	for _, d := range []string{"ebs.csi.aws.com", "cap.example.com"} {
		if n, ok := limits[d]; ok {
			drivers = append(drivers, m{"name": d, "nodeID": name, "topologyKeys": l{}, "allocatable": m{"count": n}})
		}
	}
	o := m{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": m{"name": name}, "spec": m{"drivers": drivers}}
	if migrated != "" {
		o["metadata"].(m)["annotations"] = m{migratedAnnotation: migrated}
	}
	return o
}

func attachment(name, nodeName, volume string) m {
	return m{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": m{"name": name}, "spec": m{"attacher": "ebs.csi.aws.com", "nodeName": nodeName, "source": m{"persistentVolumeName": volume}}}
}

func affinity(kind string, terms ...m) m {
	return m{kind: m{"requiredDuringSchedulingIgnoredDuringExecution": toL(terms)}}
}

func term(key string, matchLabels m, more ...mod) m {
	t := m{"topologyKey": key, "labelSelector": m{"matchLabels": matchLabels}}
	for _, f := range more {
		f(t)
	}
	return t
}

func namespace(name string, labels m) m {
	return m{"apiVersion": "v1", "kind": "Namespace", "metadata": m{"name": name, "labels": labels}}
}

func constraint(skew int, key string, matchLabels m, more ...mod) m {
	c := m{"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "nodeAffinityPolicy": "Ignore", "labelSelector": m{"matchLabels": matchLabels}}
	for _, f := range more {
		f(c)
	}
	return c
}

func pdb(name string, matchLabels m, allowed int, mods ...mod) m {
	o := m{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": m{"name": name, "namespace": "default"}, "spec": m{"maxUnavailable": 1, "selector": m{"matchLabels": matchLabels}},
		"status": m{"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}
	for _, f := range mods {
		f(o)
	}
	return o
}

const (
	host   = "kubernetes.io/hostname"
	zoneAt = "topology.kubernetes.io/zone"
)

func probes() []probe {
	var ps []probe
	add := func(id string, objects ...any) {
		p := probe{id: id}
		for _, o := range objects {
			switch o := o.(type) {
			case m:
				p.objects = append(p.objects, o)
			case []m:
				p.objects = append(p.objects, o...)
			}
		}
		ps = append(ps, p)
	}
	volumeProbes(add)
	podProbes(add)
	preemptionProbes(add)
	resourceProbes(add)
	deviceProbes(add)
	secondReading(add)
	return ps
}

func volumeProbes(add func(string, ...any)) {
	data := ds(spec(claimVolume("data"), "volumes"))
	ebs := func(handle string) m { return m{"awsElasticBlockStore": m{"volumeID": handle}} }
	immediate := storageClass("now", "ebs.csi.aws.com", "Immediate")
	late := storageClass("late", "ebs.csi.aws.com", "WaitForFirstConsumer")
	local := storageClass("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer")
	beta := "failure-domain.beta.kubernetes.io/"

	add("zone-volume-has-region-node-has-not", data, node("n1", zone("a")), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(zoneAt, "a"), label("topology.kubernetes.io/region", "r")))
	add("zone-volume-ga-node-beta", data, node("n1", label(beta+"zone", "a")), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(zoneAt, "a")))
	add("zone-volume-beta-node-ga", data, node("n1", zone("a")), node("n2", zone("b")), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(beta+"zone", "a")))
	add("zone-several-values", data, node("n1", zone("a")), node("n2", zone("b")), node("n3", zone("c")), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(zoneAt, "a__b")))
	add("zone-value-badly-joined", data, node("n1", zone("a")), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(zoneAt, "a__")))
	add("zone-node-without-zones", data, node("n1"), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(zoneAt, "a")))
	add("zone-node-with-region-only", data, node("n1", label("topology.kubernetes.io/region", "r")), pvc("data", "now", "pv"), immediate, pv("pv", "now", csiSource("h"), label(zoneAt, "a")))

	bound := pvc("data", "now", "pv")
	used := func(volumes l) m { return pod("user", "n1", set(volumes, "spec", "volumes")) }
	add("limit-attachment-counts", data, node("n1"), bound, immediate, pv("pv", "now", csiSource("h1")), pv("other", "now", csiSource("h2")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), attachment("va", "n1", "other"))
	add("limit-attachment-of-other-node", data, node("n1"), node("n2"), bound, immediate, pv("pv", "now", csiSource("h1")), pv("other", "now", csiSource("h2")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), csiNode("n2", "", m{"ebs.csi.aws.com": 1}), attachment("va", "n2", "other"))
	add("limit-own-volume-already-attached", data, node("n1"), bound, immediate, pv("pv", "now", csiSource("h1")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), attachment("va", "n1", "pv"))
	add("limit-volume-shared-with-pod", data, node("n1"), bound, immediate, pv("pv", "now", csiSource("h1")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), used(claimVolume("data")))
	add("limit-two-claims-one-volume", ds(spec(claimVolume("data", "data2"), "volumes")), node("n1"), bound, pvc("data2", "now", "pv2"), immediate, pv("pv", "now", csiSource("h1")), pv("pv2", "now", csiSource("h1")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}))
	add("limit-migrated-counts", data, node("n1"), bound, immediate, pv("pv", "now", ebs("vol-1")), csiNode("n1", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 0}))
	add("limit-not-migrated-does-not-count", data, node("n1"), bound, immediate, pv("pv", "now", ebs("vol-1")), csiNode("n1", "", m{"ebs.csi.aws.com": 0}))
	add("limit-migrated-same-as-csi", data, node("n1"), bound, immediate, pv("pv", "now", ebs("vol-1")), pvc("c2", "now", "pv2"), pv("pv2", "now", csiSource("vol-1")), csiNode("n1", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 1}), used(claimVolume("c2")))
	add("limit-migrated-inline", ds(spec(l{m{"name": "v", "awsElasticBlockStore": m{"volumeID": "vol-9"}}}, "volumes")), node("n1"), csiNode("n1", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 0}))
	add("limit-pending-claim-counts-by-class", data, node("n1"), pvc("data", "late", ""), late, csiNode("n1", "", m{"ebs.csi.aws.com": 0}))
	add("limit-pending-claim-of-other-pod", data, node("n1"), bound, immediate, late, pv("pv", "now", csiSource("h1")), pvc("c2", "late", ""), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), used(claimVolume("c2")))
	add("limit-volume-gone-counts-by-class", data, node("n1"), bound, immediate, csiNode("n1", "", m{"ebs.csi.aws.com": 0}))
	add("limit-class-gone-does-not-count", data, node("n1"), pvc("data", "gone", "pv"), csiNode("n1", "", m{"ebs.csi.aws.com": 0}))
	add("limit-unbound-migrated-class", data, node("n1"), pvc("data", "old", ""), storageClass("old", "kubernetes.io/aws-ebs", "WaitForFirstConsumer"), csiNode("n1", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 0}))
	add("limit-no-csinode", data, node("n1"), bound, immediate, pv("pv", "now", csiSource("h1")))
	driver := m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": m{"name": "ebs.csi.aws.com"}, "spec": m{"preventPodSchedulingIfMissing": true}}
	add("driver-wanted-and-missing", data, node("n1"), bound, immediate, driver, pv("pv", "now", csiSource("h1")), csiNode("n1", "", m{}))
	add("driver-wanted-and-no-csinode", data, node("n1"), bound, immediate, driver, pv("pv", "now", csiSource("h1")))
	add("driver-wanted-and-there", data, node("n1"), bound, immediate, driver, pv("pv", "now", csiSource("h1")), csiNode("n1", "", m{"ebs.csi.aws.com": 5}))

	eph := ds(spec(l{m{"name": "v", "ephemeral": m{"volumeClaimTemplate": m{"spec": m{"accessModes": l{"ReadWriteOnce"}, "storageClassName": "late", "resources": m{"requests": m{"storage": "1Gi"}}}}}}}, "volumes"))
	waiting := pod("d-abcde", "", own("n1"))
	owned := set(l{m{"apiVersion": "v1", "kind": "Pod", "name": "d-abcde", "uid": "uid-d-abcde", "controller": true}}, "metadata", "ownerReferences")
	add("ephemeral-claim-missing", eph, node("n1"), waiting, late)
	add("ephemeral-claim-not-the-pods", eph, node("n1"), waiting, late, pvc("d-abcde-v", "late", ""))
	add("ephemeral-claim-late", eph, node("n1"), waiting, late, pvc("d-abcde-v", "late", "", owned))
	add("ephemeral-claim-immediate-unbound", eph, node("n1"), waiting, immediate, pvc("d-abcde-v", "now", "", owned))

	free := func(name string, size string, mods ...mod) m {
		return pv(name, "local", m{"local": m{"path": "/d"}}, append([]mod{set(size, "spec", "capacity", "storage"), onNodes("n1")}, mods...)...)
	}
	lateLocal := pvc("data", "local", "")
	add("late-local-fits", data, node("n1"), node("n2"), lateLocal, local, free("pv", "10Gi"))
	add("late-local-too-small", data, node("n1"), lateLocal, local, free("pv", "1Gi"))
	add("late-local-two-claims-one-volume", ds(spec(claimVolume("data", "data2"), "volumes")), node("n1"), lateLocal, pvc("data2", "local", ""), local, free("pv", "10Gi"))
	add("late-local-two-claims-two-volumes", ds(spec(claimVolume("data", "data2"), "volumes")), node("n1"), set2(pvc("data", "local", ""), "8Gi"), pvc("data2", "local", ""), local, free("pv1", "5Gi"), free("pv2", "10Gi"))
	add("late-local-promised-to-it", data, node("n1"), lateLocal, local, free("pv", "10Gi", set(m{"namespace": "default", "name": "data"}, "spec", "claimRef")))
	add("late-local-promised-to-it-elsewhere", data, node("n1"), node("n2"), lateLocal, local, free("pv", "10Gi"), pv("pv2", "local", m{"local": m{"path": "/d"}}, onNodes("n2"), set(m{"namespace": "default", "name": "data"}, "spec", "claimRef")))
	add("late-local-promised-to-another", data, node("n1"), lateLocal, local, free("pv", "10Gi", set(m{"namespace": "default", "name": "other"}, "spec", "claimRef")))
	add("late-local-block", data, node("n1"), lateLocal, local, free("pv", "10Gi", set("Block", "spec", "volumeMode")))
	add("late-local-mode", data, node("n1"), lateLocal, local, free("pv", "10Gi", set(l{"ReadWriteMany"}, "spec", "accessModes")))
	add("late-local-going", data, node("n1"), lateLocal, local, free("pv", "10Gi", terminating))
	add("late-local-released", data, node("n1"), lateLocal, local, free("pv", "10Gi", set("Released", "status", "phase")))
	add("late-local-selector", data, node("n1"), set3(pvc("data", "local", ""), m{"matchLabels": m{"k": "v"}}), local, free("pv", "10Gi"), free("pv2", "10Gi", label("k", "v")))
	add("late-local-selector-no-match", data, node("n1"), set3(pvc("data", "local", ""), m{"matchLabels": m{"k": "v"}}), local, free("pv", "10Gi"))
	add("late-chosen-for-another-node", data, node("n1"), node("n2"), pvc("data", "late", "", set("n2", "metadata", "annotations", "volume.kubernetes.io/selected-node")), late)
	add("late-chosen-for-gone-node", data, node("n1"), pvc("data", "late", "", set("gone", "metadata", "annotations", "volume.kubernetes.io/selected-node")), late)
	topologies := func(values ...string) mod {
		return set(l{m{"matchLabelExpressions": l{m{"key": zoneAt, "values": toL(values)}}}}, "allowedTopologies")
	}
	add("late-topology", data, node("n1", zone("a")), node("n2", zone("b")), node("n3"), pvc("data", "late", ""), storageClass("late", "ebs.csi.aws.com", "WaitForFirstConsumer", topologies("a")))
	add("late-class-gone", data, node("n1"), pvc("data", "gone", ""))
	add("immediate-unbound-with-late", ds(spec(claimVolume("data", "data2"), "volumes")), node("n1"), pvc("data", "now", ""), pvc("data2", "late", ""), immediate, late)
	add("bound-without-annotation", data, node("n1"), pvc("data", "now", "pv", set(m{}, "metadata", "annotations")), immediate, pv("pv", "now", csiSource("h")))
	add("bound-late-without-annotation", data, node("n1"), pvc("data", "late", "pv", set(m{}, "metadata", "annotations")), late, pv("pv", "late", csiSource("h")))
	add("bound-volume-gone", data, node("n1"), bound, immediate)
	add("bound-volume-gone-claim-lost", data, node("n1"), pvc("data", "now", "pv", set("Lost", "status", "phase")), immediate)
	add("bound-elsewhere", data, node("n1"), node("n2"), bound, immediate, pv("pv", "now", csiSource("h"), onNodes("n2")))
	add("bound-claim-going", data, node("n1"), pvc("data", "now", "pv", terminating), immediate, pv("pv", "now", csiSource("h")))
	add("bound-migrated-zone", data, node("n1", zone("eu-west-1a"), label("topology.ebs.csi.aws.com/zone", "eu-west-1a")), node("n2", zone("eu-west-1b"), label("topology.ebs.csi.aws.com/zone", "eu-west-1b")), bound, immediate,
		pv("pv", "now", ebs("aws://eu-west-1a/vol-1"), label(zoneAt, "eu-west-1a"), set(m{"required": m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": zoneAt, "operator": "In", "values": l{"eu-west-1a"}}}}}}}, "spec", "nodeAffinity")),
		csiNode("n1", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 5}), csiNode("n2", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 5}))
	measured := storageClass("measured", "cap.example.com", "WaitForFirstConsumer")
	capDriver := m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": m{"name": "cap.example.com"}, "spec": m{"storageCapacity": true}}
	capacity := func(class string, more m) m {
		o := m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": m{"name": "cap", "namespace": "kube-system"}, "storageClassName": class, "nodeTopology": m{"matchLabels": m{host: "n1"}}}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	want := pvc("data", "measured", "")
	add("capacity-enough", data, node("n1"), node("n2"), want, measured, capDriver, capacity("measured", m{"capacity": "5Gi"}))
	add("capacity-too-little", data, node("n1"), want, measured, capDriver, capacity("measured", m{"capacity": "4Gi"}))
	add("capacity-largest-volume", data, node("n1"), want, measured, capDriver, capacity("measured", m{"capacity": "100Gi", "maximumVolumeSize": "4Gi"}))
	add("capacity-unknown", data, node("n1"), want, measured, capDriver, capacity("measured", nil))
	add("capacity-everywhere", data, node("n1"), want, measured, capDriver, capacity("measured", m{"capacity": "5Gi", "nodeTopology": m{}}))
	add("capacity-no-topology", data, node("n1"), want, measured, capDriver, capacity("measured", m{"capacity": "5Gi", "nodeTopology": nil}))
	add("capacity-other-class", data, node("n1"), want, measured, capDriver, capacity("other", m{"capacity": "5Gi"}))
	add("capacity-driver-does-not-publish", data, node("n1"), want, measured, capacity("measured", m{"capacity": "1Gi"}))

	rwop := set(l{"ReadWriteOncePod"}, "spec", "accessModes")
	alone := []m{pvc("data", "now", "pv", rwop), immediate, pv("pv", "now", csiSource("h"), rwop)}
	add("alone-unused", data, node("n1"), node("n2"), alone)
	add("alone-used-on-other-node", data, node("n1"), node("n2"), alone, used(claimVolume("data")))
	add("alone-used-by-lower-priority", ds(spec(claimVolume("data"), "volumes"), spec("high", "priorityClassName")), priorityClass("high", 1000), node("n1"), node("n2"), alone, used(claimVolume("data")))
	add("alone-used-by-own-pod", data, node("n1"), node("n2"), alone, pod("d-1", "n1", own("n1"), set(claimVolume("data"), "spec", "volumes")))
	add("alone-used-by-finished-pod", data, node("n1"), alone, pod("user", "n1", set(claimVolume("data"), "spec", "volumes"), set("Succeeded", "status", "phase")))
	add("alone-same-name-other-namespace", data, node("n1"), alone, pod("user", "n1", set(claimVolume("data"), "spec", "volumes"), set("other", "metadata", "namespace")))
	disk := func(kind string, v m) l { return l{m{"name": "v", kind: v}} }
	for _, c := range []struct {
		id, kind  string
		mine, his m
	}{
		{"gce-both-read-only", "gcePersistentDisk", m{"pdName": "d", "readOnly": true}, m{"pdName": "d", "readOnly": true}},
		{"gce-one-writes", "gcePersistentDisk", m{"pdName": "d", "readOnly": true}, m{"pdName": "d"}},
		{"aws-both-read-only", "awsElasticBlockStore", m{"volumeID": "v", "readOnly": true}, m{"volumeID": "v", "readOnly": true}},
		{"iscsi-other-lun", "iscsi", m{"targetPortal": "p", "iqn": "iqn.2026-01.x:a", "lun": 0}, m{"targetPortal": "q", "iqn": "iqn.2026-01.x:a", "lun": 1}},
		{"iscsi-both-read-only", "iscsi", m{"targetPortal": "p", "iqn": "iqn.2026-01.x:a", "lun": 0, "readOnly": true}, m{"targetPortal": "p", "iqn": "iqn.2026-01.x:a", "lun": 0, "readOnly": true}},
		{"rbd-one-monitor-in-common", "rbd", m{"monitors": l{"a", "b"}, "image": "i"}, m{"monitors": l{"b", "c"}, "image": "i"}},
		{"rbd-no-monitor-in-common", "rbd", m{"monitors": l{"a"}, "image": "i"}, m{"monitors": l{"b"}, "image": "i"}},
		{"rbd-other-pool", "rbd", m{"monitors": l{"a"}, "image": "i", "pool": "p"}, m{"monitors": l{"a"}, "image": "i"}},
		{"rbd-both-read-only", "rbd", m{"monitors": l{"a"}, "image": "i", "readOnly": true}, m{"monitors": l{"a"}, "image": "i", "readOnly": true}},
	} {
		add("disk-"+c.id, ds(spec(disk(c.kind, c.mine), "volumes")), node("n1"), node("n2"), used(disk(c.kind, c.his)))
	}
}

func set2(claim m, size string) m {
	set(size, "spec", "resources", "requests", "storage")(claim)
	return claim
}

func set3(claim, selector m) m {
	set(selector, "spec", "selector")(claim)
	return claim
}

func podProbes(add func(string, ...any)) {
	nodes := []m{node("n1", zone("a")), node("n2", zone("a")), node("n3", zone("b"))}
	anti := func(terms ...m) mod { return set(affinity("podAntiAffinity", terms...), "spec", "affinity") }
	dsAff := func(kind string, terms ...m) mod { return spec(affinity(kind, terms...), "affinity") }
	web := m{"app": "web"}

	add("affinity-both-terms-by-one-pod", ds(dsAff("podAffinity", term(host, web), term(zoneAt, m{"tier": "front"}))), nodes, pod("web", "n1", withLabels(m{"app": "web", "tier": "front"})))
	add("affinity-terms-by-two-pods", ds(dsAff("podAffinity", term(host, web), term(zoneAt, m{"tier": "front"}))), nodes, pod("web", "n1"), pod("x", "n1", withLabels(m{"tier": "front"})))
	add("affinity-first-pod", ds(dsAff("podAffinity", term(zoneAt, m{"app": "d"}))), nodes, node("n4"))
	add("affinity-first-pod-two-terms", ds(dsAff("podAffinity", term(zoneAt, m{"app": "d"}), term(host, web))), nodes)
	add("affinity-own-elsewhere", ds(dsAff("podAffinity", term(zoneAt, m{"app": "d"}))), nodes, pod("d-1", "n1", own("n1")))
	add("affinity-other-namespace", ds(dsAff("podAffinity", term(zoneAt, web))), nodes, pod("web", "n1", set("other", "metadata", "namespace")))
	add("affinity-every-namespace", ds(dsAff("podAffinity", term(zoneAt, web, set(m{}, "namespaceSelector")))), nodes, namespace("other", m{"team": "x"}), pod("web", "n1", set("other", "metadata", "namespace")))
	add("affinity-every-namespace-unknown-one", ds(dsAff("podAffinity", term(zoneAt, web, set(m{}, "namespaceSelector")))), nodes, pod("web", "n1", set("other", "metadata", "namespace")))
	add("affinity-namespaces-or-selector", ds(dsAff("podAffinity", term(zoneAt, web, set(l{"third"}, "namespaces"), set(m{"matchLabels": m{"team": "x"}}, "namespaceSelector")))), nodes, namespace("other", m{"team": "x"}), namespace("third", m{}), pod("web", "n3", set("third", "metadata", "namespace")), pod("web2", "n1", withLabels(web), set("other", "metadata", "namespace")))
	add("affinity-no-selector", ds(dsAff("podAffinity", m{"topologyKey": host})), nodes, pod("web", "n1"))
	add("affinity-empty-selector", ds(dsAff("podAffinity", m{"topologyKey": host, "labelSelector": m{}})), nodes, pod("web", "n1"))
	add("affinity-terminating-pod-counts", ds(dsAff("podAffinity", term(host, web))), nodes, pod("web", "n1", terminating))
	add("affinity-finished-pod-does-not", ds(dsAff("podAffinity", term(host, web))), nodes, pod("web", "n1", set("Succeeded", "status", "phase")))
	add("anti-any-term", ds(dsAff("podAntiAffinity", term(host, web), term(zoneAt, m{"app": "db"}))), nodes, pod("web", "n1"), pod("db", "n3"))
	add("anti-missing-key", ds(dsAff("podAntiAffinity", term("rack", web))), nodes, pod("web", "n1"))
	add("anti-self-on-zone", ds(dsAff("podAntiAffinity", term(zoneAt, m{"app": "d"}))), nodes, pod("d-1", "n1", own("n1")))
	add("anti-revision", ds(dsAff("podAntiAffinity", term(host, m{"app": "d"}, set(l{"controller-revision-hash"}, "matchLabelKeys")))), nodes, pod("d-1", "n1", withLabels(m{"app": "d", "controller-revision-hash": "old"})))
	add("anti-other-versions", ds(set("v2", "spec", "template", "metadata", "labels", "version"), dsAff("podAntiAffinity", term(host, m{"app": "d"}, set(l{"version"}, "mismatchLabelKeys")))), nodes, pod("x", "n1", withLabels(m{"app": "d", "version": "v1"})), pod("y", "n2", withLabels(m{"app": "d", "version": "v2"})))
	add("existing-anti", ds(), nodes, pod("web", "n1", anti(term(zoneAt, m{"app": "d"}))))
	add("existing-anti-other-namespace", ds(), nodes, pod("web", "n1", set("other", "metadata", "namespace"), anti(term(zoneAt, m{"app": "d"}))))
	add("existing-anti-with-selector", ds(), nodes, namespace("default", m{"team": "x"}), pod("web", "n1", set("other", "metadata", "namespace"), anti(term(zoneAt, m{"app": "d"}, set(m{"matchLabels": m{"team": "x"}}, "namespaceSelector")))))
	add("existing-anti-missing-key", ds(), nodes, pod("web", "n1", anti(term("rack", m{"app": "d"}))))
	add("existing-anti-on-gone-node", ds(), nodes, pod("web", "gone", anti(term(zoneAt, m{"app": "d"}))))
	add("existing-and-own-anti", ds(dsAff("podAntiAffinity", term(host, web))), nodes, pod("web", "n1", anti(term(zoneAt, m{"app": "d"}))))
	add("affinity-and-anti-same-pod", ds(spec(m{"podAffinity": affinity("podAffinity", term(zoneAt, web))["podAffinity"], "podAntiAffinity": affinity("podAntiAffinity", term(host, web))["podAntiAffinity"]}, "affinity")), nodes, pod("web", "n1"))

	spread := func(cs ...m) mod { return spec(toL(cs), "topologySpreadConstraints") }
	four := []m{node("na", zone("a")), node("nb", zone("a")), node("nx", zone("b")), node("ny", zone("b"))}
	many := func(counts ...int) []m {
		var out []m
		for i, n := range counts {
			for j := range n {
				name := string(rune('a'+i)) + string(rune('0'+j))
				out = append(out, pod(name, nodeName(four[i]), withLabels(m{"app": "web"})))
			}
		}
		return out
	}
	self := set(m{"app": "web"}, "spec", "template", "metadata", "labels")
	sel := set(m{"matchLabels": m{"app": "web"}}, "spec", "selector")
	add("spread-nodes-2103", ds(self, sel, spread(constraint(1, host, web))), four, many(2, 1, 0, 3))
	add("spread-nodes-2103-skew-2", ds(self, sel, spread(constraint(2, host, web))), four, many(2, 1, 0, 3))
	add("spread-nodes-not-itself", ds(spread(constraint(1, host, web))), four, many(2, 1, 0, 3))
	add("spread-zones-33", ds(self, sel, spread(constraint(1, zoneAt, web))), four, many(2, 1, 0, 3))
	add("spread-zone-and-node", ds(self, sel, spread(constraint(1, zoneAt, web), constraint(1, host, web))), four, many(2, 1, 0, 4))
	add("spread-missing-label-not-a-domain", ds(self, sel, spread(constraint(1, zoneAt, web))), four[:2], node("nz"), many(1, 1), pod("z", "nz", withLabels(web)))
	add("spread-min-domains", ds(self, sel, spread(constraint(1, zoneAt, web, set(3, "minDomains")))), four, many(1, 0, 1, 0))
	add("spread-min-domains-reached", ds(self, sel, spread(constraint(1, zoneAt, web, set(2, "minDomains")))), four, many(1, 0, 1, 0))
	add("spread-honor-affinity", ds(self, sel, spread(constraint(1, host, web, set("Honor", "nodeAffinityPolicy")))), four, many(2, 1, 0, 3))
	add("spread-honor-is-default", ds(self, sel, spread(constraint(1, host, web, func(c m) { delete(c, "nodeAffinityPolicy") }))), four, many(2, 1, 0, 3))
	tainted := node("nt", zone("c"), set(l{m{"key": "k", "effect": "NoSchedule"}}, "spec", "taints"))
	add("spread-taints-ignored", ds(self, sel, spread(constraint(1, zoneAt, web))), four, tainted, many(1, 0, 1, 0))
	add("spread-taints-honored", ds(self, sel, spread(constraint(1, zoneAt, web, set("Honor", "nodeTaintsPolicy")))), four, tainted, many(1, 0, 1, 0))
	add("spread-terminating-left-out", ds(self, sel, spread(constraint(1, host, web))), four, pod("x", "na", withLabels(web), terminating))
	add("spread-other-namespace-left-out", ds(self, sel, spread(constraint(1, host, web))), four, pod("x", "na", withLabels(web), set("other", "metadata", "namespace")))
	add("spread-no-selector", ds(spread(constraint(1, host, nil, func(c m) { delete(c, "labelSelector") }))), four, many(2))
	add("spread-empty-selector", ds(spread(constraint(1, host, nil, set(m{}, "labelSelector")))), four, many(2))
	add("spread-revision", ds(spread(constraint(1, host, m{"app": "d"}, set(l{"controller-revision-hash"}, "matchLabelKeys")))), four, pod("x", "na", withLabels(m{"app": "d", "controller-revision-hash": "old"})))
	add("spread-key-that-the-pod-lacks", ds(spread(constraint(1, host, m{"app": "d"}, set(l{"nokey"}, "matchLabelKeys")))), four, pod("x", "na", withLabels(m{"app": "d"})))
	add("spread-own-pods-elsewhere", ds(spread(constraint(1, host, m{"app": "d"}))), four, pod("d-1", "na", own("na")), pod("d-2", "nb", own("nb")))

	gated := ds(spec(l{m{"name": "example.com/hold"}}, "schedulingGates"))
	add("gate", gated, node("n1"))
	add("affinity-two-field-terms", ds(spec(m{"nodeAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": m{"nodeSelectorTerms": l{m{"matchFields": l{m{"key": "metadata.name", "operator": "In", "values": l{"n1"}}}}, m{"matchFields": l{m{"key": "metadata.name", "operator": "NotIn", "values": l{"n2"}}}}}}}}, "affinity")), nodes)
	add("affinity-fields-that-exclude-each-other", ds(spec(m{"nodeAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": m{"nodeSelectorTerms": l{m{"matchFields": l{m{"key": "metadata.name", "operator": "In", "values": l{"n1"}}, m{"key": "metadata.name", "operator": "NotIn", "values": l{"n1"}}}}}}}}, "affinity")), nodes)
	add("affinity-nil-required", ds(spec(m{"nodeAffinity": m{"preferredDuringSchedulingIgnoredDuringExecution": l{m{"weight": 1, "preference": m{"matchExpressions": l{m{"key": "x", "operator": "Exists"}}}}}}}, "affinity")), nodes)
	add("daemonset-going", ds(terminating, set(l{"foregroundDeletion"}, "metadata", "finalizers")), nodes)
	add("orphan-adopted", ds(), nodes, pod("x", "n1", withLabels(m{"app": "d"})))
	add("toleration-greater", ds(spec(l{m{"key": "sla", "operator": "Gt", "value": "900", "effect": "NoSchedule"}}, "tolerations")), node("n1", set(l{m{"key": "sla", "value": "950", "effect": "NoSchedule"}}, "spec", "taints")), node("n2"))
	add("restart-all-containers", ds(spec("Never", "containers", 0, "restartPolicy"), spec(l{m{"action": "RestartAllContainers", "exitCodes": m{"operator": "In", "values": l{1}}}}, "containers", 0, "restartPolicyRules")), node("n1"), node("n2", set(l{"RestartAllContainersOnContainerExits"}, "status", "declaredFeatures")))
}

func preemptionProbes(add func(string, ...any)) {
	high := []m{priorityClass("high", 1000), priorityClass("mid", 500), priorityClass("low", -5)}
	hi := spec("high", "priorityClassName")
	big := ds(hi, dsCPU("1500m"))
	add("preempt-one", big, high, node("n1"), pod("a", "n1", cpu("1")), pod("b", "n1", cpu("100m")))
	add("preempt-keeps-the-important", big, high, node("n1"), pod("a", "n1", cpu("400m"), withPriority("mid", 500)), pod("b", "n1", cpu("400m")), pod("c", "n1", cpu("400m"), withPriority("low", -5)))
	add("preempt-small-low-stays", big, high, node("n1"), pod("a", "n1", cpu("1500m"), withPriority("mid", 500)), pod("b", "n1", cpu("100m")))
	add("preempt-later-start-first", big, high, node("n1"), pod("a", "n1", cpu("800m"), started("07:00")), pod("b", "n1", cpu("800m"), started("09:00")), pod("c", "n1", cpu("400m"), started("08:00")))
	add("preempt-not-equal-priority", ds(spec("mid", "priorityClassName"), dsCPU("1500m")), high, node("n1"), pod("a", "n1", cpu("1"), withPriority("mid", 500)))
	add("preempt-not-enough", big, high, node("n1"), pod("a", "n1", cpu("1"), withPriority("high", 1000)), pod("b", "n1", cpu("500m")))
	add("preempt-never", ds(spec("polite", "priorityClassName"), dsCPU("1500m")), m{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": m{"name": "polite"}, "value": 1000, "preemptionPolicy": "Never"}, node("n1"), pod("a", "n1", cpu("1")))
	add("preempt-negative", ds(dsCPU("1500m")), high, node("n1"), pod("a", "n1", cpu("1"), withPriority("low", -5)))
	add("preempt-budget-allows", big, high, node("n1"), pdb("b", m{"app": "a"}, 1), pod("a", "n1", cpu("1")))
	add("preempt-budget-violated", big, high, node("n1"), pdb("b", m{"app": "a"}, 0), pod("a", "n1", cpu("1")))
	add("preempt-budget-turns-the-choice", big, high, node("n1"), pdb("b", m{"app": "a"}, 0), pod("a", "n1", cpu("1"), withPriority("low", -5)), pod("c", "n1", cpu("1"), withPriority("mid", 500)))
	add("preempt-budget-used-up-by-first", ds(hi, dsCPU("2")), high, node("n1"), pdb("b", m{"g": "x"}, 1), pod("a", "n1", cpu("1"), withLabels(m{"g": "x"})), pod("c", "n1", cpu("1"), withLabels(m{"g": "x"})))
	add("preempt-budget-already-disrupted", big, high, node("n1"), pdb("b", m{"app": "a"}, 0, set(m{"a": "2026-01-05T08:00:00Z"}, "status", "disruptedPods")), pod("a", "n1", cpu("1")))
	add("preempt-budget-empty-selector", big, high, node("n1"), pdb("b", nil, 0, set(m{}, "spec", "selector")), pod("a", "n1", cpu("1")))
	add("preempt-budget-no-selector", big, high, node("n1"), pdb("b", nil, 0, func(o m) { delete(o["spec"].(m), "selector") }), pod("a", "n1", cpu("1")))
	add("preempt-budget-other-namespace", big, high, node("n1"), pdb("b", m{"app": "a"}, 0, set("other", "metadata", "namespace")), pod("a", "n1", cpu("1")))
	add("preempt-too-many-pods", ds(hi), high, node("n1", set("2", "status", "allocatable", "pods")), pod("a", "n1"), pod("b", "n1", withPriority("low", -5)))
	port := func(path ...any) mod {
		return set(l{m{"containerPort": 80, "hostPort": 80}}, append(path, "containers", 0, "ports")...)
	}
	add("preempt-port", ds(hi, port("spec", "template", "spec")), high, node("n1"), pod("a", "n1", port("spec")))
	add("preempt-port-and-cpu", ds(hi, dsCPU("1500m"), port("spec", "template", "spec")), high, node("n1"), pod("a", "n1", port("spec"), cpu("100m")), pod("b", "n1", cpu("1")))
	add("preempt-anti-affinity", ds(hi, spec(affinity("podAntiAffinity", term(host, m{"app": "a"})), "affinity")), high, node("n1"), pod("a", "n1"))
	add("preempt-anti-affinity-other-node", ds(hi, spec(affinity("podAntiAffinity", term(zoneAt, m{"app": "a"})), "affinity")), high, node("n1", zone("a")), node("n2", zone("a")), pod("a", "n2"))
	add("preempt-existing-anti-affinity", ds(hi), high, node("n1"), pod("a", "n1", set(affinity("podAntiAffinity", term(host, m{"app": "d"})), "spec", "affinity")))
	add("preempt-affinity-target-stays", ds(hi, dsCPU("1500m"), spec(affinity("podAffinity", term(host, m{"app": "a"})), "affinity")), high, node("n1"), pod("a", "n1", cpu("1")))
	add("preempt-spread", ds(hi, spec(l{constraint(1, host, m{"g": "x"})}, "topologySpreadConstraints"), set(m{"app": "d", "g": "x"}, "spec", "template", "metadata", "labels")), high, node("n1"), node("n2"), pod("a", "n1", withLabels(m{"g": "x"})), pod("b", "n1", withLabels(m{"g": "x"})))
	disk := l{m{"name": "v", "gcePersistentDisk": m{"pdName": "d"}}}
	add("preempt-disk", ds(hi, spec(disk, "volumes")), high, node("n1"), pod("a", "n1", set(disk, "spec", "volumes")))
	add("preempt-volume-limit", ds(hi, spec(claimVolume("data"), "volumes")), high, node("n1"), pvc("data", "now", "pv"), pvc("c2", "now", "pv2"), storageClass("now", "ebs.csi.aws.com", "Immediate"), pv("pv", "now", csiSource("h1")), pv("pv2", "now", csiSource("h2")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), pod("a", "n1", set(claimVolume("c2"), "spec", "volumes")))
	add("preempt-does-not-help-taint", ds(hi, dsCPU("1500m")), high, node("n1", set(l{m{"key": "k", "effect": "NoSchedule"}}, "spec", "taints")), pod("a", "n1", cpu("1")))
	add("preempt-request-above-node", ds(hi, dsCPU("3")), high, node("n1"), pod("a", "n1", cpu("1")))
	add("preempt-terminating-victim", big, high, node("n1"), pod("a", "n1", cpu("1"), terminating))
	add("preempt-own-pods-are-candidates-elsewhere", ds(dsCPU("1500m")), node("n1"), pod("a", "n1", cpu("1"), withPriority("low", -5), own("n1")))
	nominated := func(name, to string, mods ...mod) m {
		return pod(name, "", append([]mod{set(to, "status", "nominatedNodeName"), cpu("1500m")}, mods...)...)
	}
	add("nominated-higher", ds(dsCPU("1")), high, node("n1"), nominated("x", "n1", withPriority("high", 1000)))
	add("nominated-equal", ds(dsCPU("1")), high, node("n1"), nominated("x", "n1"))
	add("nominated-lower", ds(dsCPU("1")), high, node("n1"), nominated("x", "n1", withPriority("low", -5)))
	add("nominated-elsewhere", ds(dsCPU("1")), high, node("n1"), node("n2"), nominated("x", "n2", withPriority("high", 1000)))
	add("nominated-terminating", ds(dsCPU("1")), high, node("n1"), nominated("x", "n1", withPriority("high", 1000), terminating))
	add("nominated-other-scheduler", ds(dsCPU("1")), high, node("n1"), nominated("x", "n1", withPriority("high", 1000), set("other", "spec", "schedulerName")))
	add("nominated-needed-by-affinity", ds(spec(affinity("podAffinity", term(host, m{"app": "x"})), "affinity")), high, node("n1"), nominated("x", "n1", withPriority("high", 1000)))
	victim := func(reason string) m {
		return pod("a", "n1", cpu("1"), terminating, set(l{m{"type": "DisruptionTarget", "status": "True", "reason": reason}}, "status", "conditions"))
	}
	mine := pod("d-abcde", "", own("n1"), set("n1", "status", "nominatedNodeName"), withPriority("high", 1000), cpu("1500m"))
	add("own-nominated-waits-for-victim", big, high, node("n1"), mine, victim("PreemptionByScheduler"))
	add("own-nominated-other-eviction", big, high, node("n1"), mine, victim("EvictionByEvictionAPI"))
}

func resourceProbes(add func(string, ...any)) {
	res := func(req, lim m) m {
		r := m{}
		if req != nil {
			r["requests"] = req
		}
		if lim != nil {
			r["limits"] = lim
		}
		return r
	}
	add("pod-level-smaller-than-sum-of-other-resource", ds(spec(res(m{"cpu": "1"}, nil), "resources"), spec(res(m{"cpu": "500m", "memory": "5Gi"}, nil), "containers", 0, "resources")), node("n1"))
	add("pod-level-hugepages", ds(spec(res(m{"hugepages-2Mi": "64Mi", "cpu": "1"}, m{"hugepages-2Mi": "64Mi"}), "resources")), node("n1"), node("n2", set("128Mi", "status", "allocatable", "hugepages-2Mi")))
	add("pod-level-limits-only", ds(spec(res(nil, m{"cpu": "3"}), "resources")), node("n1"))
	add("pod-level-limits-container-requests", ds(spec(res(nil, m{"cpu": "3"}), "resources"), spec(res(m{"cpu": "1"}, nil), "containers", 0, "resources")), node("n1"))
	add("pod-level-limits-all-containers-limited", ds(spec(res(nil, m{"cpu": "3"}), "resources"), spec(res(nil, m{"cpu": "1"}), "containers", 0, "resources")), node("n1"))
	add("pod-level-and-overhead", ds(spec(res(m{"cpu": "1800m"}, nil), "resources"), spec("kata", "runtimeClassName")), m{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": m{"name": "kata"}, "handler": "k", "overhead": m{"podFixed": m{"cpu": "250m"}}}, node("n1"))
	add("pod-level-extended-still-summed", ds(spec(res(m{"cpu": "1"}, nil), "resources"), spec(res(nil, m{"example.com/x": "1"}), "containers", 0, "resources")), node("n1"), node("n2", set("1", "status", "allocatable", "example.com/x")))
	status := func(alloc, actual m) mod {
		s := m{"name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 0}
		if alloc != nil {
			s["allocatedResources"] = alloc
		}
		if actual != nil {
			s["resources"] = m{"requests": actual}
		}
		return set(l{s}, "status", "containerStatuses")
	}
	pending := func(reason string) mod {
		return set(l{m{"type": "PodResizePending", "status": "True", "reason": reason}}, "status", "conditions")
	}
	want := ds(dsCPU("1"))
	add("resize-growing", want, node("n1"), pod("a", "n1", cpu("1500m"), status(m{"cpu": "500m"}, m{"cpu": "500m"})))
	add("resize-shrinking", want, node("n1"), pod("a", "n1", cpu("500m"), status(m{"cpu": "500m"}, m{"cpu": "1500m"})))
	add("resize-infeasible", want, node("n1"), pod("a", "n1", cpu("1500m"), status(m{"cpu": "500m"}, m{"cpu": "500m"}), pending("Infeasible")))
	add("resize-deferred", want, node("n1"), pod("a", "n1", cpu("1500m"), status(m{"cpu": "500m"}, m{"cpu": "500m"}), pending("Deferred")))
	add("resize-allocated-alone", want, node("n1"), pod("a", "n1", cpu("500m"), status(m{"cpu": "1500m"}, nil)))
	add("resize-infeasible-no-status", want, node("n1"), pod("a", "n1", cpu("1500m"), pending("Infeasible")))
	podStatus := func(alloc, actual m) mod {
		return func(o m) {
			if alloc != nil {
				set(alloc, "status", "allocatedResources")(o)
			}
			if actual != nil {
				set(m{"requests": actual}, "status", "resources")(o)
			}
		}
	}
	level := set(m{"requests": m{"cpu": "500m"}}, "spec", "resources")
	add("resize-pod-level-allocated", want, node("n1"), pod("a", "n1", level, podStatus(m{"cpu": "1500m"}, nil)))
	add("resize-pod-level-actual", want, node("n1"), pod("a", "n1", level, podStatus(nil, m{"cpu": "1500m"})))
	add("resize-pod-level-both", want, node("n1"), pod("a", "n1", level, podStatus(m{"cpu": "600m"}, m{"cpu": "1500m"})))
	add("resize-pod-level-infeasible", want, node("n1"), pod("a", "n1", set(m{"requests": m{"cpu": "1500m"}}, "spec", "resources"), podStatus(m{"cpu": "500m"}, m{"cpu": "500m"}), pending("Infeasible")))
	add("storage-zero-allocatable", ds(spec(res(m{"ephemeral-storage": "1"}, nil), "containers", 0, "resources")), node("n1", func(o m) { delete(o["status"].(m)["allocatable"].(m), "ephemeral-storage") }))
	add("extended-zero-limit", ds(spec(res(nil, m{"example.com/x": "0"}), "containers", 0, "resources")), node("n1"))
	add("quota-exactly-full", ds(dsCPU("1")), node("n1"), pod("a", "n1", cpu("1")))
	add("fractions-add-up", ds(spec(res(m{"memory": "0.5"}, nil), "containers", 0, "resources")), node("n1", set("1", "status", "allocatable", "memory")), pod("a", "n1", set(m{"requests": m{"memory": "0.5"}}, "spec", "containers", 0, "resources")))
}

func deviceProbes(add func(string, ...any)) {
	class := func(name string, mods ...mod) m {
		o := m{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": m{"name": name}, "spec": m{}}
		for _, f := range mods {
			f(o)
		}
		return o
	}
	dev := func(name string, attrs m, mods ...mod) m {
		d := m{"name": name}
		if attrs != nil {
			d["attributes"] = attrs
		}
		for _, f := range mods {
			f(d)
		}
		return d
	}
	slice := func(name, nodeName string, devices ...m) m {
		return m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": m{"name": name}, "spec": m{"driver": "gpu.example.com", "nodeName": nodeName, "pool": m{"name": nodeName, "generation": 1, "resourceSliceCount": 1}, "devices": toL(devices)}}
	}
	req := func(name string, more m) m {
		e := m{"deviceClassName": "gpu"}
		for k, v := range more {
			e[k] = v
		}
		return m{"name": name, "exactly": e}
	}
	claim := func(name string, devices m, mods ...mod) m {
		o := m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": m{"name": name, "namespace": "default", "uid": "uid-" + name}, "spec": m{"devices": devices}}
		for _, f := range mods {
			f(o)
		}
		return o
	}
	uses := func(names ...string) mod {
		return func(o m) {
			var cs, us l
			for _, n := range names {
				cs = append(cs, m{"name": n, "resourceClaimName": n})
				us = append(us, m{"name": n})
			}
			spec(cs, "resourceClaims")(o)
			spec(m{"claims": us}, "containers", 0, "resources")(o)
		}
	}
	allocated := func(nodeName, device string, reserved int) mod {
		return func(o m) {
			st := m{"allocation": m{"devices": m{"results": l{m{"request": "r", "driver": "gpu.example.com", "pool": nodeName, "device": device}}},
				"nodeSelector": m{"nodeSelectorTerms": l{m{"matchFields": l{m{"key": "metadata.name", "operator": "In", "values": l{nodeName}}}}}}}}
			var rs l
			for i := range reserved {
				rs = append(rs, m{"resource": "pods", "name": "p", "uid": "uid-user-" + string(rune('a'+i%26)) + string(rune('a'+i/26))})
			}
			if rs != nil {
				st["reservedFor"] = rs
			}
			o["status"] = st
		}
	}
	one := m{"requests": l{req("r", nil)}}
	gpu := class("gpu")
	nodes := []m{node("n1"), node("n2")}
	add("claim-free-device", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one))
	add("claim-device-taken", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one), claim("other", one, allocated("n1", "d0", 1)))
	add("claim-allocated-here", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1)))
	add("claim-reserved-by-256", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 256)))
	add("claim-going", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, terminating, set(l{"resource.kubernetes.io/delete-protection"}, "metadata", "finalizers")))
	add("claim-missing", ds(uses("c")), nodes)
	add("claim-class-missing", ds(uses("c")), nodes, slice("s", "n1", dev("d0", nil)), claim("c", one))
	add("claim-template", ds(spec(l{m{"name": "c", "resourceClaimTemplateName": "t"}}, "resourceClaims")), nodes, gpu, m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": m{"name": "t", "namespace": "default"}, "spec": m{"spec": m{"devices": one}}})
	add("claim-two-of-one", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil), dev("d1", nil)), claim("c", m{"requests": l{req("r", m{"allocationMode": "ExactCount", "count": 2})}}))
	add("claim-two-claims-one-device", ds(uses("c", "e")), nodes, gpu, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil), dev("d1", nil)), claim("c", one), claim("e", one))
	add("claim-all", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil), dev("d1", nil)), claim("c", m{"requests": l{req("r", m{"allocationMode": "All"})}}))
	add("claim-all-one-taken", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil), dev("d1", nil)), claim("c", m{"requests": l{req("r", m{"allocationMode": "All"})}}), claim("other", one, allocated("n1", "d0", 1)))
	add("claim-admin-sees-taken", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", m{"requests": l{req("r", m{"adminAccess": true})}}), claim("other", one, allocated("n1", "d0", 1)))
	numa := func(n int) m { return m{"numa": m{"int": n}} }
	add("claim-constraint-holds", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", numa(0)), dev("d1", numa(1)), dev("d2", numa(1))), claim("c", m{"requests": l{req("r", m{"allocationMode": "ExactCount", "count": 2})}, "constraints": l{m{"matchAttribute": "gpu.example.com/numa"}}}))
	add("claim-constraint-fails", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", numa(0)), dev("d1", numa(1))), claim("c", m{"requests": l{req("r", m{"allocationMode": "ExactCount", "count": 2})}, "constraints": l{m{"matchAttribute": "gpu.example.com/numa"}}}))
	add("claim-constraint-attribute-missing", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", m{"requests": l{req("r", nil)}, "constraints": l{m{"matchAttribute": "gpu.example.com/numa"}}}))
	add("claim-constraint-of-one-request", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", numa(0)), dev("d1", numa(1))), claim("c", m{"requests": l{req("r", nil), req("q", nil)}, "constraints": l{m{"matchAttribute": "gpu.example.com/numa", "requests": l{"r"}}}}))
	add("claim-first-available", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", m{"requests": l{m{"name": "r", "firstAvailable": l{m{"name": "two", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}, m{"name": "one", "deviceClassName": "gpu"}}}}}))
	add("claim-pool-incomplete", ds(uses("c")), nodes, gpu, func() m {
		s := slice("s", "n1", dev("d0", nil))
		set(2, "spec", "pool", "resourceSliceCount")(s)
		return s
	}(), claim("c", one))
	taint := set(l{m{"key": "k", "effect": "NoSchedule"}}, "taints")
	add("claim-device-tainted", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil, taint)), claim("c", one))
	add("claim-device-taint-tolerated", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil, taint)), claim("c", m{"requests": l{req("r", m{"tolerations": l{m{"key": "k", "operator": "Exists"}}})}}))
	add("claim-class-selects", ds(uses("c")), nodes, class("gpu", set(l{m{"cel": m{"expression": `device.driver == "gpu.example.com"`}}}, "spec", "selectors")), slice("s", "n1", dev("d0", nil)), claim("c", one))
	add("claim-selector-fails-at-run-time", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", m{"requests": l{req("r", m{"selectors": l{m{"cel": m{"expression": `device.attributes["gpu.example.com"].model == "x"`}}}})}}))
	ext := func(name, n string) mod {
		return spec(m{"requests": m{name: n}, "limits": m{name: n}}, "containers", 0, "resources")
	}
	named := class("gpu", set("example.com/gpu", "spec", "extendedResourceName"))
	add("extended-by-class", ds(ext("example.com/gpu", "1")), nodes, named, slice("s", "n1", dev("d0", nil)))
	add("extended-by-class-too-many", ds(ext("example.com/gpu", "2")), nodes, named, slice("s", "n1", dev("d0", nil)))
	add("extended-by-plugin-first", ds(ext("example.com/gpu", "1")), node("n1", set("1", "status", "allocatable", "example.com/gpu")), node("n2"), named, slice("s", "n2", dev("d0", nil)))
	add("extended-plugin-zero", ds(ext("example.com/gpu", "1")), node("n1", set("0", "status", "allocatable", "example.com/gpu")), named, slice("s", "n1", dev("d0", nil)))
	add("extended-implicit", ds(ext("deviceclass.resource.kubernetes.io/gpu", "1")), nodes, named, slice("s", "n1", dev("d0", nil)))
	add("extended-no-class", ds(ext("example.com/other", "1")), nodes, named, slice("s", "n1", dev("d0", nil)))

	// From a second reading.
	sel := func(exprs ...string) m {
		var ss l
		for _, e := range exprs {
			ss = append(ss, m{"cel": m{"expression": e}})
		}
		return m{"selectors": ss}
	}
	model := func(s string) m { return m{"model": m{"string": s}} }
	asks := func(more m) m { return m{"requests": l{req("r", more)}} }
	add("claim-error-on-one-of-two-nodes", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", model("a"))), slice("s2", "n2", dev("d0", nil)), claim("c", asks(sel(`device.attributes["gpu.example.com"].model == "a"`))))
	add("claim-two-selectors", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", model("a"))), slice("s2", "n2", dev("d0", model("b"))), claim("c", asks(sel(`device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].model == "b"`))))
	add("claim-class-and-request-select", ds(uses("c")), nodes, class("gpu", set(sel(`"model" in device.attributes["gpu.example.com"]`)["selectors"], "spec", "selectors")), slice("s", "n1", dev("d0", model("a"))), slice("s2", "n2", dev("d0", nil)), claim("c", asks(sel(`device.attributes["gpu.example.com"].model.startsWith("a")`))))
	add("claim-count-above-32", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", asks(m{"allocationMode": "ExactCount", "count": 33})))
	add("claim-all-without-devices", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", asks(m{"allocationMode": "All"})))
	add("claim-all-tainted-one", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil), dev("d1", nil, taint)), claim("c", asks(m{"allocationMode": "All"})))
	add("claim-all-constraint-fails", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", numa(0)), dev("d1", numa(1))), claim("c", m{"requests": l{req("r", m{"allocationMode": "All"})}, "constraints": l{m{"matchAttribute": "gpu.example.com/numa"}}}))
	add("claim-admin-all", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil), dev("d1", nil)), claim("c", asks(m{"allocationMode": "All", "adminAccess": true})), claim("other", one, allocated("n1", "d0", 1)))
	add("claim-admin-tainted", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, taint)), claim("c", asks(m{"adminAccess": true})))
	add("claim-first-available-class-gone", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", m{"requests": l{m{"name": "r", "firstAvailable": l{m{"name": "x", "deviceClassName": "gone"}, m{"name": "y", "deviceClassName": "gpu"}}}}}))
	add("claim-first-available-two-requests", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil), dev("d1", nil), dev("d2", nil)), claim("c", m{"requests": l{m{"name": "r", "firstAvailable": l{m{"name": "two", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}, m{"name": "one", "deviceClassName": "gpu"}}}, m{"name": "q", "firstAvailable": l{m{"name": "two", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}, m{"name": "one", "deviceClassName": "gpu"}}}}}))
	add("claim-constraint-on-subrequest", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", numa(0)), dev("d1", numa(1))), claim("c", m{"requests": l{m{"name": "r", "firstAvailable": l{m{"name": "two", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}}}}, "constraints": l{m{"matchAttribute": "gpu.example.com/numa", "requests": l{"r/two"}}}}))
	add("claim-shared-by-two-claims-of-pod", ds(uses("c", "e")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1)), claim("e", one))
	add("claim-allocated-everywhere", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1), func(o m) { delete(o["status"].(m)["allocation"].(m), "nodeSelector") }))
	add("claim-device-on-every-node", ds(uses("c")), nodes, gpu, func() m {
		s := slice("s", "n1", dev("d0", nil))
		delete(s["spec"].(m), "nodeName")
		set(true, "spec", "allNodes")(s)
		return s
	}(), claim("c", one))
	add("claim-pool-of-two-generations", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil), dev("d1", nil)), func() m {
		s := slice("s2", "n1", dev("d9", nil))
		set(2, "spec", "pool", "generation")(s)
		return s
	}(), claim("c", asks(m{"allocationMode": "ExactCount", "count": 2})))
	add("claim-same-name-other-driver", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), func() m {
		s := slice("s2", "n1", dev("d0", nil))
		set("other.example.com", "spec", "driver")(s)
		return s
	}(), claim("c", asks(m{"allocationMode": "ExactCount", "count": 2})))
	waits := pod("d-abcde", "", own("n1"), set(l{m{"name": "c", "resourceClaimName": "d-abcde-c-x"}}, "status", "resourceClaimStatuses"))
	ofTemplate := ds(spec(l{m{"name": "c", "resourceClaimTemplateName": "t"}}, "resourceClaims"))
	template := m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": m{"name": "t", "namespace": "default"}, "spec": m{"spec": m{"devices": one}}}
	its := set(l{m{"apiVersion": "v1", "kind": "Pod", "name": "d-abcde", "uid": "uid-d-abcde", "controller": true}}, "metadata", "ownerReferences")
	add("claim-of-template-made", ofTemplate, nodes, gpu, template, slice("s", "n1", dev("d0", nil)), waits, claim("d-abcde-c-x", one, its))
	add("claim-of-template-not-its-own", ofTemplate, nodes, gpu, template, slice("s", "n1", dev("d0", nil)), waits, claim("d-abcde-c-x", one))
	add("claim-of-template-gone", ofTemplate, nodes, gpu, template, slice("s", "n1", dev("d0", nil)), waits)
	add("claim-of-template-none-needed", ofTemplate, nodes, gpu, template, pod("d-abcde", "", own("n1"), set(l{m{"name": "c"}}, "status", "resourceClaimStatuses")))
	two := func(o m) {
		spec(l{m{"name": "c", "image": "i", "resources": m{"requests": m{"example.com/gpu": "1"}, "limits": m{"example.com/gpu": "1"}}}, m{"name": "b", "image": "i", "resources": m{"requests": m{"example.com/gpu": "1"}, "limits": m{"example.com/gpu": "1"}}}}, "containers")(o)
	}
	add("extended-two-containers", ds(two), nodes, named, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil), dev("d1", nil)))
	add("extended-two-classes-of-one-name", ds(ext("example.com/gpu", "1")), nodes, named, class("gpu2", set("example.com/gpu", "spec", "extendedResourceName"), set(sel(`device.attributes["gpu.example.com"].model == "a"`)["selectors"], "spec", "selectors")), slice("s", "n1", dev("d0", model("b"))))
	add("extended-mixed-with-plugin-resource", ds(func(o m) {
		spec(m{"requests": m{"example.com/gpu": "1", "example.com/x": "1"}, "limits": m{"example.com/gpu": "1", "example.com/x": "1"}}, "containers", 0, "resources")(o)
	}), node("n1", set("1", "status", "allocatable", "example.com/x")), node("n2"), named, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil)))
	add("extended-and-a-claim", ds(uses("c"), func(o m) {
		r := o["spec"].(m)["template"].(m)["spec"].(m)["containers"].(l)[0].(m)["resources"].(m)
		r["requests"], r["limits"] = m{"example.com/gpu": "1"}, m{"example.com/gpu": "1"}
	}), nodes, named, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil), dev("d1", nil)), claim("c", one))
	add("extended-init-container", ds(spec(l{m{"name": "i", "image": "i", "resources": m{"requests": m{"example.com/gpu": "2"}, "limits": m{"example.com/gpu": "2"}}}}, "initContainers"), ext("example.com/gpu", "1")), nodes, named, slice("s", "n1", dev("d0", nil), dev("d1", nil)), slice("s2", "n2", dev("d0", nil), dev("d1", nil), dev("d2", nil)))
	if minor >= 36 { // older API servers drop the fields
		shared := func(policy m) mod {
			return func(d m) {
				d["allowMultipleAllocations"] = true
				c := m{"value": "4Gi"}
				if policy != nil {
					c["requestPolicy"] = policy
				}
				d["capacity"] = m{"memory": c}
			}
		}
		wantsMemory := func(q string) m { return asks(m{"capacity": m{"requests": m{"memory": q}}}) }
		consumes := func(q string) mod {
			return func(o m) {
				r := o["status"].(m)["allocation"].(m)["devices"].(m)["results"].(l)[0].(m)
				r["shareID"], r["consumedCapacity"] = "4e0f0c5e-0000-4000-8000-000000000001", m{"memory": q}
			}
		}
		add("shared-device-has-room", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(nil))), claim("c", wantsMemory("1Gi")), claim("other", wantsMemory("3Gi"), allocated("n1", "d0", 1), consumes("3Gi")))
		add("shared-device-is-full", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(nil))), claim("c", wantsMemory("2Gi")), claim("other", wantsMemory("3Gi"), allocated("n1", "d0", 1), consumes("3Gi")))
		add("shared-device-nothing-asked-is-all", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(nil))), claim("c", one), claim("other", wantsMemory("1Gi"), allocated("n1", "d0", 1), consumes("1Gi")))
		add("shared-device-default", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(m{"default": "1Gi", "validRange": m{"min": "1Gi", "max": "2Gi"}}))), claim("c", one), claim("other", wantsMemory("3Gi"), allocated("n1", "d0", 1), consumes("3Gi")))
		add("shared-device-rounded-up", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(m{"default": "1Gi", "validRange": m{"min": "1Gi", "step": "1Gi"}}))), claim("c", wantsMemory("1100Mi")), claim("other", wantsMemory("3Gi"), allocated("n1", "d0", 1), consumes("3Gi")))
		add("shared-device-valid-values", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(m{"default": "1Gi", "validValues": l{"1Gi", "2Gi"}}))), claim("c", wantsMemory("1500Mi")), claim("other", wantsMemory("3Gi"), allocated("n1", "d0", 1), consumes("3Gi")))
		add("shared-device-above-max", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(m{"default": "1Gi", "validRange": m{"min": "1Gi", "max": "2Gi"}}))), claim("c", wantsMemory("3Gi")))
		add("shared-device-fractions", ds(uses("c")), node("n1"), gpu, slice("s", "n1", func() m {
			d := dev("d0", nil, shared(nil))
			d["capacity"] = m{"share": m{"value": "1", "requestPolicy": m{"default": "100m", "validRange": m{"min": "100m", "step": "100m"}}}}
			return d
		}()), claim("c", asks(m{"capacity": m{"requests": m{"share": "250m"}}})))
		add("shared-device-twice-in-one-claim", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(nil))), claim("c", asks(m{"allocationMode": "ExactCount", "count": 2, "capacity": m{"requests": m{"memory": "1Gi"}}})))
		add("capacity-of-a-device-not-shared", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, set(m{"memory": m{"value": "4Gi"}}, "capacity"))), claim("c", wantsMemory("5Gi")))
		add("distinct-attribute", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", numa(0)), dev("d1", numa(0)), dev("d2", numa(1))), claim("c", m{"requests": l{req("r", m{"allocationMode": "ExactCount", "count": 3})}, "constraints": l{m{"distinctAttribute": "gpu.example.com/numa"}}}))
		counters := func(total string) m {
			return m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": m{"name": "counters"}, "spec": m{"driver": "gpu.example.com", "nodeName": "n1", "pool": m{"name": "n1", "generation": 1, "resourceSliceCount": 2}, "sharedCounters": l{m{"name": "all", "counters": m{"memory": m{"value": total}}}}}}
		}
		part := set(l{m{"counterSet": "all", "counters": m{"memory": m{"value": "10Gi"}}}}, "consumesCounters")
		parts := func() m {
			s := slice("s", "n1", dev("d0", nil, part), dev("d1", nil, part), dev("d2", nil))
			set(2, "spec", "pool", "resourceSliceCount")(s)
			return s
		}
		add("counters-enough-for-one", ds(uses("c")), node("n1"), gpu, counters("15Gi"), parts(), claim("c", asks(m{"allocationMode": "ExactCount", "count": 2})))
		add("counters-not-for-all", ds(uses("c")), node("n1"), gpu, counters("15Gi"), parts(), claim("c", asks(m{"allocationMode": "ExactCount", "count": 3})))
		add("counters-used-by-other", ds(uses("c")), node("n1"), gpu, counters("15Gi"), parts(), claim("c", asks(m{"allocationMode": "ExactCount", "count": 2})), claim("other", one, allocated("n1", "d0", 1)))
		holds := func(q string) mod { return set(m{"memory": m{"value": q}}, "capacity") }
		add("claim-all-with-capacity", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, holds("4Gi")), dev("d1", nil, holds("1Gi")), dev("d2", nil)), claim("c", asks(m{"allocationMode": "All", "capacity": m{"requests": m{"memory": "2Gi"}}})))
		add("claim-all-with-capacity-none-has-it", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d1", nil, holds("1Gi")), dev("d2", nil)), claim("c", asks(m{"allocationMode": "All", "capacity": m{"requests": m{"memory": "2Gi"}}})))
		add("claim-all-with-capacity-one-is-full", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil, shared(nil)), dev("d1", nil, shared(nil))), claim("c", asks(m{"allocationMode": "All", "capacity": m{"requests": m{"memory": "2Gi"}}})), claim("other", wantsMemory("3Gi"), allocated("n1", "d0", 1), consumes("3Gi")))
		perDevice := slice("s", "n1", dev("d0", nil, set("n2", "nodeName")), dev("d1", model("a"), set("n1", "nodeName")))
		delete(perDevice["spec"].(m), "nodeName")
		set(true, "spec", "perDeviceNodeSelection")(perDevice)
		add("claim-selector-fails-on-device-elsewhere", ds(uses("c")), nodes, gpu, perDevice, claim("c", asks(sel(`device.attributes["gpu.example.com"].model == "a"`))))
		binding := slice("a", "a", dev("d0", nil, set(l{"example.com/ready"}, "bindingConditions"), set(l{"example.com/failed"}, "bindingFailureConditions")))
		set("n1", "spec", "nodeName")(binding)
		add("claim-pool-with-conditions-comes-last", ds(uses("c")), node("n1"), gpu, binding, slice("s", "n1", dev("d0", nil)), claim("c", asks(sel(`device.attributes["gpu.example.com"].model == "a"`))))
	}
	if minor >= 37 { // the kind is new
		rule := func(selector m, effect string) m {
			return m{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": m{"name": "rule"}, "spec": m{"deviceSelector": selector, "taint": m{"key": "k", "effect": effect, "timeAdded": "2026-01-05T08:00:00Z"}}}
		}
		add("taint-rule-of-driver", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil)), claim("c", one), rule(m{"driver": "gpu.example.com"}, "NoSchedule"))
		add("taint-rule-of-pool", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), slice("s2", "n2", dev("d0", nil)), claim("c", one), rule(m{"driver": "gpu.example.com", "pool": "n1"}, "NoExecute"))
		add("taint-rule-without-effect", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", one), rule(m{"driver": "gpu.example.com"}, "None"))
		add("taint-rule-tolerated", ds(uses("c")), nodes, gpu, slice("s", "n1", dev("d0", nil)), claim("c", asks(m{"tolerations": l{m{"key": "k", "operator": "Exists", "effect": "NoSchedule"}}})), rule(m{"driver": "gpu.example.com"}, "NoSchedule"))
	}
	binds := func(conditions l, since string) mod {
		return func(o m) {
			st := o["status"].(m)
			r := st["allocation"].(m)["devices"].(m)["results"].(l)[0].(m)
			r["bindingConditions"], r["bindingFailureConditions"] = l{"example.com/ready"}, l{"example.com/failed"}
			st["allocation"].(m)["allocationTimestamp"] = since
			if conditions != nil {
				st["devices"] = l{m{"driver": "gpu.example.com", "pool": "n1", "device": "d0", "conditions": conditions}}
			}
		}
	}
	condition := func(kind, status string) m {
		return m{"type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-05T11:00:00Z"}
	}
	const longAgo, ahead = "2026-01-05T08:00:00Z", "2100-01-05T08:00:00Z"
	add("binding-ready", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1), binds(l{condition("example.com/ready", "True")}, longAgo)))
	add("binding-failed", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1), binds(l{condition("example.com/failed", "True")}, ahead)))
	add("binding-timed-out", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1), binds(nil, longAgo)))
	add("binding-waits", ds(uses("c")), node("n1"), gpu, slice("s", "n1", dev("d0", nil)), claim("c", one, allocated("n1", "d0", 1), binds(nil, ahead)))
}
