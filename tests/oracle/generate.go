package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controller"
)

// Objects are plain JSON trees rather than upstream's types, so that a seed gives both versions the same cluster,
// quantities keep the spelling they were given, and absent stays absent.
type (
	m = map[string]any
	l = []any
)

func generateMain(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("generate", flag.ExitOnError)
	seed := fs.Int64("seed", 1, "seed of the first cluster; the next cluster has the next seed")
	cases := fs.Int("cases", 100, "cases to write")
	variants := fs.Int("variants", 4, "DaemonSets tried on each cluster")
	prefix := fs.String("prefix", "gen", "start of the ids")
	theme := fs.String("theme", "", "only this theme")
	fs.Parse(args)
	for n := 0; n < *cases; *seed++ {
		for v := 0; v < *variants && n < *cases; v++ {
			c, err := generate(*seed, v, *theme)
			if err != nil {
				return err
			}
			c.ID = fmt.Sprintf("%s-%d-%d", *prefix, *seed, v)
			b, err := marshal(c)
			if err != nil {
				return err
			}
			out.Write(append(b, '\n'))
			n++
		}
	}
	return nil
}

// minor is the minor version that is generated for: an API server never holds what it would have refused.
var minor = func() int {
	var major, min, patch int
	fmt.Sscanf(upstreamVersion, "v%d.%d.%d", &major, &min, &patch)
	return min
}()

type gen struct {
	*rand.Rand
	tags []string
	objs l
	// What the cluster has, for the DaemonSet to refer to.
	nodes     []m
	zones     []string
	claims    []string // PersistentVolumeClaims by namespace/name
	devClaims []string // ResourceClaims by namespace/name
	templates []string // ResourceClaimTemplates by namespace/name
	manifest  bool     // no defaults, odd spellings
	dra, vols bool
	ns        string
}

func (g *gen) p(percent int) bool { return g.Intn(100) < percent }
func (g *gen) tag(t string) {
	if !slices.Contains(g.tags, t) {
		g.tags = append(g.tags, t)
	}
}
func pick[T any](g *gen, of ...T) T { return of[g.Intn(len(of))] }
func (g *gen) add(o m)              { g.objs = append(g.objs, o) }

// sample draws up to n different elements, in order.
func sample[T any](g *gen, n int, of []T) []T {
	var out []T
	idx := g.Perm(len(of))[:min(n, len(of))]
	slices.Sort(idx)
	for _, i := range idx {
		out = append(out, of[i])
	}
	return out
}

func generate(seed int64, variant int, theme string) (*Case, error) {
	// The cluster depends on the seed alone: variants of a DaemonSet on one cluster compress to little more than one.
	g := &gen{Rand: rand.New(rand.NewSource(seed))}
	g.manifest = g.p(20)
	g.ns = pick(g, "default", "apps", "kube-system")
	weights := slices.Clone(themes)
	clusterTheme := pick(g, weights...)
	if theme != "" {
		clusterTheme = theme
	}
	g.vols = clusterTheme == "volume" || clusterTheme == "preemption" && g.p(20) || g.p(8)
	g.dra = clusterTheme == "dra" || clusterTheme == "preemption" && g.p(8) || g.p(4)
	g.namespaces(clusterTheme)
	g.classes(clusterTheme)
	g.makeNodes(clusterTheme)
	if g.vols {
		g.storage()
	}
	if g.dra {
		g.devices()
	}
	g.otherPods(clusterTheme)
	if g.p(15) || clusterTheme == "preemption" {
		g.budgets()
	}

	g.Rand = rand.New(rand.NewSource(seed*1000 + int64(variant) + 7))
	ts := []string{clusterTheme}
	for g.p(35) {
		ts = append(ts, pick(g, weights...))
	}
	if theme == "" && g.p(25) {
		ts[0] = pick(g, weights...)
	}
	ds := g.daemonSet(ts)
	g.ownPods(ds)
	g.add(ds)

	form := "get"
	if g.manifest {
		form = "manifest"
	}
	c := &Case{Seed: &seed, Form: form, Tags: g.tags, DaemonSet: g.ns + "/agent"}
	hasOwn := slices.ContainsFunc(g.objs, func(o any) bool {
		labels, _ := o.(m)["metadata"].(m)["labels"].(m)
		_, owned := labels["controller-revision-hash"]
		return o.(m)["kind"] == "Pod" && owned
	})
	for _, o := range g.objs {
		b, err := marshal(o)
		if err != nil {
			return nil, err
		}
		if seed%3 == 0 {
			// Names as AWS gives them: the translation of in-tree volumes derives a region from a zone.
			b = bytes.ReplaceAll(b, []byte("zone-"), []byte("eu-west-1"))
		}
		if !g.manifest || o.(m)["kind"] == "DaemonSet" && hasOwn {
			// A DaemonSet with pods has gone through an API server; its revision is its template, word for word.
			if b, err = asGet(b); err != nil {
				return nil, fmt.Errorf("seed %d: %w", seed, err)
			}
		}
		c.Objects = append(c.Objects, b)
	}
	return c, addRevision(c)
}

// addRevision adds the ControllerRevision that the controller made when it made the DaemonSet's pods: without it nobody can
// tell which of them are current.
func addRevision(c *Case) error {
	cl, err := decode(c)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(cl.pods, func(p *v1.Pod) bool { return metav1.IsControlledBy(p, cl.ds) }) {
		return nil
	}
	ans, err := runController(context.Background(), cl)
	if err != nil {
		return err
	}
	ans.current.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}
	full, err := json.Marshal(ans.current)
	if err != nil {
		return err
	}
	var tree m
	if err := json.Unmarshal(full, &tree); err != nil {
		return err
	}
	delete(tree["metadata"].(m), "creationTimestamp")
	b, err := marshal(tree)
	c.Objects = append(c.Objects, b)
	return err
}

// asGet gives an object the defaults and spellings that kubectl get would show.
func asGet(b []byte) ([]byte, error) {
	obj, gvk, err := legacyscheme.Codecs.UniversalDeserializer().Decode(b, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, b)
	}
	legacyscheme.Scheme.Default(obj)
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	full, err := json.Marshal(obj.(runtime.Object))
	if err != nil {
		return nil, err
	}
	var tree m
	if err := json.Unmarshal(full, &tree); err != nil {
		return nil, err
	}
	return marshal(slim(tree))
}

// slim drops what the typed encoding adds and no server would send: empty structs, nulls and empty strings of nodeInfo.
func slim(v any) any {
	switch v := v.(type) {
	case m:
		for k, x := range v {
			x = slim(x)
			if mm, ok := x.(m); x == nil || (ok && len(mm) == 0 && (k == "nodeInfo" || k == "daemonEndpoints" || k == "kubeletEndpoint" || k == "strategy" || k == "status")) {
				delete(v, k)
			} else if k == "Port" || k == "creationTimestamp" && x == nil {
				delete(v, k)
			} else {
				v[k] = x
			}
		}
		if _, ok := v["kubeletVersion"]; ok {
			for k, x := range v {
				if x == "" {
					delete(v, k)
				}
			}
		}
		return v
	case l:
		for i := range v {
			v[i] = slim(v[i])
		}
	}
	return v
}

var themes = []string{
	"plain", "taint", "taint", "selector", "affinity", "affinity", "resources", "resources", "extended", "pods",
	"containers", "containers", "podlevel", "podlevel", "resize", "resize", "ports", "ports", "ports", "volume", "volume", "volume",
	"volume", "podaffinity", "podaffinity", "podaffinity", "existinganti", "spread", "spread", "spread", "dra", "dra",
	"preemption", "preemption", "preemption", "preemption", "nominated", "nominated", "runtimeclass", "limitrange", "gates", "nodename",
	"declared", "conditions", "nodeselector", "static",
}

// ---- cluster ----

func (g *gen) namespaces(theme string) {
	labels := map[string]m{
		"default":     {"kubernetes.io/metadata.name": "default", "team": "a"},
		"apps":        {"kubernetes.io/metadata.name": "apps", "team": "b", "env": "dev"},
		"kube-system": {"kubernetes.io/metadata.name": "kube-system"},
	}
	for _, n := range []string{"default", "apps", "kube-system"} {
		meta := m{"name": n, "labels": labels[n]}
		if n == g.ns && (theme == "nodeselector" || g.p(3)) {
			// The admission plugin PodNodeSelector is on in this cluster, as a pod that it has changed shows.
			s := pick(g, "pool=gpu", "ssd=true", "kubernetes.io/os=linux", "pool=general,ssd=true", "gpu-count=2")
			meta["annotations"] = m{podNodeSelectorAnnotation: s}
			selector := m{}
			for _, e := range strings.Split(s, ",") {
				k, v, _ := strings.Cut(e, "=")
				selector[k] = v
			}
			g.add(m{"apiVersion": "v1", "kind": "Pod", "metadata": m{"name": "admitted", "namespace": n, "uid": "uid-admitted"},
				"spec": m{"containers": l{m{"name": "c", "image": "i"}}, "nodeSelector": selector, "nodeName": "gone-node", "priority": 0}, "status": m{"phase": "Succeeded"}})
			g.tag("pod-node-selector")
		}
		g.add(m{"apiVersion": "v1", "kind": "Namespace", "metadata": meta, "status": m{"phase": "Active"}})
	}
}

func (g *gen) classes(theme string) {
	pc := func(name string, value int, more m) {
		o := m{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": m{"name": name}, "value": value}
		for k, v := range more {
			o[k] = v
		}
		g.add(o)
	}
	pc("high", 1000000, nil)
	pc("low", -10, nil)
	pc("polite", 900000, m{"preemptionPolicy": "Never"})
	if g.p(8) {
		more := m{"globalDefault": true}
		if g.p(30) {
			more["preemptionPolicy"] = "Never"
		}
		pc("standard", pick(g, 0, 100, 500), more)
		if g.p(20) { // an API server that was raced has two: the lower one counts
			pc("second", pick(g, -50, 50, 600), m{"globalDefault": true})
		}
	}
	if theme == "runtimeclass" || g.p(6) {
		g.runtimeClass()
	}
	if theme == "limitrange" || g.p(4) {
		ns := pick(g, g.ns, g.ns, "default")
		g.limitRange("limits", ns)
		if g.p(15) {
			// Where two ranges have a default for one resource, chance decides upstream.
			g.add(m{"apiVersion": "v1", "kind": "LimitRange", "metadata": m{"name": "more-limits", "namespace": ns},
				"spec": m{"limits": l{m{"type": "Pod", "max": m{"memory": pick(g, "1Gi", "16Gi")}}}}})
		}
	}
}

// has says whether the cluster has an object of a kind.
func (g *gen) has(kind string) bool {
	return slices.ContainsFunc(g.objs, func(o any) bool { return o.(m)["kind"] == kind })
}

func (g *gen) runtimeClass() {
	rc := m{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": m{"name": "kata"}, "handler": "kata"}
	if g.p(60) {
		fixed := m{"cpu": pick(g, "100m", "250m", "1"), "memory": pick(g, "64Mi", "120Mi", "1G")}
		if g.p(10) {
			fixed["ephemeral-storage"] = "1Gi"
		}
		rc["overhead"] = m{"podFixed": fixed}
	}
	if g.p(60) {
		s := m{}
		if g.p(70) {
			s["nodeSelector"] = pick(g, m{"pool": "gpu"}, m{"kata": "true"}, m{"kubernetes.io/os": "linux"})
		}
		if g.p(50) {
			s["tolerations"] = l{pick(g, m{"key": "dedicated", "operator": "Exists"}, m{"key": "kata", "operator": "Equal", "value": "true", "effect": "NoSchedule"}, m{"key": "spot", "operator": "Exists", "effect": "NoExecute"})}
		}
		rc["scheduling"] = s
	}
	g.add(rc)
}

func (g *gen) limitRange(name, ns string) {
	lim := m{"type": "Container"}
	if g.p(60) {
		lim["default"] = m{"cpu": pick(g, "500m", "1", "2"), "memory": pick(g, "512Mi", "1Gi")}
	}
	if g.p(60) {
		lim["defaultRequest"] = m{"cpu": pick(g, "100m", "250m", "500m"), "memory": pick(g, "128Mi", "256Mi")}
	}
	if g.p(15) {
		for _, k := range []string{"default", "defaultRequest"} {
			if d, ok := lim[k].(m); ok {
				d["ephemeral-storage"] = pick(g, "1Gi", "20Gi")
			}
		}
	}
	if g.p(25) {
		lim["max"] = m{"cpu": pick(g, "2", "4"), "memory": "4Gi"}
	}
	if g.p(20) {
		lim["min"] = m{"cpu": pick(g, "10m", "50m"), "memory": pick(g, "4Mi", "16Mi")}
	}
	if g.p(15) {
		lim["maxLimitRequestRatio"] = m{"cpu": pick(g, "2", "4")}
	}
	limits := l{lim}
	if g.p(25) {
		pod := m{"type": "Pod"}
		if g.p(70) {
			pod["max"] = m{"cpu": pick(g, "1", "2", "8"), "memory": pick(g, "1Gi", "8Gi")}
		} else {
			pod["min"] = m{"cpu": pick(g, "20m", "200m")}
		}
		limits = append(limits, pod)
	}
	g.add(m{"apiVersion": "v1", "kind": "LimitRange", "metadata": m{"name": name, "namespace": ns}, "spec": m{"limits": limits}})
}

// crowd asks for a good part of a node, so that what decides is the pods there.
func (g *gen) crowd(spec m) {
	c := spec["containers"].(l)[0].(m)
	n := pick(g, g.nodes...)
	alloc, _ := n["status"].(m)["allocatable"].(m)
	if alloc == nil || spec["resources"] != nil {
		return
	}
	r := m{}
	if q, ok := alloc["cpu"].(string); ok && g.p(80) {
		r["cpu"] = q
		if g.p(60) {
			r["cpu"] = pick(g, "400m", "800m", "1500m", "3")
		}
	}
	if q, ok := alloc["memory"].(string); ok && g.p(30) {
		r["memory"] = q
	}
	if len(r) > 0 {
		c["resources"] = m{"requests": r}
	}
}

var numbers = []string{"0", "1", "2", "4", "8", "16", "007", "-3", "+5", "4.0", "abc", "", "9223372036854775807", "9223372036854775808", "1e2"}

func (g *gen) makeNodes(theme string) {
	n := pick(g, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6)
	g.zones = []string{"zone-a", "zone-b", "zone-c"}[:pick(g, 1, 2, 2, 3)]
	for i := range n {
		name := fmt.Sprintf("%s%02d", pick(g, "node-", "node-", "worker-", "ip-10-0-1-"), i)
		labels := m{"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name}
		if g.p(8) {
			labels["kubernetes.io/os"] = "windows"
		}
		if g.p(15) {
			labels["kubernetes.io/arch"] = "arm64"
		}
		if g.p(6) {
			labels["kubernetes.io/hostname"] = fmt.Sprintf("host-%d", g.Intn(2))
		} else if g.p(3) {
			delete(labels, "kubernetes.io/hostname")
		}
		if g.p(88) {
			labels["topology.kubernetes.io/zone"] = pick(g, g.zones...)
			labels["topology.kubernetes.io/region"] = "eu-1"
		} else if g.p(40) {
			labels["failure-domain.beta.kubernetes.io/zone"] = pick(g, g.zones...)
			labels["failure-domain.beta.kubernetes.io/region"] = "eu-1"
		}
		if g.p(45) {
			labels["pool"] = pick(g, "general", "gpu", "edge", "")
		}
		if g.p(30) {
			labels["ssd"] = pick(g, "true", "false")
		}
		if g.p(40) {
			labels["gpu-count"] = pick(g, numbers...)
		}
		if g.p(25) {
			labels["disk-gb"] = pick(g, "100", "250", "500", "1000")
		}
		if g.p(12) {
			labels["kata"] = "true"
		}
		if g.p(15) {
			labels["node-role.kubernetes.io/control-plane"] = ""
		}
		spec := m{}
		var taints l
		for g.p(9) || (theme == "taint" && len(taints) < 3 && g.p(60)) {
			taints = append(taints, g.taint())
		}
		if g.p(8) || (theme == "conditions" && g.p(30)) {
			spec["unschedulable"] = true
			if g.p(80) {
				taints = append(taints, m{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-01-05T08:00:00Z"})
			}
		}
		conds := l{}
		ready := "True"
		if g.p(8) || (theme == "conditions" && g.p(45)) {
			c := pick(g, "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "network-unavailable", "out-of-service", "uninitialized")
			key := "node.kubernetes.io/" + c
			if c == "uninitialized" {
				key = "node.cloudprovider.kubernetes.io/uninitialized"
			}
			t := m{"key": key, "effect": pick(g, "NoSchedule", "NoSchedule", "NoExecute"), "timeAdded": "2026-01-05T08:00:00Z"}
			if c == "out-of-service" {
				t["value"] = "nodeshutdown"
			}
			taints = append(taints, t)
			if c == "not-ready" {
				ready = "False"
			} else if c == "unreachable" {
				ready = "Unknown"
			}
		}
		conds = append(conds, m{"type": "Ready", "status": ready})
		if len(taints) > 0 {
			spec["taints"] = dedupeTaints(taints)
		}
		if g.p(4) {
			spec["podCIDR"] = "10.1.0.0/24"
		}
		alloc := m{"cpu": g.cpuCapacity(), "memory": g.memCapacity(), "pods": "110"}
		if g.p(85) {
			alloc["ephemeral-storage"] = pick(g, "10Gi", "50Gi", "100e9", "47093746742", "200Gi")
		}
		switch {
		case theme == "pods" && g.p(60), g.p(10):
			alloc["pods"] = pick(g, "0", "1", "2", "3", "4", "5")
		case g.p(2):
			delete(alloc, "pods")
		}
		if g.p(15) || (theme == "extended" && g.p(50)) {
			alloc["nvidia.com/gpu"] = pick(g, "0", "1", "2", "4", "8")
		}
		if g.p(10) || (theme == "extended" && g.p(40)) {
			alloc["example.com/fpga"] = pick(g, "0", "1", "2", "3")
		}
		if g.p(12) || (theme == "extended" && g.p(40)) {
			alloc["hugepages-2Mi"] = pick(g, "0", "2Mi", "64Mi", "128Mi", "1Gi")
		}
		if g.p(5) || (theme == "extended" && g.p(20)) {
			alloc["hugepages-1Gi"] = pick(g, "0", "1Gi", "2Gi")
		}
		if g.p(4) { // what kubelets of old told
			alloc["attachable-volumes-aws-ebs"] = pick(g, "0", "39")
		}
		status := m{"allocatable": alloc, "conditions": conds, "nodeInfo": m{"kubeletVersion": upstreamVersion, "operatingSystem": labels["kubernetes.io/os"], "architecture": labels["kubernetes.io/arch"]}}
		if !g.manifest || g.p(50) {
			capacity := m{}
			for k, v := range alloc {
				capacity[k] = v
			}
			status["capacity"] = capacity
		} else if g.p(15) {
			// Defaulting copies capacity where allocatable is missing.
			status["capacity"] = alloc
			delete(status, "allocatable")
		}
		if minor >= 35 && (theme == "declared" || g.p(10)) {
			var f l
			for _, name := range []string{"RestartAllContainersOnContainerExits", "InPlacePodLevelResourcesVerticalScaling", "GuaranteedQoSPodCPUResize", "SomethingElse"} {
				if g.p(50) {
					f = append(f, name)
				}
			}
			if len(f) > 0 {
				status["declaredFeatures"] = f
			}
		}
		node := m{"apiVersion": "v1", "kind": "Node", "metadata": m{"name": name, "uid": "uid-node-" + name, "labels": labels}, "status": status}
		if g.p(3) { // on its way out: neither controller nor scheduler look at that
			node["metadata"].(m)["deletionTimestamp"], node["metadata"].(m)["finalizers"] = "2026-01-05T11:59:00Z", l{"example.com/drain"}
			g.tag("node-going")
		}
		if len(spec) > 0 {
			node["spec"] = spec
		}
		g.nodes = append(g.nodes, node)
		g.add(node)
	}
}

func nodeName(n m) string { return n["metadata"].(m)["name"].(string) }

func (g *gen) someNode() string { return nodeName(pick(g, g.nodes...)) }

// dedupeTaints keeps one taint for a key and effect, as the API does.
func dedupeTaints(ts l) l {
	seen := map[string]bool{}
	var out l
	for _, t := range ts {
		k := fmt.Sprint(t.(m)["key"], "/", t.(m)["effect"])
		if !seen[k] {
			seen[k] = true
			out = append(out, t)
		}
	}
	return out
}

func (g *gen) taint() m {
	t := m{"key": pick(g, "dedicated", "dedicated", "spot", "kata", "example.com/sla", "node-role.kubernetes.io/control-plane", "nvidia.com/gpu", "ToBeDeletedByClusterAutoscaler"),
		"effect": pick(g, "NoSchedule", "NoSchedule", "NoSchedule", "NoExecute", "NoExecute", "PreferNoSchedule")}
	switch t["key"] {
	case "dedicated":
		if g.p(80) {
			t["value"] = pick(g, "gpu", "infra", "team-a")
		}
	case "spot", "kata":
		if g.p(70) {
			t["value"] = "true"
		}
	case "example.com/sla":
		t["value"] = pick(g, "950", "99", "-1", "0", "007", "abc", "9223372036854775808", "")
	case "nvidia.com/gpu":
		t["value"] = pick(g, "present", "")
	case "ToBeDeletedByClusterAutoscaler":
		t["value"] = "1767600000"
	}
	if t["value"] == "" {
		delete(t, "value")
	}
	if t["effect"] == "NoExecute" && g.p(50) {
		t["timeAdded"] = "2026-01-05T08:00:00Z"
	}
	return t
}

func (g *gen) cpuCapacity() string {
	return pick(g, "250m", "940m", "1", "1500m", "2", "2e0", "2", "2500m", "3920m", "4", "4", "4", "8", "8", "15890m", "0.5", "1930m")
}

func (g *gen) memCapacity() string {
	return pick(g, "512Mi", "924Mi", "2e9", "3978Mi", "4G", "4G", "4194304Ki", "8Gi", "8Gi", "8Gi", "7.5Gi", "16Gi", "32Gi", "9895142400", "128974848500m")
}

// ---- resources ----

func (g *gen) cpu() string {
	q := []string{"0", "10m", "10m", "50m", "50m", "100m", "100m", "100m", "250m", "250m", "500m", "500m", "1", "1500m", "999m", "0.1", "1e-1"}
	if g.manifest {
		q = append(q, "499.7m", "100100u", "0.25", "1.0001", "250000000n")
	}
	return pick(g, q...)
}

func (g *gen) mem() string {
	q := []string{"0", "1", "16Mi", "16Mi", "50Mi", "50Mi", "64M", "64M", "128Mi", "128Mi", "256Mi", "256Mi", "500Mi", "1Gi", "1073741825", "100000Ki"}
	if g.manifest {
		q = append(q, "128974848500m", "1.5Gi", "0.1Gi", "123456789.5", "250M")
	}
	if g.p(2) {
		return "1Ti"
	}
	return pick(g, q...)
}

// requests makes a container's resources; extended ones only sometimes, with equal limits as the API wants.
func (g *gen) requests(theme string) m {
	req, lim := m{}, m{}
	if g.p(75) {
		req["cpu"] = g.cpu()
	}
	if g.p(70) {
		req["memory"] = g.mem()
	}
	if g.p(9) {
		req["ephemeral-storage"] = pick(g, "0", "1Gi", "1Gi", "5e9", "10Gi", "300Gi", "500Mi", "500Mi")
	}
	if g.p(2) || (theme == "extended" && g.p(60)) {
		lim["nvidia.com/gpu"] = pick(g, "0", "1", "1", "2", "4")
	}
	if g.p(1) || (theme == "extended" && g.p(35)) {
		lim["example.com/fpga"] = pick(g, "0", "1", "1", "2")
	}
	if (g.p(1) || (theme == "extended" && g.p(30))) && len(req) > 0 {
		lim["hugepages-2Mi"] = pick(g, "2Mi", "64Mi", "128Mi")
		if g.p(15) {
			lim["hugepages-1Gi"] = pick(g, "1Gi", "2Gi")
		}
	}
	for k, v := range lim {
		req[k] = v
	}
	// Limits alone: the API server copies them to the requests of the pod.
	if g.p(12) {
		for _, k := range []string{"cpu", "memory"} {
			if v, ok := req[k]; ok && g.p(70) {
				lim[k] = v
				delete(req, k)
			}
		}
		if g.p(30) && lim["nvidia.com/gpu"] != nil {
			delete(req, "nvidia.com/gpu")
		}
	} else if g.p(25) {
		for _, k := range []string{"cpu", "memory"} {
			if v, ok := req[k]; ok && g.p(60) {
				lim[k] = v
			}
		}
	}
	r := m{}
	if len(req) > 0 {
		r["requests"] = req
	}
	if len(lim) > 0 {
		r["limits"] = lim
	}
	return r
}

func (g *gen) container(name, theme string) m {
	c := m{"name": name, "image": "registry.example/agent:1"}
	if g.p(1) && g.p(50) {
		c["image"] = pick(g, " registry.example/agent:1", "registry.example/agent:1 ", "registry.example/agent:1\n")
	}
	if r := g.requests(theme); len(r) > 0 {
		c["resources"] = r
	}
	return c
}

// fillContainers gives a pod spec its containers, init containers and sidecars.
func (g *gen) fillContainers(spec m, theme string) {
	n := pick(g, 1, 1, 1, 1, 2)
	if theme == "containers" {
		n = pick(g, 1, 2, 3)
	}
	var cs l
	for i := range n {
		cs = append(cs, g.container(fmt.Sprintf("a%d", i), theme))
	}
	spec["containers"] = cs
	if theme == "containers" || g.p(12) {
		var init l
		for i := range pick(g, 1, 1, 2, 3) {
			c := g.container(fmt.Sprintf("i%d", i), theme)
			if g.p(45) {
				c["restartPolicy"] = "Always"
				g.tag("sidecar")
			}
			init = append(init, c)
		}
		spec["initContainers"] = init
	}
	if theme == "podlevel" || g.p(4) {
		g.tag("podlevel")
		r := m{}
		req, lim := m{}, m{}
		if g.p(75) {
			req["cpu"] = pick(g, "100m", "500m", "500m", "1", "2")
		}
		if g.p(65) {
			req["memory"] = pick(g, "128Mi", "500Mi", "1Gi", "3Gi")
		}
		if g.p(40) {
			lim["cpu"] = pick(g, "4", "8")
		}
		if g.p(15) {
			lim["memory"] = pick(g, "3Gi", "8Gi")
		}
		if g.p(15) {
			req["hugepages-2Mi"], lim["hugepages-2Mi"] = "64Mi", "64Mi"
		}
		if len(req) > 0 {
			r["requests"] = req
		}
		if len(lim) > 0 {
			r["limits"] = lim
		}
		if len(r) > 0 {
			spec["resources"] = r
			// Containers may not ask for more than their pod; keep them small most of the time.
			for _, c := range append(slices.Clone(cs), listOf(spec["initContainers"])...) {
				if g.p(85) {
					delete(c.(m), "resources")
					if g.p(50) {
						c.(m)["resources"] = m{"requests": m{"cpu": pick(g, "10m", "50m"), "memory": "16Mi"}}
					}
					if g.p(12) { // what cannot be asked for on the level of the pod
						one := m{pick(g, "nvidia.com/gpu", "example.com/fpga"): "1"}
						c.(m)["resources"] = m{"requests": one, "limits": one}
					} else if g.p(12) {
						c.(m)["resources"] = m{"requests": m{"ephemeral-storage": pick(g, "1Gi", "20Gi")}}
					}
				}
			}
		}
	}
}

func listOf(v any) l {
	if v == nil {
		return nil
	}
	return v.(l)
}

// ---- labels and selectors ----

func (g *gen) labelSelector() m {
	s := m{}
	if g.p(12) {
		return m{"matchExpressions": l{m{"key": "app", "operator": "Exists"}}}
	}
	if g.p(70) {
		s["matchLabels"] = m{"app": pick(g, "web", "db", "cache", "agent", "agent")}
	}
	if g.p(30) || len(s) == 0 {
		e := m{"key": pick(g, "app", "tier", "version"), "operator": pick(g, "In", "NotIn", "Exists", "DoesNotExist")}
		if e["operator"] == "In" || e["operator"] == "NotIn" {
			e["values"] = toL(sample(g, 1+g.Intn(2), []string{"web", "db", "v1", "v2", "front", "back"}))
		}
		s["matchExpressions"] = l{e}
	}
	if g.p(4) {
		return m{}
	}
	return s
}

func toL[T any](of []T) l {
	out := l{}
	for _, v := range of {
		out = append(out, v)
	}
	return out
}

func (g *gen) topologyKey() string {
	return pick(g, "kubernetes.io/hostname", "kubernetes.io/hostname", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "pool", "rack")
}

func (g *gen) affinityTerm(templateLabels bool) m {
	t := m{"topologyKey": g.topologyKey()}
	if g.p(96) {
		t["labelSelector"] = g.labelSelector()
	}
	if g.p(30) {
		t["namespaces"] = toL(sample(g, 1+g.Intn(2), []string{"default", "apps", "kube-system"}))
	}
	if g.p(30) {
		t["namespaceSelector"] = pick(g, m{}, m{"matchLabels": m{"team": pick(g, "a", "b")}},
			m{"matchExpressions": l{m{"key": "env", "operator": pick(g, "Exists", "DoesNotExist")}}},
			m{"matchExpressions": l{m{"key": "team", "operator": pick(g, "In", "NotIn"), "values": l{"a", "c"}}}})
	}
	if templateLabels && t["labelSelector"] != nil && g.p(12) {
		g.tag("matchLabelKeys")
		key := pick(g, "version", "controller-revision-hash", "tier")
		keys := l{key}
		if g.p(8) {
			keys = append(keys, pick(g, "version", "controller-revision-hash", "app", key, key))
		}
		t[pick(g, "matchLabelKeys", "matchLabelKeys", "mismatchLabelKeys")] = keys
	}
	return t
}

func (g *gen) nodeExpressions() l {
	var es l
	for range pick(g, 1, 1, 2, 3) {
		e := m{"key": pick(g, "kubernetes.io/os", "pool", "ssd", "gpu-count", "gpu-count", "disk-gb", "topology.kubernetes.io/zone", "missing", "kubernetes.io/arch"),
			"operator": pick(g, "In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")}
		switch e["operator"] {
		case "In", "NotIn":
			vals := []string{"linux", "windows", "general", "gpu", "true", "false", "zone-a", "zone-b", "2", "007", "amd64", ""}
			switch e["key"] {
			case "kubernetes.io/os":
				vals = vals[:2]
			case "pool":
				vals = append(vals[2:4:4], "")
			case "topology.kubernetes.io/zone":
				vals = vals[6:8]
			}
			e["values"] = toL(sample(g, 1+g.Intn(2), vals))
		case "Gt", "Lt":
			e["key"] = pick(g, "gpu-count", "gpu-count", "disk-gb", "pool")
			v := pick(g, "0", "1", "4", "7", "250", "-5")
			if g.p(10) {
				v = pick(g, "abc", "4.5", "1e2", "9223372036854775808", "+3", "007")
			}
			e["values"] = l{v}
		}
		es = append(es, e)
	}
	return es
}

func (g *gen) nodeSelectorTerms() l {
	var ts l
	for range pick(g, 1, 1, 2, 3) {
		t := m{}
		if g.p(90) {
			t["matchExpressions"] = g.nodeExpressions()
		}
		if g.p(18) {
			t["matchFields"] = l{m{"key": "metadata.name", "operator": pick(g, "In", "NotIn"), "values": l{g.someNode()}}}
		}
		ts = append(ts, t)
	}
	return ts
}

// ---- other pods ----

var priorities = []struct {
	class string
	value int
}{{"", 0}, {"", 0}, {"", 0}, {"low", -10}, {"high", 1000000}, {"polite", 900000}, {"system-node-critical", 2000001000}}

func (g *gen) otherPods(theme string) {
	perNode := pick(g, 0, 1, 1, 2, 3)
	if theme == "preemption" || theme == "pods" || theme == "resources" || theme == "nominated" {
		perNode = pick(g, 1, 2, 3, 4)
	} else if theme == "spread" || theme == "podaffinity" || theme == "ports" {
		perNode = pick(g, 1, 2, 3)
	}
	id := 0
	for _, n := range g.nodes {
		for range g.Intn(perNode + 1) {
			g.add(g.pod(id, nodeName(n), theme))
			id++
		}
	}
	for range pick(g, 0, 0, 0, 1, 2) {
		g.add(g.pod(id, "", theme))
		id++
	}
	if g.p(2) { // a pod on a node that is gone
		g.add(g.pod(id, "gone-node", theme))
	}
}

func (g *gen) pod(id int, node, theme string) m {
	app := pick(g, "web", "db", "cache", "agent")
	name := fmt.Sprintf("%s-%03d", app, id)
	labels := m{"app": app}
	if g.p(40) {
		labels["tier"] = pick(g, "front", "back")
	}
	if g.p(40) {
		labels["version"] = pick(g, "v1", "v2")
	}
	ns := pick(g, "default", "apps", "kube-system", g.ns)
	if theme == "spread" || theme == "podaffinity" || theme == "existinganti" {
		ns = pick(g, ns, g.ns, g.ns)
	}
	meta := m{"name": name, "namespace": ns, "uid": "uid-" + name, "labels": labels}
	spec := m{}
	g.fillContainers(spec, map[bool]string{true: theme, false: ""}[slices.Contains([]string{"extended", "containers", "podlevel"}, theme) && g.p(50)])
	pr := priorities[g.Intn(len(priorities))]
	if theme == "preemption" && g.p(50) {
		pr = priorities[g.Intn(4)]
	}
	if pr.class != "" {
		spec["priorityClassName"] = pr.class
	}
	spec["priority"] = pr.value
	if pr.class == "polite" {
		spec["preemptionPolicy"] = "Never"
	}
	if g.p(20) || (theme == "ports" && g.p(75)) {
		g.ports(spec)
	}
	if g.p(4) {
		spec["overhead"] = m{"cpu": "250m", "memory": "120Mi"}
		spec["runtimeClassName"] = "kata"
	}
	if node != "" && (theme == "static" && g.p(60) || g.p(3)) {
		// The mirror of a static pod: the kubelet's own, bound from the start.
		meta["annotations"] = m{"kubernetes.io/config.mirror": "d0a1b2c3", "kubernetes.io/config.source": "file"}
		meta["ownerReferences"] = l{m{"apiVersion": "v1", "kind": "Node", "name": node, "uid": "uid-node-" + node, "controller": true}}
		spec["tolerations"] = l{m{"operator": "Exists", "effect": "NoExecute"}}
		if g.p(50) {
			spec["priorityClassName"], spec["priority"] = "system-node-critical", 2000001000
			delete(spec, "preemptionPolicy")
		}
		g.tag("static")
	}
	if g.p(6) {
		spec["schedulerName"] = "other-scheduler"
	}
	if theme == "existinganti" && g.p(55) || g.p(6) {
		var ts l
		for range pick(g, 1, 1, 2) {
			ts = append(ts, g.affinityTerm(false))
		}
		spec["affinity"] = m{"podAntiAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": ts}}
		g.tag("existinganti")
	}
	if g.p(4) {
		spec["affinity"] = m{"podAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": l{g.affinityTerm(false)}}}
	}
	if g.vols && g.p(60) {
		g.volumes(spec, ns, false)
	}
	if g.dra && g.p(25) {
		g.resourceClaims(spec, ns, false)
	}
	status := m{"phase": "Running"}
	if g.p(75) {
		status["startTime"] = fmt.Sprintf("2026-01-05T%02d:%02d:00Z", g.Intn(12), g.Intn(60))
	}
	if node != "" {
		spec["nodeName"] = node
		switch g.Intn(20) {
		case 0:
			status["phase"] = "Succeeded"
		case 1:
			status["phase"] = "Failed"
		case 2:
			status["phase"] = "Pending"
		case 3:
			meta["deletionTimestamp"] = "2026-01-05T11:59:00Z"
			meta["deletionGracePeriodSeconds"] = 30
			if theme == "nominated" || theme == "preemption" {
				// A victim on its way out: whoever it makes room for does not look for more.
				status["conditions"] = l{m{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}}
			}
		}
		if theme == "nominated" && g.p(25) {
			meta["deletionTimestamp"] = "2026-01-05T11:59:00Z"
			meta["deletionGracePeriodSeconds"] = 30
			status["conditions"] = l{m{"type": "DisruptionTarget", "status": "True", "reason": pick(g, "PreemptionByScheduler", "EvictionByEvictionAPI")}}
		}
	} else {
		status = m{"phase": "Pending"}
		if g.p(60) || theme == "nominated" {
			status["nominatedNodeName"] = g.someNode()
			g.tag("nominated")
		}
		if g.p(10) {
			meta["deletionTimestamp"] = "2026-01-05T11:59:00Z"
			meta["deletionGracePeriodSeconds"] = 30
		}
	}
	if node != "" && (theme == "resize" && g.p(75) || g.p(4)) {
		g.resize(spec, status)
	}
	if status["conditions"] == nil && status["phase"] == "Running" && node != "" && g.p(30) {
		status["conditions"] = l{m{"type": "Ready", "status": pick(g, "True", "True", "False")}}
	}
	return m{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
}

// resize gives a pod the status of an in-place resize, in its stages and in the mixtures that older kubelets leave.
func (g *gen) resize(spec, status m) {
	g.tag("resize")
	amounts := func() m {
		r := m{}
		if g.p(80) {
			r["cpu"] = pick(g, "50m", "100m", "500m", "1", "2", "3500m")
		}
		if g.p(70) {
			r["memory"] = pick(g, "64Mi", "256Mi", "1Gi", "2Gi", "4Gi")
		}
		return r
	}
	statuses := func(cs l) l {
		var out l
		for _, c := range cs {
			if g.p(85) {
				s := m{"name": c.(m)["name"], "ready": true, "started": true, "restartCount": 0, "image": "i", "imageID": ""}
				// An empty list is nothing that a kubelet writes.
				if a := amounts(); g.p(70) && len(a) > 0 {
					s["allocatedResources"] = a
				}
				if g.p(75) {
					s["resources"] = m{"requests": amounts()}
				}
				out = append(out, s)
			}
		}
		return out
	}
	if cs := statuses(spec["containers"].(l)); len(cs) > 0 {
		status["containerStatuses"] = cs
	}
	if init := statuses(listOf(spec["initContainers"])); len(init) > 0 && g.p(80) {
		status["initContainerStatuses"] = init
	}
	var conds l
	if g.p(55) {
		conds = append(conds, m{"type": "PodResizePending", "status": "True", "reason": pick(g, "Infeasible", "Deferred")})
	}
	if g.p(30) {
		conds = append(conds, m{"type": "PodResizeInProgress", "status": "True"})
	}
	if len(conds) > 0 {
		status["conditions"] = conds
	}
	if minor >= 35 && spec["resources"] != nil {
		if a := amounts(); g.p(60) && len(a) > 0 {
			status["allocatedResources"] = a
		}
		if g.p(60) {
			status["resources"] = m{"requests": amounts()}
		}
	}
}

// ports puts host ports on a spec's containers, regular and init alike.
func (g *gen) ports(spec m) {
	all := append(slices.Clone(spec["containers"].(l)), listOf(spec["initContainers"])...)
	hostNet := g.p(18)
	if hostNet {
		spec["hostNetwork"] = true
	}
	used := map[string]bool{}
	for _, c := range all {
		if len(all) > 1 && g.p(30) {
			continue
		}
		var ps l
		for range pick(g, 1, 1, 2) {
			n := pick(g, 80, 80, 443, 9100, 9100)
			p := m{"containerPort": n}
			if g.p(85) && !hostNet {
				p["hostPort"] = pick(g, n, n, n, 80, 0)
				if p["hostPort"] == 0 {
					delete(p, "hostPort")
				}
			} else if hostNet && g.p(50) {
				p["hostPort"] = n
			}
			if g.p(35) {
				p["protocol"] = pick(g, "TCP", "UDP", "SCTP")
			}
			if g.p(45) && (p["hostPort"] != nil || hostNet) {
				p["hostIP"] = pick(g, "0.0.0.0", "127.0.0.1", "10.0.0.1", "10.0.0.2", "::", "::1", "")
				if p["hostIP"] == "" {
					delete(p, "hostIP")
				}
			}
			key := fmt.Sprint(p["hostPort"], p["protocol"], p["hostIP"], p["containerPort"])
			if !used[key] {
				used[key] = true
				ps = append(ps, p)
			}
		}
		if len(ps) > 0 {
			c.(m)["ports"] = ps
		}
	}
}

func (g *gen) budgets() {
	for i := range pick(g, 1, 1, 2) {
		allowed := pick(g, 0, 0, 0, 1, 2)
		spec := m{"maxUnavailable": 1}
		if g.p(92) {
			spec["selector"] = pick(g, m{"matchLabels": m{"app": pick(g, "web", "db", "cache", "agent")}}, m{"matchExpressions": l{m{"key": "app", "operator": "Exists"}}}, m{}, g.labelSelector())
		}
		st := m{"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
		if g.p(10) {
			st["disruptedPods"] = m{fmt.Sprintf("%s-%03d", pick(g, "web", "db", "cache", "agent"), g.Intn(4)): "2026-01-05T08:00:00Z"}
		}
		g.add(m{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": m{"name": fmt.Sprintf("pdb-%d", i), "namespace": pick(g, "default", "apps", "kube-system")}, "spec": spec, "status": st})
		g.tag("pdb")
	}
}

// ---- the DaemonSet ----

func (g *gen) daemonSet(ts []string) m {
	has := func(t string) bool { return slices.Contains(ts, t) }
	for _, t := range ts {
		g.tag(t)
	}
	main := ts[0]
	labels := m{"app": "agent"}
	if g.p(40) {
		labels["version"] = pick(g, "v1", "v2")
	}
	if g.p(30) {
		labels["tier"] = pick(g, "front", "back")
	}
	spec := m{}
	g.fillContainers(spec, main)
	if has("ports") || g.p(8) {
		g.ports(spec)
	}
	if g.p(8) {
		spec["hostNetwork"] = true
		fixHostPorts(spec)
	}
	if g.p(45) || has("preemption") || has("nominated") {
		c := pick(g, "high", "high", "high", "low", "polite", "system-node-critical", "system-cluster-critical")
		if has("preemption") && g.p(60) {
			c = "high"
		}
		if g.p(1) {
			c = "nosuchclass"
		}
		spec["priorityClassName"] = c
	}
	if has("runtimeclass") || g.p(3) {
		spec["runtimeClassName"] = "kata"
		if !g.has("RuntimeClass") && g.p(85) {
			g.runtimeClass()
		}
	}
	if g.p(1) {
		spec["preemptionPolicy"] = pick(g, "Never", "PreemptLowerPriority")
		g.tag("own-preemption-policy")
	}
	if g.p(1) {
		spec["priority"] = pick(g, 0, 5, 1000000)
		g.tag("own-priority")
	}
	if spec["runtimeClassName"] != nil && g.p(6) {
		spec["overhead"] = m{"cpu": pick(g, "100m", "250m"), "memory": pick(g, "64Mi", "120Mi")}
		g.tag("own-overhead")
	}
	if has("limitrange") && !g.has("LimitRange") {
		g.limitRange("limits", g.ns)
	}
	if has("preemption") {
		g.crowd(spec)
	}
	if has("selector") || g.p(6) {
		s := m{}
		for range pick(g, 1, 1, 2) {
			k := pick(g, "kubernetes.io/os", "pool", "ssd", "topology.kubernetes.io/zone", "node-role.kubernetes.io/control-plane", "gpu-count")
			s[k] = map[string]string{"kubernetes.io/os": "linux", "pool": pick(g, "general", "gpu", ""), "ssd": "true", "topology.kubernetes.io/zone": pick(g, g.zones...),
				"node-role.kubernetes.io/control-plane": "", "gpu-count": pick(g, "2", "007", "")}[k]
		}
		spec["nodeSelector"] = s
	}
	aff := m{}
	if has("affinity") || g.p(6) {
		na := m{}
		if g.p(92) {
			na["requiredDuringSchedulingIgnoredDuringExecution"] = m{"nodeSelectorTerms": g.nodeSelectorTerms()}
		}
		if g.p(15) {
			na["preferredDuringSchedulingIgnoredDuringExecution"] = l{m{"weight": 1, "preference": m{"matchExpressions": l{m{"key": "ssd", "operator": "Exists"}}}}}
		}
		aff["nodeAffinity"] = na
	}
	if has("podaffinity") || g.p(3) {
		kinds := pick(g, []string{"podAffinity"}, []string{"podAntiAffinity"}, []string{"podAntiAffinity"}, []string{"podAffinity", "podAntiAffinity"})
		for _, k := range kinds {
			var terms l
			for range pick(g, 1, 1, 2) {
				terms = append(terms, g.affinityTerm(true))
			}
			aff[k] = m{"requiredDuringSchedulingIgnoredDuringExecution": terms}
			if g.p(10) {
				aff[k].(m)["preferredDuringSchedulingIgnoredDuringExecution"] = l{m{"weight": 5, "podAffinityTerm": g.affinityTerm(true)}}
			}
		}
	}
	if len(aff) > 0 {
		spec["affinity"] = aff
	}
	if has("spread") || g.p(3) {
		g.spread(spec)
	}
	if has("taint") || g.p(35) {
		var tols l
		for range pick(g, 1, 1, 2, 3) {
			tols = append(tols, g.toleration())
		}
		spec["tolerations"] = tols
	}
	if g.vols && (has("volume") || g.p(40)) {
		g.volumes(spec, g.ns, true)
	} else if has("volume") && g.p(50) || g.p(5) {
		g.volumes(spec, g.ns, true)
	}
	if g.dra && (has("dra") || g.p(40)) || has("dra") && g.p(30) {
		g.resourceClaims(spec, g.ns, true)
	}
	if has("gates") && g.p(70) {
		spec["schedulingGates"] = l{m{"name": "example.com/hold"}}
		if g.p(20) {
			spec["schedulingGates"] = l{m{"name": "example.com/hold"}, m{"name": "example.com/quota"}}
		}
	}
	if has("nodename") && g.p(70) {
		spec["nodeName"] = g.someNode()
		if g.p(5) {
			spec["nodeName"] = "gone-node"
		}
	}
	if has("declared") && minor >= 35 {
		c := pick(g, spec["containers"].(l)...).(m)
		c["restartPolicy"] = "Never"
		c["restartPolicyRules"] = l{m{"action": pick(g, "RestartAllContainers", "RestartAllContainers", "Restart"), "exitCodes": m{"operator": "In", "values": l{42}}}}
	}
	if g.p(2) {
		spec["hostUsers"] = false
	}
	update := m{"type": "RollingUpdate"}
	switch g.Intn(10) {
	case 0:
		update = m{"type": "OnDelete"}
	case 1:
		update["rollingUpdate"] = m{"maxUnavailable": pick[any](g, 0, "0%"), "maxSurge": pick[any](g, 1, "25%")}
	case 2:
		update["rollingUpdate"] = m{"maxUnavailable": pick[any](g, 2, "50%", "100%")}
	}
	dsSpec := m{"selector": m{"matchLabels": m{"app": "agent"}}, "template": m{"metadata": m{"labels": labels}, "spec": spec}, "updateStrategy": update}
	if g.p(8) {
		dsSpec["minReadySeconds"] = pick(g, 10, 600)
	}
	return m{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": m{"name": "agent", "namespace": g.ns, "uid": "uid-ds", "generation": 1}, "spec": dsSpec}
}

// fixHostPorts makes host ports of a spec that has just got hostNetwork obey the API: equal to the container port or absent.
func fixHostPorts(spec m) {
	for _, c := range append(slices.Clone(spec["containers"].(l)), listOf(spec["initContainers"])...) {
		for _, p := range listOf(c.(m)["ports"]) {
			if p.(m)["hostPort"] != nil {
				p.(m)["hostPort"] = p.(m)["containerPort"]
			}
		}
	}
}

func (g *gen) toleration() m {
	t := m{}
	if g.p(10) {
		t["operator"] = "Exists"
		if g.p(40) {
			t["effect"] = pick(g, "NoSchedule", "NoExecute")
		}
		return t
	}
	t["key"] = pick(g, "dedicated", "dedicated", "spot", "kata", "example.com/sla", "node-role.kubernetes.io/control-plane", "nvidia.com/gpu", "node.kubernetes.io/not-ready", "node.kubernetes.io/out-of-service")
	switch g.Intn(4) {
	case 0:
		t["operator"] = "Exists"
	case 1:
		t["operator"] = "Equal"
		fallthrough
	default:
		t["value"] = map[string]string{"dedicated": pick(g, "gpu", "infra", ""), "spot": pick(g, "true", ""), "kata": "true", "example.com/sla": pick(g, "950", "99"),
			"nvidia.com/gpu": pick(g, "present", ""), "node.kubernetes.io/out-of-service": "nodeshutdown"}[t["key"].(string)]
		if t["value"] == "" {
			delete(t, "value")
		}
	}
	if t["key"] == "example.com/sla" && g.p(12) {
		// Off by default: the API server refuses it, so only a DaemonSet from a time when it was on has it.
		t["operator"], t["value"] = pick(g, "Gt", "Lt"), pick(g, "900", "99", "-5")
		g.tag("numeric-toleration")
	}
	if g.p(60) {
		t["effect"] = pick(g, "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
	}
	if t["effect"] == "NoExecute" && g.p(30) {
		t["tolerationSeconds"] = pick(g, 0, 300, -1)
	}
	return t
}

func (g *gen) spread(spec m) {
	var cs l
	seen := map[string]bool{}
	for range pick(g, 1, 1, 2) {
		c := m{"maxSkew": pick(g, 1, 1, 2), "topologyKey": pick(g, "kubernetes.io/hostname", "kubernetes.io/hostname", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "pool"),
			"whenUnsatisfiable": pick(g, "DoNotSchedule", "DoNotSchedule", "DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")}
		if k := fmt.Sprint(c["topologyKey"], c["whenUnsatisfiable"]); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		if g.p(92) {
			c["labelSelector"] = g.labelSelector()
			if g.p(65) {
				c["labelSelector"] = pick(g, m{"matchExpressions": l{m{"key": "app", "operator": "Exists"}}}, m{"matchLabels": m{"app": "agent"}}, m{"matchLabels": m{"app": "web"}})
			}
		}
		if c["whenUnsatisfiable"] == "DoNotSchedule" && g.p(30) {
			c["minDomains"] = pick(g, 1, 2, 3, 5)
		}
		if g.p(75) {
			c["nodeAffinityPolicy"] = pick(g, "Ignore", "Ignore", "Honor")
		}
		if g.p(35) {
			c["nodeTaintsPolicy"] = pick(g, "Honor", "Ignore")
		}
		if c["labelSelector"] != nil && g.p(15) {
			keys := l{pick(g, "version", "controller-revision-hash", "tier")}
			if g.p(8) {
				keys = append(keys, pick(g, "version", "controller-revision-hash", "app", keys[0].(string)))
			}
			c["matchLabelKeys"] = keys
			g.tag("matchLabelKeys")
		}
		cs = append(cs, c)
	}
	spec["topologySpreadConstraints"] = cs
}

// ownPods adds pods of the DaemonSet: current, old, terminal, terminating, waiting, sometimes two on a node.
func (g *gen) ownPods(ds m) {
	if g.p(45) {
		return
	}
	current := currentHash(ds)
	template := ds["spec"].(m)["template"].(m)
	id := 0
	for _, n := range g.nodes {
		for range pick(g, 0, 0, 1, 1, 1, 1, 2) {
			if id > 0 && g.p(8) {
				continue
			}
			name := fmt.Sprintf("agent-own%d", id)
			id++
			labels := m{}
			for k, v := range template["metadata"].(m)["labels"].(m) {
				labels[k] = v
			}
			labels["controller-revision-hash"] = pick(g, current, current, "old0000000", "0000000000")
			meta := m{"name": name, "namespace": g.ns, "uid": "uid-" + name, "labels": labels, "creationTimestamp": fmt.Sprintf("2026-01-05T%02d:00:00Z", g.Intn(12)),
				"ownerReferences": l{m{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-ds", "controller": true, "blockOwnerDeletion": true}}}
			spec := deepCopy(template["spec"].(m))
			pin(spec, nodeName(n))
			if c, ok := spec["priorityClassName"].(string); ok {
				for _, p := range append(slices.Clone(priorities), struct {
					class string
					value int
				}{"system-cluster-critical", 2000000000}) {
					if p.class == c {
						spec["priority"] = p.value
					}
				}
			}
			if spec["priority"] == nil {
				spec["priority"] = 0
			}
			if spec["runtimeClassName"] == nil {
				delete(spec, "overhead")
			}
			status := m{"phase": "Running", "startTime": "2026-01-05T09:00:00Z", "conditions": l{m{"type": "Ready", "status": pick(g, "True", "True", "True", "False"), "lastTransitionTime": "2026-01-05T11:55:00Z"}}}
			switch g.Intn(14) {
			case 0:
				status = m{"phase": "Failed", "reason": "Evicted"}
			case 1:
				status["phase"] = "Succeeded"
			case 2:
				meta["deletionTimestamp"] = "2026-01-05T11:59:00Z"
				meta["deletionGracePeriodSeconds"] = 30
			case 3, 4:
				status = m{"phase": "Pending"}
				if spec["nodeName"] == nil {
					if g.p(30) || slices.Contains(g.tags, "nominated") && g.p(50) {
						status["nominatedNodeName"] = nodeName(n)
					}
					pod := m{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
					g.add(pod)
					g.ephemeralClaims(pod)
					g.claimsOfTemplates(pod)
					continue
				}
			}
			spec["nodeName"] = nodeName(n)
			g.add(m{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status})
		}
	}
}

// currentHash is the revision label that the controller would give the DaemonSet's pods.
func currentHash(ds m) string {
	b, err := marshal(ds)
	if err != nil {
		log.Fatal(err)
	}
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(b, nil, nil)
	if err != nil {
		log.Fatalf("%v in %s", err, b)
	}
	legacyscheme.Scheme.Default(obj)
	typed := obj.(*appsv1.DaemonSet)
	return controller.ComputeHash(&typed.Spec.Template, typed.Status.CollisionCount)
}

func pin(spec m, node string) {
	aff, _ := spec["affinity"].(m)
	if aff == nil {
		aff = m{}
	}
	na, _ := aff["nodeAffinity"].(m)
	if na == nil {
		na = m{}
	}
	na["requiredDuringSchedulingIgnoredDuringExecution"] = m{"nodeSelectorTerms": l{m{"matchFields": l{m{"key": "metadata.name", "operator": "In", "values": l{node}}}}}}
	aff["nodeAffinity"] = na
	spec["affinity"] = aff
}

func deepCopy(v m) m {
	b, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	var out m
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		log.Fatal(err)
	}
	return out
}
