package main

import "fmt"

const migratedAnnotation = "storage.alpha.kubernetes.io/migrated-plugins"

// storage fills the cluster with classes, volumes, claims, CSINodes and attachments in their good and bad states.
func (g *gen) storage() {
	class := func(name, provisioner, mode string, more m) {
		o := m{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": m{"name": name}, "provisioner": provisioner}
		if mode != "" {
			o["volumeBindingMode"] = mode
		}
		for k, v := range more {
			o[k] = v
		}
		g.add(o)
	}
	zones := func() m {
		return m{"allowedTopologies": l{m{"matchLabelExpressions": l{m{"key": "topology.kubernetes.io/zone", "values": l{pick(g, "zone-a", "zone-b")}}}}}}
	}
	class("standard", "ebs.csi.aws.com", pick(g, "Immediate", ""), nil)
	if g.p(35) {
		class("late", "ebs.csi.aws.com", "WaitForFirstConsumer", zones())
	} else {
		class("late", "ebs.csi.aws.com", "WaitForFirstConsumer", nil)
	}
	class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", nil)
	class("intree", "kubernetes.io/aws-ebs", pick(g, "WaitForFirstConsumer", "Immediate"), nil)
	class("measured", "cap.example.com", "WaitForFirstConsumer", nil)
	class("intree-other", pick(g, "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/portworx-volume", "kubernetes.io/vsphere-volume", "kubernetes.io/azure-file"), pick(g, "WaitForFirstConsumer", "Immediate"), nil)
	if g.p(85) {
		spec := m{"storageCapacity": g.p(85), "attachRequired": true}
		g.add(m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": m{"name": "cap.example.com"}, "spec": spec})
	}
	if minor >= 35 && g.p(25) {
		g.add(m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": m{"name": "ebs.csi.aws.com"}, "spec": m{"preventPodSchedulingIfMissing": g.p(80)}})
	}
	for i := range pick(g, 0, 1, 2, 3) {
		o := m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": m{"name": fmt.Sprintf("cap-%d", i), "namespace": "kube-system"}, "storageClassName": pick(g, "measured", "measured", "late")}
		if g.p(90) {
			o["nodeTopology"] = pick(g, m{"matchLabels": m{"topology.kubernetes.io/zone": pick(g, g.zones...)}}, m{"matchLabels": m{"kubernetes.io/hostname": g.someNode()}}, m{},
				m{"matchExpressions": l{m{"key": "pool", "operator": "Exists"}}})
		}
		if g.p(90) {
			o["capacity"] = pick(g, "0", "1Gi", "5Gi", "100Gi")
		}
		if g.p(20) {
			o["maximumVolumeSize"] = pick(g, "2Gi", "50Gi")
		}
		g.add(o)
	}

	pv := func(name string, source, more m) {
		spec := m{"capacity": m{"storage": pick(g, "1Gi", "5Gi", "10Gi", "20Gi")}, "accessModes": l{pick(g, "ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod")}, "persistentVolumeReclaimPolicy": "Delete", "volumeMode": "Filesystem"}
		for k, v := range source {
			spec[k] = v
		}
		meta := m{"name": name, "uid": "uid-" + name}
		for k, v := range more {
			if k == "labels" || k == "deletionTimestamp" {
				meta[k] = v
			} else {
				spec[k] = v
			}
		}
		o := m{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec, "status": m{"phase": "Available"}}
		if spec["claimRef"] != nil {
			o["status"] = m{"phase": "Bound"}
		}
		g.add(o)
	}
	affinity := func(key string, values ...string) m {
		return m{"required": m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": key, "operator": "In", "values": toL(values)}}}}}}
	}
	csi := func(handle string) m {
		return m{"csi": m{"driver": pick(g, "ebs.csi.aws.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io"), "volumeHandle": handle}}
	}
	var pvs []string
	// claim makes a claim; with source it is bound to a volume of its own.
	claim := func(ns, name, class, mode string, source, pvMore m) {
		meta := m{"name": name, "namespace": ns, "uid": "uid-" + ns + "-" + name}
		spec := m{"accessModes": l{mode}, "resources": m{"requests": m{"storage": pick(g, "1Gi", "4Gi", "10Gi", "30Gi")}}, "volumeMode": "Filesystem"}
		if class != "-" {
			spec["storageClassName"] = class
		}
		status := m{"phase": "Pending"}
		made := false
		if source != nil {
			pvName := "pv-" + ns + "-" + name
			pvs = append(pvs, pvName)
			spec["volumeName"] = pvName
			status = m{"phase": "Bound"}
			if g.p(94) {
				meta["annotations"] = m{"pv.kubernetes.io/bind-completed": "yes"}
			}
			pvMore["claimRef"] = m{"kind": "PersistentVolumeClaim", "namespace": ns, "name": name, "uid": "uid-" + ns + "-" + name}
			if class != "-" {
				pvMore["storageClassName"] = class
			}
			pvMore["accessModes"] = l{mode}
			if made = g.p(95); made {
				pv(pvName, source, pvMore)
			}
		} else if g.p(12) {
			meta["annotations"] = m{"volume.kubernetes.io/selected-node": g.someNode()}
		}
		if g.p(4) {
			meta["deletionTimestamp"] = "2026-01-05T11:59:00Z"
			meta["finalizers"] = l{"kubernetes.io/pvc-protection"}
		}
		if g.p(2) || spec["volumeName"] != nil && !made && g.p(50) {
			status = m{"phase": "Lost"}
		}
		g.add(m{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": status})
		g.claims = append(g.claims, ns+"/"+name)
	}
	for _, ns := range sample(g, 2, []string{g.ns, g.ns, "default", "apps"}) {
		seen := false
		for _, c := range g.claims {
			seen = seen || len(c) > len(ns) && c[:len(ns)+1] == ns+"/"
		}
		if seen {
			continue
		}
		mode := func() string { return pick(g, "ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod") }
		kinds := []func(){
			func() { claim(ns, "plain", "standard", mode(), csi("vol-plain-"+ns), m{}) },
			func() { claim(ns, "shared", "standard", "ReadWriteMany", csi("vol-same"), m{}) },
			func() {
				z := pick(g, g.zones...)
				claim(ns, "zonal", pick(g, "standard", "late"), mode(), csi("vol-zonal-"+ns), m{"nodeAffinity": affinity(pick(g, "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone"), z)})
			},
			func() {
				labels := m{pick(g, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"): pick(g, "zone-a", "zone-b", "zone-a__zone-b", "zone-c")}
				if g.p(40) {
					labels[pick(g, "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")] = pick(g, "eu-1", "us-1")
				}
				more := m{"labels": labels}
				if g.p(30) {
					more["nodeAffinity"] = affinity("topology.kubernetes.io/zone", "zone-a", "zone-b")
				}
				claim(ns, "old-ebs", pick(g, "intree", "-", "standard"), mode(), m{"awsElasticBlockStore": m{"volumeID": pick(g, "aws://zone-a/vol-1", "vol-2", "aws:///vol-3"), "fsType": "ext4"}}, more)
			},
			func() {
				claim(ns, "old-gce", "-", mode(), m{"gcePersistentDisk": m{"pdName": pick(g, "disk-1", "disk-2")}}, m{"labels": m{"topology.kubernetes.io/zone": pick(g, "zone-a", "zone-a__zone-b")}})
			},
			func() {
				claim(ns, "on-node", "local", "ReadWriteOnce", m{"local": m{"path": "/data"}}, m{"nodeAffinity": affinity("kubernetes.io/hostname", g.someNode())})
			},
			func() { claim(ns, "nfs", "-", "ReadWriteMany", m{"nfs": m{"server": "nfs", "path": "/"}}, m{}) },
			func() {
				more := m{}
				if g.p(60) {
					more["labels"] = m{pick(g, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"): pick(g, "zone-a", "zone-b", "zone-a__zone-b")}
				}
				if g.p(40) {
					more["nodeAffinity"] = affinity(pick(g, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone", "topology.cinder.csi.openstack.org/zone"), pick(g, g.zones...))
				}
				claim(ns, "old-other", pick(g, "-", "intree-other"), mode(), g.otherInTree(), more)
			},
			func() { claim(ns, "late-other", "intree-other", mode(), nil, nil) },
			func() {
				// What an administrator writes by hand.
				expression := pick(g, m{"key": "pool", "operator": "NotIn", "values": l{"gpu"}}, m{"key": "ssd", "operator": "Exists"}, m{"key": "gpu-count", "operator": "Gt", "values": l{"1"}}, m{"key": "kata", "operator": "DoesNotExist"})
				terms := l{m{"matchExpressions": l{expression}}}
				if g.p(40) {
					terms = append(terms, m{"matchExpressions": l{m{"key": "kubernetes.io/hostname", "operator": "In", "values": l{g.someNode()}}}})
				}
				claim(ns, "by-hand", pick(g, "-", "standard"), mode(), m{"nfs": m{"server": "nfs", "path": "/"}}, m{"nodeAffinity": m{"required": m{"nodeSelectorTerms": terms}}})
			},
			func() { claim(ns, "waiting", "standard", mode(), nil, nil) },
			func() { claim(ns, "late", "late", mode(), nil, nil) },
			func() { claim(ns, "late-local", "local", "ReadWriteOnce", nil, nil) },
			func() { claim(ns, "late-intree", "intree", mode(), nil, nil) },
			func() { claim(ns, "late-measured", "measured", mode(), nil, nil) },
			func() { claim(ns, "no-class", "-", mode(), nil, nil) },
			func() { claim(ns, "empty-class", "", mode(), nil, nil) },
			func() { claim(ns, "lost-class", "nosuchclass", mode(), nil, nil) },
			func() { claim(ns, "alone", "standard", "ReadWriteOncePod", csi("vol-alone-"+ns), m{}) },
		}
		for _, f := range sample(g, pick(g, 3, 5, 7, 9), kinds) {
			f()
		}
	}
	// Volumes that late-local claims may take, some of them promised to another claim or not fitting.
	for i := range pick(g, 0, 1, 2, 4) {
		more := m{"storageClassName": "local", "accessModes": l{pick(g, "ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany")}}
		if g.p(92) {
			more["nodeAffinity"] = affinity("kubernetes.io/hostname", g.someNode())
		}
		if g.p(15) {
			more["claimRef"] = m{"namespace": g.ns, "name": pick(g, "late-local", "other")}
		}
		if g.p(10) {
			more["volumeMode"] = "Block"
		}
		if g.p(6) {
			more["deletionTimestamp"] = "2026-01-05T11:59:00Z"
		}
		pv(fmt.Sprintf("pv-free-%d", i), m{"local": m{"path": "/data"}}, more)
	}
	drivers := []string{"ebs.csi.aws.com", "pd.csi.storage.gke.io", "cap.example.com", "disk.csi.azure.com", "cinder.csi.openstack.org", "pxd.portworx.com", "csi.vsphere.vmware.com"}
	if g.p(70) {
		drivers = drivers[:3]
	}
	for _, n := range g.nodes {
		// The labels that drivers of migrated volumes use for their topology.
		labels := n["metadata"].(m)["labels"].(m)
		if z, ok := labels["topology.kubernetes.io/zone"]; ok && g.p(30) {
			labels["topology.ebs.csi.aws.com/zone"] = z
			labels["topology.gke.io/zone"] = z
			if len(drivers) > 3 {
				labels["topology.cinder.csi.openstack.org/zone"] = z
			}
		}
		if g.p(12) {
			continue
		}
		name := nodeName(n)
		var installed l
		for _, d := range drivers {
			if !g.p(65) {
				continue
			}
			driver := m{"name": d, "nodeID": "i-" + name, "topologyKeys": l{"topology.kubernetes.io/zone"}}
			if g.p(65) {
				driver["allocatable"] = pick(g, m{"count": 0}, m{"count": 1}, m{"count": 1}, m{"count": 1}, m{"count": 2}, m{"count": 3}, m{"count": 25}, m{})
			}
			installed = append(installed, driver)
		}
		meta := m{"name": name}
		if g.p(50) {
			meta["annotations"] = m{migratedAnnotation: pick(g, "kubernetes.io/aws-ebs,kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "")}
		}
		if len(drivers) > 3 && g.p(70) {
			meta["annotations"] = m{migratedAnnotation: "kubernetes.io/azure-disk,kubernetes.io/cinder,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume,kubernetes.io/azure-file"}
		}
		if installed == nil {
			installed = l{}
		}
		g.add(m{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": meta, "spec": m{"drivers": installed}})
		for i := range pick(g, 0, 0, 1, 2) {
			if len(pvs) == 0 {
				break
			}
			g.add(m{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": m{"name": fmt.Sprintf("va-%s-%d", name, i)},
				"spec":   m{"attacher": pick(g, "ebs.csi.aws.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io"), "nodeName": name, "source": m{"persistentVolumeName": pick(g, append(pvs, "pv-gone")...)}},
				"status": m{"attached": g.p(80)}})
		}
	}
}

// otherInTree is a volume of a plugin that a CSI driver took over, of the less common ones.
func (g *gen) otherInTree() m {
	switch g.Intn(5) {
	case 0:
		disk := m{"diskName": "disk", "diskURI": pick(g, "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/disks/one", "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/disks/two")}
		if g.p(70) {
			disk["kind"] = "Managed"
		} else {
			disk["diskURI"] = "https://account.blob.core.windows.net/disks/one.vhd"
		}
		return m{"azureDisk": disk}
	case 1:
		return m{"cinder": m{"volumeID": pick(g, "c-1", "c-2")}}
	case 2:
		return m{"portworxVolume": m{"volumeID": pick(g, "px-1", "px-2")}}
	case 3:
		return m{"vsphereVolume": m{"volumePath": pick(g, "[ds] one.vmdk", "[ds] two.vmdk")}}
	default:
		return m{"azureFile": m{"secretName": "secret", "shareName": pick(g, "one", "two"), "secretNamespace": "default"}}
	}
}

// volumes gives a pod spec volumes; those of the DaemonSet are mostly ones that a filter looks at.
func (g *gen) volumes(spec m, ns string, ds bool) {
	g.tag("volume")
	var vs l
	var claims []string
	for _, c := range g.claims {
		if len(c) > len(ns) && c[:len(ns)+1] == ns+"/" {
			claims = append(claims, c[len(ns)+1:])
		}
	}
	used := map[string]bool{}
	for i := range pick(g, 1, 1, 1, 2, 3) {
		v := m{"name": fmt.Sprintf("v%d", i)}
		n := g.Intn(100)
		switch {
		case n < 55 && len(claims) > 0:
			c := pick(g, claims...)
			if used[c] {
				continue
			}
			used[c] = true
			v["persistentVolumeClaim"] = m{"claimName": c}
		case n < 57 && g.vols:
			v["persistentVolumeClaim"] = m{"claimName": "missing-claim"}
		case n >= 57 && n < 60 && ds:
			v["ephemeral"] = m{"volumeClaimTemplate": m{"spec": m{"accessModes": l{"ReadWriteOnce"}, "storageClassName": "late", "resources": m{"requests": m{"storage": "1Gi"}}}}}
		case n < 69:
			v["gcePersistentDisk"] = m{"pdName": pick(g, "disk-1", "disk-2"), "readOnly": g.p(50)}
		case n < 76:
			v["awsElasticBlockStore"] = m{"volumeID": pick(g, "aws://zone-a/vol-1", "vol-2"), "readOnly": g.p(30)}
		case n < 81:
			v["rbd"] = m{"monitors": toL(sample(g, 1+g.Intn(2), []string{"10.0.0.1:6789", "10.0.0.2:6789", "10.0.0.3:6789"})), "image": pick(g, "img-1", "img-2"), "pool": pick(g, "rbd", "other"), "readOnly": g.p(40)}
		case n < 86:
			v["iscsi"] = m{"targetPortal": "10.0.0.9:3260", "iqn": pick(g, "iqn.2026-01.example:a", "iqn.2026-01.example:b"), "lun": g.Intn(2), "readOnly": g.p(40)}
		case n < 90:
			v["emptyDir"] = m{}
		case n < 94:
			v["csi"] = m{"driver": "ebs.csi.aws.com"}
		case n < 97 && g.vols:
			for k, source := range g.otherInTree() {
				if k == "azureFile" {
					delete(source.(m), "secretNamespace")
				}
				v[k] = source
			}
		default:
			v["hostPath"] = m{"path": "/var/log"}
		}
		vs = append(vs, v)
	}
	if len(vs) > 0 {
		spec["volumes"] = vs
	}
}

// ephemeralClaims makes the claims of a waiting pod's generic ephemeral volumes, rarely one that is not the pod's.
func (g *gen) ephemeralClaims(pod m) {
	meta := pod["metadata"].(m)
	for _, v := range listOf(pod["spec"].(m)["volumes"]) {
		if v.(m)["ephemeral"] == nil || g.p(30) {
			continue
		}
		name := fmt.Sprint(meta["name"], "-", v.(m)["name"])
		claim := m{"name": name, "namespace": meta["namespace"], "uid": "uid-" + name}
		if g.p(85) {
			claim["ownerReferences"] = l{m{"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": true, "blockOwnerDeletion": true}}
		}
		spec := m{"accessModes": l{"ReadWriteOnce"}, "storageClassName": "late", "resources": m{"requests": m{"storage": "1Gi"}}, "volumeMode": "Filesystem"}
		g.add(m{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": claim, "spec": spec, "status": m{"phase": "Pending"}})
	}
}
