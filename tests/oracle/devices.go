package main

import "fmt"

// devices fills the cluster with device classes, slices and claims: free, allocated elsewhere, reserved, unsatisfiable.
func (g *gen) devices() {
	cel := func(exprs ...string) l {
		g.tag("cel")
		return l{m{"cel": m{"expression": pick(g, exprs...)}}}
	}
	class := func(name string, spec m) {
		g.add(m{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": m{"name": name}, "spec": spec})
	}
	class("any", m{})
	gpu := m{}
	if g.p(60) {
		gpu["selectors"] = cel(`device.driver == "gpu.example.com"`, `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a100"`, `device.driver.startsWith("gpu")`)
	}
	// The field is dropped by an API server whose gate is off.
	if minor >= 36 && g.p(60) {
		gpu["extendedResourceName"] = "example.com/gpu"
		g.tag("extended-dra")
	}
	class("gpu", gpu)
	if g.p(40) {
		class("big", m{"selectors": cel(`device.capacity["gpu.example.com"].memory.compareTo(quantity("20Gi")) >= 0`, `device.attributes["gpu.example.com"].index > 0`, `"gpu.example.com" in device.attributes`)})
	}

	type dev struct {
		driver, pool, name string
		shared, measured   bool
	}
	var devs []dev
	slice := func(name, driver, pool string, where m, n int) {
		var ds l
		for i := range n {
			d := m{"name": fmt.Sprintf("d%d", i)}
			if g.p(75) {
				d["attributes"] = m{"model": m{"string": pick(g, "a100", "h100", "t4")}, "index": m{"int": i}, "numa": m{"int": pick(g, 0, 1)}}
				if g.p(30) {
					d["attributes"].(m)["fast"] = m{"bool": g.p(50)}
					d["attributes"].(m)["driverVersion"] = m{"version": pick(g, "1.0.0", "2.1.3")}
				}
			}
			if g.p(60) {
				d["capacity"] = m{"memory": m{"value": pick(g, "16Gi", "20Gi", "40Gi")}}
			}
			if minor >= 36 && g.p(15) {
				d["taints"] = l{m{"key": "example.com/broken", "value": "yes", "effect": pick(g, "NoSchedule", "NoSchedule", "NoExecute", "None")}}
				g.tag("device-taint")
			}
			if minor >= 36 && where["nodeName"] == nil && g.p(20) {
				d["bindsToNode"] = true
				g.tag("binding")
			}
			if minor >= 36 && g.p(4) {
				d["bindingConditions"], d["bindingFailureConditions"] = l{"example.com/ready"}, l{"example.com/failed"}
				g.tag("binding")
			}
			if minor >= 36 && g.p(8) {
				d["allowMultipleAllocations"] = true
				g.tag("shared-device")
				if c, ok := d["capacity"].(m); ok && g.p(60) {
					c["memory"].(m)["requestPolicy"] = m{"default": "4Gi", "validRange": m{"min": "4Gi", "step": "4Gi"}}
				}
			}
			if i > 0 && g.p(2) { // a driver's mistake: the pool is not valid
				d["name"] = fmt.Sprintf("d%d", i-1)
				g.tag("invalid-pool")
			}
			ds = append(ds, d)
			devs = append(devs, dev{driver, pool, fmt.Sprintf("d%d", i), d["allowMultipleAllocations"] == true, d["capacity"] != nil})
		}
		spec := m{"driver": driver, "pool": m{"name": pool, "generation": 1, "resourceSliceCount": 1}}
		put := func(name string, spec m) {
			g.add(m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": m{"name": name}, "spec": spec})
		}
		switch {
		case minor >= 36 && len(ds) > 0 && g.p(12):
			// Devices that share memory: their sum may be more than there is.
			g.tag("counters")
			total := pick(g, "16Gi", "30Gi", "40Gi")
			sets := l{m{"name": "all", "counters": m{"memory": m{"value": total}}}}
			if g.p(40) {
				sets = append(sets, m{"name": "slots", "counters": m{"slots": m{"value": pick(g, "1", "2")}, "lanes": m{"value": "16"}}})
			}
			for _, d := range ds {
				if g.p(85) {
					d.(m)["consumesCounters"] = l{m{"counterSet": "all", "counters": m{"memory": m{"value": pick(g, "10Gi", "16Gi", "20Gi")}}}}
				}
				if len(sets) > 1 && g.p(60) {
					d.(m)["consumesCounters"] = append(listOf(d.(m)["consumesCounters"]), m{"counterSet": "slots", "counters": m{"slots": m{"value": "1"}, "lanes": m{"value": pick(g, "4", "16")}}})
				}
			}
			spec["pool"].(m)["resourceSliceCount"] = 2
			put(name+"-counters", m{"driver": driver, "pool": m{"name": pool, "generation": 1, "resourceSliceCount": 2}, "nodeName": where["nodeName"],
				"sharedCounters": sets})
		case where["nodeName"] != nil && g.p(8):
			// A slice of a newer generation makes the others of the pool obsolete.
			g.tag("obsolete-slice")
			put(name+"-new", m{"driver": driver, "pool": m{"name": pool, "generation": 2, "resourceSliceCount": 1}, "nodeName": where["nodeName"],
				"devices": l{m{"name": "n0", "attributes": m{"model": m{"string": "h100"}}}}})
		case where["nodeName"] != nil && g.p(8):
			spec["pool"].(m)["resourceSliceCount"] = 2
			put(name+"-more", m{"driver": driver, "pool": m{"name": pool, "generation": 1, "resourceSliceCount": 2}, "nodeName": where["nodeName"],
				"devices": l{m{"name": "m0", "attributes": m{"model": m{"string": pick(g, "a100", "t4")}, "numa": m{"int": 1}}}}})
		case where["nodeName"] != nil && g.p(8):
			// A pool that reaches over several nodes.
			spec["pool"].(m)["resourceSliceCount"] = 2
			put(name+"-host", m{"driver": driver, "pool": m{"name": pool, "generation": pick(g, 1, 1, 1, 2), "resourceSliceCount": 2}, "nodeName": g.someNode(),
				"devices": l{m{"name": "h0", "attributes": m{"model": m{"string": pick(g, "a100", "t4")}, "numa": m{"int": 0}}}}})
			g.tag("multi-host-pool")
		case minor >= 36 && where["nodeName"] != nil && len(ds) > 0 && g.p(8):
			where = m{"perDeviceNodeSelection": true}
			for _, d := range ds {
				switch {
				case g.p(15):
					d.(m)["allNodes"] = true
				case g.p(20):
					d.(m)["nodeSelector"] = m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": "topology.kubernetes.io/zone", "operator": "In", "values": l{pick(g, g.zones...)}}}}}}
				default:
					d.(m)["nodeName"] = g.someNode()
				}
			}
			g.tag("per-device-node")
		}
		if g.p(7) && spec["pool"].(m)["resourceSliceCount"] == 1 {
			spec["pool"].(m)["resourceSliceCount"] = 2 // incomplete: a slice of the pool is not there yet
		}
		for k, v := range where {
			spec[k] = v
		}
		if len(ds) > 0 {
			spec["devices"] = ds
		}
		put(name, spec)
	}
	for _, n := range g.nodes {
		name := nodeName(n)
		if g.p(70) {
			slice("gpu-"+name, "gpu.example.com", name, m{"nodeName": name}, pick(g, 0, 1, 1, 2, 3))
		}
		if g.p(25) {
			slice("nic-"+name, "nic.example.com", name, m{"nodeName": name}, pick(g, 1, 2))
		}
	}
	if g.p(20) {
		slice("net", "net.example.com", "net", pick(g, m{"allNodes": true}, m{"nodeSelector": m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": "topology.kubernetes.io/zone", "operator": "In", "values": l{pick(g, g.zones...)}}}}}}}), pick(g, 1, 2))
	}
	request := func(name string) m {
		exact := func() m {
			r := m{"deviceClassName": pick(g, "any", "gpu", "gpu", "gpu", "big")}
			if g.p(3) {
				r["deviceClassName"] = "nosuchclass"
			}
			switch {
			case g.p(20):
				r["allocationMode"] = "All"
			case g.p(45):
				r["allocationMode"], r["count"] = "ExactCount", pick(g, 1, 1, 2, 3)
			}
			if g.p(25) {
				r["selectors"] = cel(`device.attributes["gpu.example.com"].model == "a100"`, `device.attributes["gpu.example.com"].model in ["a100", "h100"]`, `device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("16Gi"))`,
					`device.attributes["gpu.example.com"].fast`, `device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.5.0"))`, `true`, `false`, `!("nic.example.com" in device.attributes)`)
			}
			if minor >= 36 && g.p(15) {
				r["tolerations"] = l{pick(g, m{"operator": "Exists"}, m{"key": "example.com/broken", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}, m{"key": "example.com/other", "operator": "Exists"})}
			}
			if minor >= 36 && g.p(8) {
				r["capacity"] = m{"requests": m{"memory": pick(g, "1Gi", "8Gi", "17Gi")}}
				g.tag("capacity-request")
			}
			return r
		}
		if g.p(15) {
			g.tag("first-available")
			var subs l
			for i := range pick(g, 1, 2, 3) {
				r := exact()
				r["name"] = fmt.Sprintf("sub%d", i)
				subs = append(subs, r)
			}
			return m{"name": name, "firstAvailable": subs}
		}
		r := exact()
		if g.p(5) {
			r["adminAccess"] = true
			g.tag("admin-access")
		}
		return m{"name": name, "exactly": r}
	}
	if minor >= 37 && len(devs) > 0 && g.p(12) {
		d := pick(g, devs...)
		sel := m{"driver": d.driver}
		if g.p(70) {
			sel["pool"] = d.pool
			if g.p(50) {
				sel["device"] = d.name
			}
		}
		g.add(m{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": m{"name": "rule"}, "spec": m{"deviceSelector": sel,
			"taint": m{"key": "example.com/rule", "effect": pick(g, "NoSchedule", "NoExecute", "None"), "timeAdded": "2026-01-05T08:00:00Z"}}})
		g.tag("device-taint")
	}
	for _, n := range g.nodes {
		// The same name given out by a device plugin too: what the node has itself comes first.
		if alloc, ok := n["status"].(m)["allocatable"].(m); ok && minor >= 36 && g.p(15) {
			alloc["example.com/gpu"] = pick(g, "0", "1", "2")
			if c, ok := n["status"].(m)["capacity"].(m); ok {
				c["example.com/gpu"] = alloc["example.com/gpu"]
			}
		}
	}
	claimSpec := func() m {
		var rs l
		for i := range pick(g, 1, 1, 1, 2) {
			rs = append(rs, request(fmt.Sprintf("r%d", i)))
		}
		d := m{"requests": rs}
		if g.p(15) {
			c := m{"matchAttribute": pick(g, "gpu.example.com/numa", "gpu.example.com/model", "nic.example.com/numa")}
			if minor >= 36 && g.p(25) {
				c = m{"distinctAttribute": pick(g, "gpu.example.com/numa", "gpu.example.com/model")}
			}
			if g.p(25) {
				c["requests"] = l{"r0"}
			}
			d["constraints"] = l{c}
			g.tag("constraint")
		}
		return m{"devices": d}
	}
	for _, ns := range []string{"default", "apps", "kube-system"} {
		if ns != g.ns && g.p(60) {
			continue
		}
		for i := range pick(g, 1, 2, 3) {
			name := fmt.Sprintf("claim-%d", i)
			meta := m{"name": name, "namespace": ns, "uid": "uid-rc-" + ns + "-" + name}
			spec := claimSpec()
			status := m{}
			if g.p(45) && len(devs) > 0 {
				n := g.someNode()
				mine := devs[:0:0]
				for _, d := range devs {
					if d.pool == n || d.pool == "net" {
						mine = append(mine, d)
					}
				}
				var results l
				for i, d := range sample(g, pick(g, 1, 1, 2), mine) {
					result := m{"request": "r0", "driver": d.driver, "pool": d.pool, "device": d.name}
					if d.shared && g.p(85) { // a part of it, of its own
						result["shareID"] = fmt.Sprintf("%08d-0000-4000-8000-00000000000%d", g.Intn(1000), i)
						if d.measured {
							result["consumedCapacity"] = m{"memory": pick(g, "4Gi", "8Gi", "16Gi")}
						}
					} else if g.p(8) { // looks at it and takes nothing
						result["adminAccess"] = true
						g.tag("admin-access")
					}
					results = append(results, result)
				}
				if len(results) > 0 {
					alloc := m{"devices": m{"results": results}}
					if g.p(92) {
						alloc["nodeSelector"] = m{"nodeSelectorTerms": l{m{"matchFields": l{m{"key": "metadata.name", "operator": "In", "values": l{n}}}}}}
						if g.p(15) {
							alloc["nodeSelector"] = m{"nodeSelectorTerms": l{m{"matchExpressions": l{m{"key": "topology.kubernetes.io/zone", "operator": "In", "values": l{pick(g, g.zones...)}}}}}}
						}
					}
					status["allocation"] = alloc
					meta["finalizers"] = l{"resource.kubernetes.io/delete-protection"}
					if g.p(70) {
						var rf l
						for i := range pick(g, 1, 1, 2, 256) {
							rf = append(rf, m{"resource": "pods", "name": fmt.Sprintf("user-%d", i), "uid": fmt.Sprintf("uid-user-%d", i)})
						}
						status["reservedFor"] = rf
					}
				}
			}
			if g.p(4) {
				meta["deletionTimestamp"] = "2026-01-05T11:59:00Z"
				meta["finalizers"] = l{"resource.kubernetes.io/delete-protection"}
			}
			o := m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec}
			if len(status) > 0 {
				o["status"] = status
			}
			g.add(o)
			g.devClaims = append(g.devClaims, ns+"/"+name)
		}
		if g.p(40) {
			g.add(m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": m{"name": "template", "namespace": ns}, "spec": m{"spec": claimSpec()}})
			g.templates = append(g.templates, ns+"/template")
		}
	}
}

// resourceClaims gives a pod spec claims of its namespace or, where a class stands behind one, an extended resource.
func (g *gen) resourceClaims(spec m, ns string, ds bool) {
	g.tag("dra")
	in := func(all []string) (out []string) {
		for _, c := range all {
			if len(c) > len(ns) && c[:len(ns)+1] == ns+"/" {
				out = append(out, c[len(ns)+1:])
			}
		}
		return out
	}
	first := spec["containers"].(l)[0].(m)
	if minor >= 36 && g.p(30) {
		r, _ := first["resources"].(m)
		if r == nil {
			r = m{}
		}
		for _, k := range []string{"requests", "limits"} {
			mm, _ := r[k].(m)
			if mm == nil {
				mm = m{}
			}
			r[k] = mm
		}
		name, n := pick(g, "example.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/gpu"), pick(g, "1", "1", "2")
		r["requests"].(m)[name], r["limits"].(m)[name] = n, n
		first["resources"] = r
		g.tag("extended-dra")
		return
	}
	var claims l
	var uses l
	add := func(c m) {
		name := fmt.Sprintf("c%d", len(claims))
		c["name"] = name
		claims = append(claims, c)
		if g.p(80) {
			uses = append(uses, m{"name": name})
		}
	}
	for _, c := range sample(g, pick(g, 1, 1, 2), in(g.devClaims)) {
		add(m{"resourceClaimName": c})
	}
	if t := in(g.templates); ds && len(t) > 0 && g.p(12) {
		add(m{"resourceClaimTemplateName": t[0]})
	}
	if len(claims) == 0 || g.p(4) {
		add(m{"resourceClaimName": "missing-claim"})
	}
	spec["resourceClaims"] = claims
	if len(uses) > 0 {
		r, _ := first["resources"].(m)
		if r == nil {
			r = m{}
		}
		r["claims"] = uses
		first["resources"] = r
	}
}

// claimsOfTemplates makes what the resource claim controller makes for a waiting pod, and rarely what an earlier attempt to
// schedule it has left behind.
func (g *gen) claimsOfTemplates(pod m) {
	meta, spec := pod["metadata"].(m), pod["spec"].(m)
	owner := l{m{"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": true, "blockOwnerDeletion": true}}
	var statuses l
	for _, c := range listOf(spec["resourceClaims"]) {
		if c.(m)["resourceClaimTemplateName"] == nil || g.p(25) {
			continue
		}
		g.tag("claim-of-template")
		if g.p(6) { // the template turned out to need no claim
			statuses = append(statuses, m{"name": c.(m)["name"]})
			continue
		}
		name := fmt.Sprint(meta["name"], "-", c.(m)["name"], "-abcde")
		statuses = append(statuses, m{"name": c.(m)["name"], "resourceClaimName": name})
		if g.p(6) {
			continue
		}
		for _, o := range g.objs {
			t := o.(m)
			if t["kind"] == "ResourceClaimTemplate" && t["metadata"].(m)["namespace"] == meta["namespace"] {
				claim := m{"name": name, "namespace": meta["namespace"], "uid": "uid-" + name}
				if g.p(92) {
					claim["ownerReferences"] = owner
				}
				g.add(m{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": claim, "spec": t["spec"].(m)["spec"]})
				break
			}
		}
	}
	if statuses != nil {
		pod["status"].(m)["resourceClaimStatuses"] = statuses
	}
}
