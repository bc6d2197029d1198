package main

// Situations that a second reading of upstream's own tests showed and that neither the first probes nor the generator made.

func secondReading(add func(string, ...any)) {
	sharedClaimProbes(add)
	spreadAndAffinityProbes(add)
	evictionProbes(add)
	controllerProbes(add)
	admissionProbes(add)
}

func sharedClaimProbes(add func(string, ...any)) {
	rwop := set(l{"ReadWriteOncePod"}, "spec", "accessModes")
	immediate := storageClass("now", "ebs.csi.aws.com", "Immediate")
	late := storageClass("late", "ebs.csi.aws.com", "WaitForFirstConsumer")
	alone := func(names ...string) []m {
		out := []m{immediate, priorityClass("high", 1000)}
		for _, n := range names {
			out = append(out, pvc(n, "now", "pv-"+n, rwop), pv("pv-"+n, "now", csiSource("h-"+n), rwop))
		}
		return out
	}
	hi := spec("high", "priorityClassName")
	wants := func(names ...string) m { return ds(hi, spec(claimVolume(names...), "volumes")) }
	user := func(name, node string, claims l, more ...mod) m {
		return pod(name, node, append([]mod{set(claims, "spec", "volumes")}, more...)...)
	}
	same := withPriority("high", 1000)
	twice := l{m{"name": "x", "persistentVolumeClaim": m{"claimName": "data"}}, m{"name": "y", "persistentVolumeClaim": m{"claimName": "data"}}}
	other := set("other", "metadata", "namespace")
	nodes := []m{node("n1"), node("n2")}
	add("alone-lower-here-another-there", wants("data"), nodes, alone("data"), user("a", "n1", claimVolume("data")), user("b", "n2", claimVolume("data"), same))
	add("alone-lower-here-another-here", wants("data"), nodes, alone("data"), user("a", "n1", claimVolume("data")), user("b", "n1", claimVolume("data"), same))
	add("alone-two-claims-one-user", wants("data", "data2"), nodes, alone("data", "data2"), user("a", "n1", claimVolume("data", "data2")))
	add("alone-two-claims-two-users", wants("data", "data2"), nodes, alone("data", "data2"), user("a", "n1", claimVolume("data")), user("b", "n2", claimVolume("data2")))
	add("alone-two-users-of-two-here", wants("data", "data2"), nodes, alone("data", "data2"), user("a", "n1", claimVolume("data")), user("b", "n1", claimVolume("data2"), started("09:00")))
	add("alone-user-mounts-it-twice", wants("data", "data2"), nodes, alone("data", "data2"), user("a", "n1", twice), user("b", "n2", claimVolume("data2"), same))
	add("alone-wanted-twice", ds(hi, spec(twice, "volumes")), nodes, alone("data"), user("a", "n1", claimVolume("data")))
	add("alone-name-in-other-namespace-evicted", wants("data"), nodes, alone("data"), user("a", "n1", claimVolume("data"), other), user("b", "n2", claimVolume("data"), same))
	add("alone-nominated-user-alone", wants("data"), nodes, alone("data"), user("a", "", claimVolume("data"), same, set("n1", "status", "nominatedNodeName")))
	disk := append(l{m{"name": "d", "gcePersistentDisk": m{"pdName": "d"}}}, claimVolume("data")...)
	add("alone-nominated-user-and-a-disk", ds(hi, spec(disk, "volumes")), nodes, alone("data"), user("a", "", claimVolume("data"), same, set("n1", "status", "nominatedNodeName")))
	add("alone-nominated-user-and-a-lower-one", wants("data"), nodes, alone("data"), user("b", "n1", claimVolume("data")), user("a", "", claimVolume("data"), same, set("n1", "status", "nominatedNodeName")))
	add("alone-own-pod-and-a-lower-one", wants("data"), nodes, alone("data"), pod("d-1", "n1", own("n1"), set(claimVolume("data"), "spec", "volumes")), user("b", "n1", claimVolume("data")))
	add("alone-terminating-user", wants("data"), nodes, alone("data"), user("a", "n1", claimVolume("data"), terminating))
	add("alone-user-on-gone-node", wants("data"), nodes, alone("data"), user("a", "gone", claimVolume("data")))

	// CSI limits.
	bound := []m{immediate, late, pvc("data", "now", "pv"), pv("pv", "now", csiSource("h1"))}
	data := ds(spec(claimVolume("data"), "volumes"))
	inline := l{m{"name": "v", "awsElasticBlockStore": m{"volumeID": "vol-9"}}}
	add("limit-inline-of-other-pod-counts", data, node("n1"), bound, csiNode("n1", "kubernetes.io/aws-ebs", m{"ebs.csi.aws.com": 1}), user("a", "n1", inline))
	add("limit-two-pending-of-one-class", ds(spec(claimVolume("p", "q"), "volumes")), node("n1"), late, pvc("p", "late", ""), pvc("q", "late", ""), csiNode("n1", "", m{"ebs.csi.aws.com": 1}))
	add("limit-other-driver-is-full", data, node("n1"), bound, csiNode("n1", "", m{"ebs.csi.aws.com": 5, "cap.example.com": 0}))
	add("limit-two-drivers-one-full", ds(spec(claimVolume("data", "more"), "volumes")), node("n1"), bound, pvc("more", "now", "pv-more"), pv("pv-more", "now", m{"csi": m{"driver": "cap.example.com", "volumeHandle": "h"}}), csiNode("n1", "", m{"ebs.csi.aws.com": 5, "cap.example.com": 0}))
	ephemeral := l{m{"name": "e", "ephemeral": m{"volumeClaimTemplate": m{"spec": m{"accessModes": l{"ReadWriteOnce"}, "storageClassName": "late", "resources": m{"requests": m{"storage": "1Gi"}}}}}}}
	ofPod := func(name string) mod {
		return set(l{m{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "uid-" + name, "controller": true}}, "metadata", "ownerReferences")
	}
	add("limit-ephemeral-of-other-pod-counts", data, node("n1"), bound, csiNode("n1", "", m{"ebs.csi.aws.com": 1}), user("a", "n1", ephemeral), pvc("a-e", "late", "", ofPod("a")))
	add("limit-ephemeral-of-other-pod-not-made", data, node("n1"), bound, csiNode("n1", "", m{"ebs.csi.aws.com": 1}), user("a", "n1", ephemeral))
	add("limit-ephemeral-of-other-pod-not-its-own", data, node("n1"), bound, csiNode("n1", "", m{"ebs.csi.aws.com": 1}), user("a", "n1", ephemeral), pvc("a-e", "late", ""))
	add("limit-own-ephemeral-counts", ds(spec(ephemeral, "volumes")), node("n1"), late, csiNode("n1", "", m{"ebs.csi.aws.com": 0}), pod("d-abcde", "", own("n1")), pvc("d-abcde-e", "late", "", ofPod("d-abcde")))
	add("limit-terminating-pod-counts", data, node("n1"), bound, pvc("c2", "now", "pv2"), pv("pv2", "now", csiSource("h2")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), user("a", "n1", claimVolume("c2"), terminating))
	noCount := csiNode("n1", "", m{"ebs.csi.aws.com": 1})
	delete(noCount["spec"].(m)["drivers"].(l)[0].(m), "allocatable")
	add("limit-driver-reports-none", data, node("n1"), bound, noCount, pvc("c2", "now", "pv2"), pv("pv2", "now", csiSource("h2")), user("a", "n1", claimVolume("c2")))
	add("limit-attachment-and-pod-of-one-volume", data, node("n1"), bound, pvc("c2", "now", "pv2"), pv("pv2", "now", csiSource("h2")), csiNode("n1", "", m{"ebs.csi.aws.com": 2}), attachment("va", "n1", "pv2"), user("a", "n1", claimVolume("c2")))
	inlineAttachment := attachment("va", "n1", "pv2")
	inlineAttachment["spec"].(m)["source"] = m{"inlineVolumeSpec": m{"csi": m{"driver": "ebs.csi.aws.com", "volumeHandle": "h7"}, "accessModes": l{"ReadWriteOnce"}, "capacity": m{"storage": "1Gi"}}}
	add("limit-inline-attachment", data, node("n1"), bound, csiNode("n1", "", m{"ebs.csi.aws.com": 1}), inlineAttachment)
	add("limit-shared-with-victim", ds(hi, spec(claimVolume("data"), "volumes")), priorityClass("high", 1000), node("n1"), bound, pvc("c2", "now", "pv2"), pv("pv2", "now", csiSource("h2")), csiNode("n1", "", m{"ebs.csi.aws.com": 1}), user("a", "n1", claimVolume("data", "c2")))

	// Volumes that a late claim may take.
	local := storageClass("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer")
	free := func(name, size string, mods ...mod) m {
		return pv(name, "local", m{"local": m{"path": "/d"}}, append([]mod{set(size, "spec", "capacity", "storage"), onNodes("n1")}, mods...)...)
	}
	lateLocal := func(name string, more ...mod) m { return pvc(name, "local", "", more...) }
	add("late-local-attributes-class-of-volume", data, node("n1"), lateLocal("data"), local, free("pv", "10Gi", set("gold", "spec", "volumeAttributesClassName")))
	add("late-local-attributes-class-of-both", data, node("n1"), lateLocal("data", set("gold", "spec", "volumeAttributesClassName")), local, free("pv", "10Gi", set("gold", "spec", "volumeAttributesClassName")))
	add("late-local-attributes-class-of-claim", data, node("n1"), lateLocal("data", set("gold", "spec", "volumeAttributesClassName")), local, free("pv", "10Gi"))
	add("late-local-empty-attributes-class", data, node("n1"), lateLocal("data", set("", "spec", "volumeAttributesClassName")), local, free("pv", "10Gi"))
	add("late-local-mode-not-given", data, node("n1"), lateLocal("data"), local, free("pv", "10Gi", func(o m) { delete(o["spec"].(m), "volumeMode") }))
	add("late-local-claimref-with-other-uid", data, node("n1"), lateLocal("data"), local, free("pv", "10Gi", set(m{"namespace": "default", "name": "data", "uid": "gone"}, "spec", "claimRef")))
	add("late-local-two-nodes-terms", data, node("n1"), node("n2", zone("a")), lateLocal("data"), local, free("pv", "10Gi", set(l{m{"matchExpressions": l{m{"key": host, "operator": "In", "values": l{"nope"}}}}, m{"matchExpressions": l{m{"key": zoneAt, "operator": "Exists"}}}}, "spec", "nodeAffinity", "required", "nodeSelectorTerms")))
	add("late-local-no-affinity", data, node("n1"), lateLocal("data"), local, free("pv", "10Gi", func(o m) { delete(o["spec"].(m), "nodeAffinity") }))
	add("late-no-provisioner-no-volume", data, node("n1"), lateLocal("data"), local)
	two := func(terms ...m) mod { return set(toL(terms), "allowedTopologies") }
	match := func(key string, values ...string) m {
		return m{"matchLabelExpressions": l{m{"key": key, "values": toL(values)}}}
	}
	add("late-topology-any-of-two-terms", data, node("n1", zone("a")), node("n2", label("rack", "r")), node("n3"), pvc("data", "late", ""), storageClass("late", "ebs.csi.aws.com", "WaitForFirstConsumer", two(match(zoneAt, "a"), match("rack", "r"))))
	both := match(zoneAt, "a", "b")
	both["matchLabelExpressions"] = append(both["matchLabelExpressions"].(l), m{"key": "rack", "values": l{"r"}})
	add("late-topology-both-keys-of-a-term", data, node("n1", zone("a")), node("n2", zone("b"), label("rack", "r")), pvc("data", "late", ""), storageClass("late", "ebs.csi.aws.com", "WaitForFirstConsumer", two(both)))
	add("bound-and-late-unsatisfied", ds(spec(claimVolume("data", "loc"), "volumes")), node("n1"), node("n2"), bound, lateLocal("loc"), local)
	add("bound-elsewhere-and-late-unsatisfied", ds(spec(claimVolume("c2", "loc"), "volumes")), node("n1"), immediate, pvc("c2", "now", "pv2"), pv("pv2", "now", csiSource("h2"), onNodes("n9")), lateLocal("loc"), local)
	add("claim-lost", data, node("n1"), immediate, pvc("data", "now", "", set("Lost", "status", "phase")))
	add("claim-read-only-twice", ds(spec(l{m{"name": "v", "persistentVolumeClaim": m{"claimName": "data", "readOnly": true}}}, "volumes")), node("n1"), bound, csiNode("n1", "", m{"ebs.csi.aws.com": 1}), user("a", "n1", claimVolume("data")))
	measured := storageClass("measured", "cap.example.com", "WaitForFirstConsumer")
	capDriver := m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": m{"name": "cap.example.com"}, "spec": m{"storageCapacity": true}}
	capacity := func(name, amount string, where m) m {
		return m{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": m{"name": name, "namespace": "kube-system"}, "storageClassName": "measured", "nodeTopology": where, "capacity": amount}
	}
	add("capacity-one-of-two-objects", data, node("n1", zone("a")), node("n2", zone("b")), pvc("data", "measured", ""), measured, capDriver, capacity("c1", "1Gi", m{"matchLabels": m{zoneAt: "a"}}), capacity("c2", "9Gi", m{"matchLabels": m{zoneAt: "a"}}), capacity("c3", "1Gi", m{"matchLabels": m{zoneAt: "b"}}))
	add("capacity-two-claims-each-fits", ds(spec(claimVolume("p", "q"), "volumes")), node("n1"), pvc("p", "measured", ""), pvc("q", "measured", ""), measured, capDriver, capacity("c1", "6Gi", m{}))
	add("zone-late-claim-is-left-alone", data, node("n1", zone("a")), pvc("data", "late", ""), late)
	add("zone-immediate-unbound", data, node("n1", zone("a")), pvc("data", "now", ""), immediate)
	add("zone-no-class-unbound", data, node("n1", zone("a")), pvc("data", "", ""))
	add("zone-region-of-beta-label", data, node("n1", label("failure-domain.beta.kubernetes.io/region", "r1")), immediate, pvc("data", "now", "pv"), pv("pv", "now", csiSource("h"), label("failure-domain.beta.kubernetes.io/region", "r2")))
}

func spreadAndAffinityProbes(add func(string, ...any)) {
	spread := func(cs ...m) mod { return spec(toL(cs), "topologySpreadConstraints") }
	four := []m{node("na", zone("a")), node("nb", zone("a")), node("nx", zone("b")), node("ny", zone("b"))}
	web := m{"app": "web"}
	many := func(labels m, counts ...int) []m {
		var out []m
		for i, n := range counts {
			for j := range n {
				name := labels["app"].(string) + string(rune('a'+i)) + string(rune('0'+j))
				out = append(out, pod(name, nodeName(four[i]), withLabels(labels)))
			}
		}
		return out
	}
	self := set(m{"app": "web"}, "spec", "template", "metadata", "labels")
	sel := set(m{"matchLabels": m{"app": "web"}}, "spec", "selector")
	mine := func(cs ...m) m { return ds(self, sel, spread(cs...)) }
	honor := set("Honor", "nodeTaintsPolicy")
	affine := set("Honor", "nodeAffinityPolicy")
	add("spread-two-constraints-one-key", mine(constraint(1, zoneAt, web), constraint(1, zoneAt, m{"app": "db"}, set("ScheduleAnyway", "whenUnsatisfiable"))), four, many(web, 2, 1, 0, 1))
	add("spread-two-selectors", mine(constraint(1, zoneAt, web), constraint(1, host, m{"app": "db"})), four, many(web, 1, 0, 1, 0), many(m{"app": "db"}, 1, 0, 0, 1))
	add("spread-no-selector-but-keys", ds(spread(constraint(1, host, nil, func(c m) { c["labelSelector"] = m{}; c["matchLabelKeys"] = l{"app"} }))), four, many(m{"app": "d"}, 1, 0, 1, 1))
	add("spread-keys-join-the-selector", ds(set("v2", "spec", "template", "metadata", "labels", "version"), spread(constraint(1, host, m{"app": "d"}, set(l{"version"}, "matchLabelKeys")))), four, pod("x", "na", withLabels(m{"app": "d", "version": "v1"})), pod("y", "nb", withLabels(m{"app": "d", "version": "v2"})))
	add("spread-skew-2-fewer-domains-than-wanted", mine(constraint(2, host, web, set(9, "minDomains"))), four, many(web, 2, 1, 0, 2))
	add("spread-missing-key-on-one-node", mine(constraint(1, zoneAt, web), constraint(1, "rack", web)), node("n1", zone("a"), label("rack", "r")), node("n2", zone("a")), pod("w", "n2", withLabels(web)))
	tainted := node("nt", zone("c"), set(l{m{"key": "k", "effect": "NoSchedule"}}, "spec", "taints"))
	add("spread-taint-tolerated", ds(self, sel, spread(constraint(1, zoneAt, web, honor)), spec(l{m{"key": "k", "operator": "Exists"}}, "tolerations")), four, tainted, many(web, 1, 0, 1, 0))
	add("spread-taint-auto-tolerated", mine(constraint(1, zoneAt, web, honor)), four, node("nu", zone("c"), set(true, "spec", "unschedulable"), set(l{m{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}}, "spec", "taints")), many(web, 1, 0, 1, 0))
	add("spread-prefer-no-schedule-is-no-reason", mine(constraint(1, zoneAt, web, honor)), four, node("np", zone("c"), set(l{m{"key": "k", "effect": "PreferNoSchedule"}}, "spec", "taints")), many(web, 1, 0, 1, 0))
	add("spread-honor-both", mine(constraint(1, zoneAt, web, honor, affine)), four, tainted, many(web, 2, 0, 1, 0))
	add("spread-selector-and-ignore", ds(self, sel, spread(constraint(1, zoneAt, web)), spec(m{"topology.kubernetes.io/zone": "a"}, "nodeSelector")), four, many(web, 1, 1, 0, 0))
	add("spread-not-in-selector", mine(constraint(1, host, nil, set(m{"matchExpressions": l{m{"key": "app", "operator": "NotIn", "values": l{"db"}}}}, "labelSelector"))), four, many(web, 1, 0, 0, 1), many(m{"app": "db"}, 0, 3, 0, 0))
	add("spread-terminating-node-pods-of-own", mine(constraint(1, host, web)), four, pod("d-1", "na", own("na"), withLabels(web), terminating), many(web, 0, 1, 1, 1))
	hi := spec("high", "priorityClassName")
	high := priorityClass("high", 1000)
	add("preempt-spread-two-constraints", ds(self, sel, hi, spread(constraint(1, zoneAt, web), constraint(1, host, web))), high, four, many(web, 2, 1, 0, 1))
	add("preempt-spread-terminating-counts-back", ds(self, sel, hi, spread(constraint(1, host, web))), high, four[:2], pod("t", "na", withLabels(web), terminating), pod("u", "na", withLabels(web)), pod("v", "na", withLabels(web)))
	add("preempt-spread-other-zone-no-help", ds(self, sel, hi, spread(constraint(1, zoneAt, web))), high, four, pod("u", "nb", withLabels(web), withPriority("high", 1000)), pod("v", "nb", withLabels(web)), pod("w", "na", withLabels(web)))

	nodes := []m{node("n1", zone("a")), node("n2", zone("a")), node("n3", zone("b"))}
	dsAff := func(kind string, terms ...m) mod { return spec(affinity(kind, terms...), "affinity") }
	anti := func(terms ...m) mod { return set(affinity("podAntiAffinity", terms...), "spec", "affinity") }
	expr := func(key, op string, values ...string) mod {
		e := m{"key": key, "operator": op}
		if len(values) > 0 {
			e["values"] = toL(values)
		}
		return set(m{"matchExpressions": l{e}}, "labelSelector")
	}
	inOther := set("other", "metadata", "namespace")
	add("affinity-not-in", ds(dsAff("podAffinity", term(zoneAt, nil, expr("app", "NotIn", "db")))), nodes, pod("web", "n1"))
	add("affinity-does-not-exist", ds(dsAff("podAffinity", term(zoneAt, nil, expr("tier", "DoesNotExist")))), nodes, pod("web", "n3"))
	add("affinity-expressions-anded", ds(dsAff("podAffinity", term(zoneAt, nil, set(m{"matchExpressions": l{m{"key": "app", "operator": "In", "values": l{"web"}}, m{"key": "tier", "operator": "Exists"}}}, "labelSelector")))), nodes, pod("web", "n1"), pod("x", "n3", withLabels(m{"app": "web", "tier": "f"})))
	add("affinity-namespace-selector-misses", ds(dsAff("podAffinity", term(zoneAt, web, set(m{"matchLabels": m{"team": "y"}}, "namespaceSelector")))), nodes, namespace("other", m{"team": "x"}), pod("web", "n1", inOther))
	add("anti-every-namespace", ds(dsAff("podAntiAffinity", term(zoneAt, web, set(m{}, "namespaceSelector")))), nodes, namespace("other", m{"team": "x"}), pod("web", "n1", inOther))
	add("anti-namespace-selector-not-in", ds(dsAff("podAntiAffinity", term(zoneAt, web, set(m{"matchExpressions": l{m{"key": "team", "operator": "NotIn", "values": l{"x"}}}}, "namespaceSelector")))), nodes, namespace("other", m{"team": "x"}), pod("web", "n1", inOther), pod("web2", "n3", withLabels(web), set("third", "metadata", "namespace")))
	add("existing-anti-one-term-without-key", ds(), nodes, pod("web", "n1", anti(term("rack", m{"app": "d"}), term(zoneAt, m{"app": "d"}))))
	add("existing-anti-one-term-meets", ds(), nodes, pod("web", "n1", anti(term(zoneAt, m{"app": "x"}), term(host, m{"app": "d"}))))
	add("existing-anti-everywhere", ds(), nodes, pod("x", "n1", anti(term(zoneAt, m{"app": "d"}))), pod("y", "n3", anti(term(host, m{"app": "d"}))))
	add("existing-anti-empty-selector", ds(), nodes, pod("x", "n1", anti(m{"topologyKey": host, "labelSelector": m{}})))
	add("existing-anti-no-selector", ds(), nodes, pod("x", "n1", anti(m{"topologyKey": host})))
	add("existing-anti-match-keys", ds(), nodes, pod("x", "n1", withLabels(m{"app": "x", "v": "1"}), anti(term(host, m{"app": "d"}, set(l{"v"}, "matchLabelKeys")))))
	add("existing-anti-terminating", ds(), nodes, pod("x", "n1", terminating, anti(term(host, m{"app": "d"}))))
	add("existing-anti-nominated", ds(), nodes, pod("x", "", set("n1", "status", "nominatedNodeName"), anti(term(host, m{"app": "d"}))))
	add("existing-anti-nominated-and-one-there", ds(), nodes, pod("y", "n3", anti(term(host, m{"app": "d"}))), pod("x", "", set("n1", "status", "nominatedNodeName"), anti(term(host, m{"app": "d"}))))
	add("anti-own-term-one-of-two-meets", ds(dsAff("podAntiAffinity", term(zoneAt, m{"app": "x"}), term(host, web))), nodes, pod("web", "n1"))
	add("affinity-first-pod-needs-the-key", ds(dsAff("podAffinity", term("rack", m{"app": "d"}))), nodes, node("n4", label("rack", "r")))
	add("affinity-first-pod-but-one-elsewhere", ds(dsAff("podAffinity", term("rack", m{"app": "d"}))), node("n1", label("rack", "r")), node("n2", label("rack", "s")), pod("x", "n2", withLabels(m{"app": "d"})))
	add("affinity-first-pod-match-without-key", ds(dsAff("podAffinity", term("rack", m{"app": "d"}))), node("n1", label("rack", "r")), node("n2"), pod("x", "n2", withLabels(m{"app": "d"})))
	add("affinity-mismatch-keys", ds(set("v2", "spec", "template", "metadata", "labels", "version"), dsAff("podAffinity", term(host, m{"app": "d"}, set(l{"version"}, "mismatchLabelKeys")))), nodes, pod("x", "n1", withLabels(m{"app": "d", "version": "v1"})), pod("y", "n2", withLabels(m{"app": "d", "version": "v2"})))
	add("preempt-affinity-needs-the-victim", ds(hi, dsCPU("1500m"), dsAff("podAffinity", term(host, m{"app": "a"}))), high, node("n1"), pod("a", "n1", cpu("100m")), pod("b", "n1", cpu("1")))
	add("preempt-anti-two-pods", ds(hi, dsAff("podAntiAffinity", term(host, m{"g": "x"}))), high, node("n1"), pod("a", "n1", withLabels(m{"g": "x"})), pod("b", "n1", withLabels(m{"g": "x"}), withPriority("high", 1000)))
	add("preempt-existing-anti-of-two", ds(hi), high, node("n1"), pod("a", "n1", anti(term(host, m{"app": "d"}))), pod("b", "n1", anti(term(host, m{"app": "d"})), started("09:00")), pod("c", "n1"))
}

func evictionProbes(add func(string, ...any)) {
	classes := []m{priorityClass("high", 1000), priorityClass("mid", 500), priorityClass("low", -5)}
	hi := spec("high", "priorityClassName")
	big := ds(hi, dsCPU("1500m"))
	mid, low := withPriority("mid", 500), withPriority("low", -5)
	group := withLabels(m{"g": "x"})
	port := func(path ...any) mod {
		return set(l{m{"containerPort": 80, "hostPort": 80}}, append(path, "containers", 0, "ports")...)
	}
	add("evict-port-held-twice", ds(hi, port("spec", "template", "spec")), classes, node("n1"), pod("a", "n1", port("spec")), pod("b", "n1", port("spec"), withPriority("high", 1000)))
	add("evict-port-held-by-two-lower", ds(hi, port("spec", "template", "spec")), classes, node("n1"), pod("a", "n1", port("spec")), pod("b", "n1", port("spec"), mid))
	add("evict-nobody-has-start-times", big, classes, node("n1"), pod("a", "n1", cpu("1"), mid, func(o m) { delete(o["status"].(m), "startTime") }), pod("b", "n1", cpu("600m"), low))
	add("evict-two-budgets-on-one-pod", ds(hi, dsCPU("2")), classes, node("n1"), pdb("p", m{"g": "x"}, 0), pdb("q", m{"g": "x"}, 1), pod("a", "n1", cpu("500m"), group), pod("b", "n1", cpu("500m"), group), pod("c", "n1", cpu("500m")))
	add("evict-two-budgets-of-one-each", ds(hi, dsCPU("2")), classes, node("n1"), pdb("p", m{"g": "x"}, 1), pdb("q", m{"h": "y"}, 0), pod("a", "n1", cpu("500m"), withLabels(m{"g": "x", "h": "y"})), pod("b", "n1", cpu("500m"), group), pod("c", "n1", cpu("500m")))
	add("evict-budget-spares-the-lower", ds(hi, dsCPU("1500m")), classes, node("n1"), pdb("p", m{"app": "b"}, 0), pod("a", "n1", cpu("1"), mid), pod("b", "n1", cpu("1"), low))
	add("evict-budget-and-no-other-way", ds(hi, dsCPU("2")), classes, node("n1"), pdb("p", m{"app": "b"}, 0), pod("a", "n1", cpu("1"), mid), pod("b", "n1", cpu("1"), low))
	add("evict-budget-for-pods-without-labels", ds(hi, dsCPU("2")), classes, node("n1"), pdb("p", nil, 0, set(m{"matchExpressions": l{m{"key": "app", "operator": "DoesNotExist"}}}, "spec", "selector")), pod("a", "n1", cpu("1"), withLabels(m{})))
	add("evict-terminating-among-others", big, classes, node("n1"), pod("a", "n1", cpu("800m"), terminating), pod("b", "n1", cpu("800m"), started("09:00")))
	add("evict-finished-pod-is-none", big, classes, node("n1"), pod("a", "n1", cpu("1"), set("Failed", "status", "phase")), pod("b", "n1", cpu("1")))
	add("evict-pod-of-other-scheduler", big, classes, node("n1"), pod("a", "n1", cpu("1"), set("other", "spec", "schedulerName")))
	add("evict-static-pod", big, classes, node("n1"), pod("a", "n1", cpu("1"), set(m{"kubernetes.io/config.mirror": "x"}, "metadata", "annotations"), set(l{m{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u", "controller": true}}, "metadata", "ownerReferences")))
	add("evict-daemon-pod-of-another-set", big, classes, node("n1"), pod("a", "n1", cpu("1"), set(l{m{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "e", "uid": "u", "controller": true}}, "metadata", "ownerReferences")))
	add("evict-pod-without-priority", big, classes, node("n1"), pod("a", "n1", cpu("1"), func(o m) { delete(o["spec"].(m), "priority") }))
	add("evict-pods-too-many-and-cpu", ds(hi, dsCPU("1500m")), classes, node("n1", set("2", "status", "allocatable", "pods")), pod("a", "n1", cpu("100m"), mid), pod("b", "n1", cpu("1")))
	add("evict-overhead-and-sidecar", ds(hi, dsCPU("1500m")), classes, node("n1"), pod("a", "n1", cpu("100m"), set(m{"cpu": "500m"}, "spec", "overhead"), set("kata", "spec", "runtimeClassName")), pod("b", "n1", set(l{m{"name": "s", "image": "i", "restartPolicy": "Always", "resources": m{"requests": m{"cpu": "500m"}}}}, "spec", "initContainers")))
	add("evict-cordoned-node", big, classes, node("n1", set(true, "spec", "unschedulable")), pod("a", "n1", cpu("1")))
	add("evict-polite-global-default", ds(dsCPU("1500m")), m{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": m{"name": "polite"}, "value": 1000, "globalDefault": true, "preemptionPolicy": "Never"}, node("n1"), pod("a", "n1", cpu("1")))
	add("evict-two-global-defaults", ds(dsCPU("1500m")), m{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": m{"name": "b"}, "value": 1000, "globalDefault": true}, m{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": m{"name": "c"}, "value": 10, "globalDefault": true}, node("n1"), pod("a", "n1", cpu("1"), set(100, "spec", "priority")))
	gone := func(status, reason string, mods ...mod) m {
		return pod("a", "n1", append([]mod{cpu("1"), terminating, set(l{m{"type": "DisruptionTarget", "status": status, "reason": reason}}, "status", "conditions")}, mods...)...)
	}
	mine := func(to string) m {
		return pod("d-abcde", "", own("n1"), set(to, "status", "nominatedNodeName"), withPriority("high", 1000), cpu("1500m"))
	}
	add("own-nominated-condition-not-true", big, classes, node("n1"), mine("n1"), gone("False", "PreemptionByScheduler"))
	add("own-nominated-victim-not-going-yet", big, classes, node("n1"), mine("n1"), pod("a", "n1", cpu("1"), set(l{m{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}}, "status", "conditions")))
	add("own-nominated-victim-is-as-important", big, classes, node("n1"), mine("n1"), gone("True", "PreemptionByScheduler", withPriority("high", 1000)), pod("b", "n1", cpu("500m")))
	add("own-nominated-node-now-hopeless", ds(hi, dsCPU("3")), classes, node("n1"), mine("n1"), gone("True", "PreemptionByScheduler"))
	nominated := func(name string, q string, mods ...mod) m {
		return pod(name, "", append([]mod{set("n1", "status", "nominatedNodeName"), cpu(q)}, mods...)...)
	}
	add("nominated-two-of-them", ds(hi, dsCPU("1")), classes, node("n1"), nominated("x", "600m", withPriority("high", 1000)), nominated("y", "600m", withPriority("high", 1000)))
	add("nominated-and-a-victim", ds(hi, dsCPU("1")), classes, node("n1"), nominated("x", "500m", withPriority("high", 1000)), pod("a", "n1", cpu("1")))
	add("nominated-takes-the-port", ds(hi, port("spec", "template", "spec")), classes, node("n1"), nominated("x", "10m", withPriority("high", 1000), port("spec")))
	add("nominated-gated", ds(dsCPU("1")), classes, node("n1"), nominated("x", "1500m", set(l{m{"name": "example.com/hold"}}, "spec", "schedulingGates")))
	add("nominated-spread", ds(set("x", "spec", "template", "metadata", "labels", "g"), spec(l{constraint(1, host, m{"g": "x"})}, "topologySpreadConstraints")), node("n1"), node("n2"), nominated("x", "10m", group), pod("a", "n2", group))
}

func controllerProbes(add func(string, ...any)) {
	revisions := func(node string, hash string, mods ...mod) m {
		return pod("d-"+hash, node, append([]mod{own(node), set(hash, "metadata", "labels", "controller-revision-hash")}, mods...)...)
	}
	made := func(t string) mod { return set("2026-01-05T"+t+":00Z", "metadata", "creationTimestamp") }
	ready := func(status, since string) mod {
		return set(l{m{"type": "Ready", "status": status, "lastTransitionTime": "2026-01-05T" + since + ":00Z"}}, "status", "conditions")
	}
	patient := func(seconds int) mod { return set(seconds, "spec", "minReadySeconds") }
	surge := set(m{"type": "RollingUpdate", "rollingUpdate": m{"maxUnavailable": 0, "maxSurge": 1}}, "spec", "updateStrategy")
	add("status-oldest-pod-counts", ds(), node("n1"), revisions("n1", "aaa", made("08:00"), ready("False", "09:00")), revisions("n1", "bbb", made("09:00"), ready("True", "09:00")))
	add("status-same-age-by-name", ds(), node("n1"), revisions("n1", "bbb", made("08:00"), ready("True", "09:00")), revisions("n1", "aaa", made("08:00"), ready("False", "09:00")))
	add("status-unbound-and-bound", ds(), node("n1"), revisions("", "aaa", own("n1"), made("08:00")), revisions("n1", "bbb", made("09:00"), ready("True", "09:00")))
	add("status-terminating-counts", ds(), node("n1"), revisions("n1", "aaa", terminating, ready("True", "09:00")))
	add("status-failed-counts-as-there", ds(), node("n1"), revisions("n1", "aaa", set("Failed", "status", "phase")))
	add("status-min-ready-not-yet", ds(patient(600)), node("n1"), revisions("n1", "aaa", ready("True", "11:55")))
	add("status-min-ready-just-now", ds(patient(300)), node("n1"), revisions("n1", "aaa", ready("True", "11:55")))
	add("status-ready-without-time", ds(patient(300)), node("n1"), revisions("n1", "aaa", set(l{m{"type": "Ready", "status": "True"}}, "status", "conditions")))
	add("status-misscheduled-on-taint", ds(), node("n1", set(l{m{"key": "k", "effect": "NoSchedule"}}, "spec", "taints")), revisions("n1", "aaa", ready("True", "09:00")))
	add("status-pod-on-gone-node", ds(), node("n1"), revisions("gone", "aaa", ready("True", "09:00")))
	add("status-orphan-is-not-counted", ds(), node("n1"), pod("x", "n1", withLabels(m{"app": "d"}), ready("True", "09:00")))
	add("status-pod-of-other-owner", ds(), node("n1"), pod("x", "n1", withLabels(m{"app": "d"}), set(l{m{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "e", "uid": "other", "controller": true}}, "metadata", "ownerReferences")))
	add("status-labels-changed-is-released", ds(), node("n1"), revisions("n1", "aaa", set("changed", "metadata", "labels", "app"), ready("True", "09:00")))
	add("status-surge-old-and-new", ds(surge), node("n1"), revisions("n1", "aaa", made("08:00"), ready("True", "09:00")), revisions("n1", "bbb", made("09:00"), ready("False", "09:00")))
	add("controller-node-name-and-selector", ds(spec("n1", "nodeName"), spec(m{"pool": "x"}, "nodeSelector")), node("n1"), node("n2", label("pool", "x")))
	add("controller-node-name-gone", ds(spec("gone", "nodeName")), node("n1"))
	add("controller-old-unbound-pod-for-gone-node", ds(), node("n1"), revisions("", "aaa", own("gone")))
	add("controller-ready-taints", ds(), node("n1", set(l{m{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}}, "spec", "taints")), node("n2", set(l{m{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}, m{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}}, "spec", "taints")))
	add("controller-selector-and-affinity", ds(spec(m{"pool": "x"}, "nodeSelector"), spec(m{"nodeAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": "pool", "operator": "NotIn", "values": l{"y"}}}}}}}}, "affinity")), node("n1", label("pool", "x")), node("n2", label("pool", "y")), node("n3"))
}

func admissionProbes(add func(string, ...any)) {
	selector := func(s string) m {
		ns := namespace("default", m{})
		set(s, "metadata", "annotations", podNodeSelectorAnnotation)(ns)
		return ns
	}
	witness := func(sel m) m {
		return pod("admitted", "gone", set(sel, "spec", "nodeSelector"), set("Succeeded", "status", "phase"))
	}
	gpu := m{"pool": "gpu"}
	nodes := []m{node("n1", label("pool", "gpu")), node("n2")}
	add("namespace-selector-joins", ds(), nodes, selector("pool=gpu"), witness(gpu))
	add("namespace-selector-and-own", ds(spec(m{"kubernetes.io/os": "linux"}, "nodeSelector")), nodes, selector("pool=gpu"), witness(gpu))
	add("namespace-selector-conflicts", ds(spec(m{"pool": "cpu"}, "nodeSelector")), nodes, selector("pool=gpu"), witness(gpu))
	add("namespace-selector-same", ds(spec(m{"pool": "gpu"}, "nodeSelector")), nodes, selector("pool=gpu"), witness(gpu))
	add("own-priority-without-class", ds(spec(5, "priority")), priorityClass("high", 1000), node("n1"))
	add("own-priority-as-computed", ds(spec(0, "priority")), priorityClass("high", 1000), node("n1"))
	add("own-policy-against-class", ds(spec("Never", "preemptionPolicy")), priorityClass("high", 1000), node("n1"))
	add("own-policy-as-class", ds(spec("PreemptLowerPriority", "preemptionPolicy")), priorityClass("high", 1000), node("n1"))
	limits := func(name string, item m) m {
		item["type"] = "Container"
		return m{"apiVersion": "v1", "kind": "LimitRange", "metadata": m{"name": name, "namespace": "default"}, "spec": m{"limits": l{item}}}
	}
	add("limit-range-default-storage", ds(), node("n1"), limits("a", m{"default": m{"ephemeral-storage": "20Gi"}}))
	add("limit-range-min-alone", ds(), node("n1"), limits("a", m{"min": m{"cpu": "3"}}))
	add("limit-range-request-above-default-limit", ds(dsCPU("1")), node("n1"), limits("a", m{"default": m{"cpu": "500m"}}))
	add("limit-range-two", ds(), node("n1"), limits("a", m{"defaultRequest": m{"cpu": "1"}}), limits("b", m{"defaultRequest": m{"memory": "5Gi"}}))
	rc := m{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": m{"name": "kata"}, "handler": "k", "overhead": m{"podFixed": m{"cpu": "250m"}}}
	add("overhead-as-class", ds(spec("kata", "runtimeClassName"), spec(m{"cpu": "0.25"}, "overhead")), rc, node("n1"))
	add("overhead-not-as-class", ds(spec("kata", "runtimeClassName"), spec(m{"cpu": "300m"}, "overhead")), rc, node("n1"))
	add("overhead-without-class", ds(spec(m{"cpu": "300m"}, "overhead")), node("n1"))
	plain := m{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": m{"name": "plain"}, "handler": "k"}
	add("overhead-class-has-none", ds(spec("plain", "runtimeClassName"), spec(m{"cpu": "300m"}, "overhead")), plain, node("n1"))
	scheduling := m{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": m{"name": "far"}, "handler": "k", "scheduling": m{"nodeSelector": m{"pool": "gpu"}, "tolerations": l{m{"key": "k", "operator": "Exists"}}}}
	add("class-scheduling-conflicts", ds(spec("far", "runtimeClassName"), spec(m{"pool": "cpu"}, "nodeSelector")), scheduling, nodes)
	add("class-scheduling-same", ds(spec("far", "runtimeClassName"), spec(m{"pool": "gpu"}, "nodeSelector")), scheduling, nodes)
	add("class-missing", ds(spec("gone", "runtimeClassName")), node("n1"))
	add("users-on-host-network", ds(spec(true, "hostNetwork"), spec(false, "hostUsers")), node("n1"), node("n2", set(l{"UserNamespacesHostNetworkSupport"}, "status", "declaredFeatures")))
	// A key that is merged into a selector may not be there already; the template alone is valid.
	keys := func(kind, list string, of ...any) mod {
		labels := set("v2", "spec", "template", "metadata", "labels", "version")
		t := term(host, m{"app": "d"}, set(l(of), list))
		return func(o m) {
			labels(o)
			switch kind {
			case "spread":
				spec(l{m{"maxSkew": 1, "topologyKey": host, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": t["labelSelector"], "matchLabelKeys": l(of)}}, "topologySpreadConstraints")(o)
			case "required":
				spec(l{t}, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")(o)
			default:
				spec(l{m{"weight": 1, "podAffinityTerm": t}}, "affinity", "podAffinity", "preferredDuringSchedulingIgnoredDuringExecution")(o)
			}
		}
	}
	for _, kind := range []string{"required", "preferred", "spread"} {
		add("keys-in-selector-"+kind, ds(keys(kind, "matchLabelKeys", "app")), node("n1"))
		add("keys-twice-"+kind, ds(keys(kind, "matchLabelKeys", "version", "version")), node("n1"))
		add("keys-twice-that-the-pod-lacks-"+kind, ds(keys(kind, "matchLabelKeys", "nokey", "nokey")), node("n1"))
		add("keys-of-the-revision-"+kind, ds(keys(kind, "matchLabelKeys", "controller-revision-hash")), node("n1"))
	}
	for _, kind := range []string{"required", "preferred"} {
		add("mismatch-keys-in-selector-"+kind, ds(keys(kind, "mismatchLabelKeys", "app")), node("n1"))
		add("mismatch-keys-twice-"+kind, ds(keys(kind, "mismatchLabelKeys", "version", "version")), node("n1"))
	}
	add("image-with-blanks", ds(spec(" i", "containers", 0, "image")), node("n1"))
	add("image-with-line-end", ds(spec(l{m{"name": "n", "image": "i\n"}}, "initContainers")), node("n1"))
	add("grace-period-negative", ds(spec(-1, "terminationGracePeriodSeconds")), node("n1"))
	add("toleration-less", ds(spec(l{m{"key": "sla", "operator": "Lt", "value": "900", "effect": "NoSchedule"}}, "tolerations")), node("n1", set(l{m{"key": "sla", "value": "850", "effect": "NoSchedule"}}, "spec", "taints")), node("n2"))
}
