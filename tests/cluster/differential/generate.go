package differential

import (
	"fmt"
	"math/rand/v2"

	"ds-doctor/tests/cluster/bed"
)

type m = map[string]any

// generator draws a world from a seed; the same seed gives the same world.
type generator struct {
	*rand.Rand
	nodes []string
	// ports that the pod being drawn has already; the API refuses to have one twice.
	ports map[string]bool
}

// Generate draws the world with that number.
func Generate(seed, number uint64, daemonSets int) *World {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, number))}
	world := &World{Others: g.surroundings()}
	for i := range 4 + g.IntN(5) {
		// A node without a kubelet has a name of its own, for kwok would answer for it.
		name, bare := fmt.Sprintf("n%d", i), g.chance(6)
		if bare {
			name = fmt.Sprintf("bare%d", i)
		}
		g.nodes = append(g.nodes, name)
		world.Nodes = append(world.Nodes, g.node(name, bare))
	}
	for i := range g.IntN(2 * len(g.nodes)) {
		world.Bystanders = append(world.Bystanders, g.bystander(fmt.Sprintf("by%d", i)))
	}
	for i := range daemonSets {
		world.DaemonSets = append(world.DaemonSets, g.daemonSet(fmt.Sprintf("ds%d", i)))
	}
	if g.chance(30) {
		for range 1 + g.IntN(2) {
			world.Later = append(world.Later, g.change())
		}
	}
	return world
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// namespaces differ in what admission adds to a pod.
var namespaces = []string{"plain", "plain", "plain", "defaults", "selector"}

// surroundings are the objects that pods refer to.
func (g *generator) surroundings() []*bed.Object {
	objects, err := bed.Parse(surroundings)
	if err != nil {
		panic(err)
	}
	return objects
}

const surroundings = `
{apiVersion: v1, kind: Namespace, metadata: {name: plain}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: defaults}}
---
apiVersion: v1
kind: Namespace
metadata: {name: selector, annotations: {scheduler.alpha.kubernetes.io/node-selector: "pool=edge"}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: -10}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, value: 2000, preemptionPolicy: Never}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandboxed}
handler: sandboxed
overhead: {podFixed: {cpu: 250m, memory: 120Mi}}
scheduling: {nodeSelector: {disk: ssd}, tolerations: [{key: dedicated, operator: Exists}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: defaults}
spec: {limits: [{type: Container, default: {cpu: 700m, memory: 512Mi}, defaultRequest: {cpu: 350m, memory: 256Mi}}]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: north-1}
spec:
  storageClassName: manual
  accessModes: [ReadWriteMany]
  capacity: {storage: 1Gi}
  claimRef: {namespace: plain, name: north}
  hostPath: {path: /data}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [north]}]}]}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: zonal-1, labels: {topology.kubernetes.io/zone: south}}
spec:
  storageClassName: manual
  accessModes: [ReadWriteMany]
  capacity: {storage: 1Gi}
  claimRef: {namespace: plain, name: zonal}
  hostPath: {path: /data}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: north, namespace: plain}
spec: {storageClassName: manual, volumeName: north-1, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: zonal, namespace: plain}
spec: {storageClassName: manual, volumeName: zonal-1, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: unbound, namespace: plain}
spec: {storageClassName: nowhere, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: late, namespace: plain}
spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

func (g *generator) node(name string, bare bool) *bed.Object {
	node := bed.Node(name,
		bed.Allocatable("cpu", pick(g, "8", "8", "4", "2", "1500m")),
		bed.Allocatable("memory", pick(g, "8Gi", "2Gi", "1Gi")),
		bed.Allocatable("pods", pick(g, "110", "110", "110", "8", "4")))
	label := func(percent int, key string, values ...string) {
		if g.chance(percent) {
			bed.Label(key, pick(g, values...))(node)
		}
	}
	label(80, "topology.kubernetes.io/zone", "north", "south")
	label(70, "pool", "edge", "core")
	label(50, "disk", "ssd", "hdd")
	label(60, "tier", "1", "3", "007", "x", "12")
	label(70, "rack", "r1", "r2")
	if g.chance(30) {
		bed.Allocatable("example.com/gpu", pick(g, "0", "1", "2"))(node)
	}
	if g.chance(8) {
		bed.Cordoned(node)
	}
	if bare {
		bed.NoKubelet(node)
		bed.NotReady(node)
	}
	if g.chance(35) {
		key, value, effect := g.taint()
		bed.Taint(key, value, effect)(node)
		if g.chance(25) {
			bed.Taint("second", "", pick(g, "NoSchedule", "NoExecute"))(node)
		}
	}
	return node
}

func (g *generator) taint() (key, value, effect string) {
	return pick(g, "dedicated", "gpu", "node-role.kubernetes.io/control-plane"), pick(g, "", "infra", "db"),
		pick(g, "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
}

// change happens to a node while pods run on it.
func (g *generator) change() Change {
	node := pick(g, g.nodes...)
	switch g.IntN(4) {
	case 0:
		return Change{node, `{"metadata":{"labels":{"pool":null,"disk":null}}}`}
	case 1:
		return Change{node, `{"metadata":{"labels":{"pool":"edge","tier":"3"}}}`}
	case 2:
		return Change{node, `{"spec":{"unschedulable":true}}`}
	}
	key, value, effect := g.taint()
	return Change{node, fmt.Sprintf(`{"spec":{"taints":[{"key":%q,"value":%q,"effect":%q}]}}`, key, value, effect)}
}

func (g *generator) bystander(name string) *bed.Object {
	g.ports = map[string]bool{}
	spec := m{"nodeName": pick(g, g.nodes...), "containers": g.containers(), "terminationGracePeriodSeconds": 0,
		"tolerations": []any{m{"operator": "Exists"}}}
	if g.chance(15) {
		spec["priorityClassName"] = pick(g, "low", "high")
	}
	if g.chance(12) {
		spec["affinity"] = m{"podAntiAffinity": m{"requiredDuringSchedulingIgnoredDuringExecution": []any{m{
			"topologyKey":   pick(g, "kubernetes.io/hostname", "topology.kubernetes.io/zone"),
			"labelSelector": m{"matchLabels": m{"team": pick(g, "red", "blue")}},
		}}}}
	}
	if g.chance(10) {
		spec["hostNetwork"] = true
	}
	return object("v1", "Pod", "plain", name, m{"team": pick(g, "red", "blue", "green"), "role": "bystander"}, spec)
}

func object(version, kind, namespace, name string, labels m, spec m) *bed.Object {
	return bed.From(m{"apiVersion": version, "kind": kind,
		"metadata": m{"name": name, "namespace": namespace, "labels": labels}, "spec": spec})
}

func (g *generator) daemonSet(name string) *bed.Object {
	namespace := pick(g, namespaces...)
	labels := m{"app": name, "team": pick(g, "red", "blue", "green")}
	return object("apps/v1", "DaemonSet", namespace, name, m{}, m{
		"selector": m{"matchLabels": m{"app": name}},
		"template": m{"metadata": m{"labels": labels}, "spec": g.podSpec(namespace)},
	})
}

func (g *generator) podSpec(namespace string) m {
	g.ports = map[string]bool{}
	spec := m{"containers": g.containers(), "terminationGracePeriodSeconds": 0}
	if g.chance(25) {
		spec["nodeSelector"] = pick(g, m{"pool": "edge"}, m{"disk": "ssd"}, m{"kubernetes.io/os": "linux"}, m{"pool": "core", "disk": "hdd"})
	}
	affinity := m{}
	if g.chance(30) {
		var terms []any
		for range 1 + g.IntN(2) {
			terms = append(terms, g.nodeTerm())
		}
		affinity["nodeAffinity"] = m{"requiredDuringSchedulingIgnoredDuringExecution": m{"nodeSelectorTerms": terms}}
	}
	if g.chance(18) {
		affinity[pick(g, "podAntiAffinity", "podAntiAffinity", "podAffinity")] = m{"requiredDuringSchedulingIgnoredDuringExecution": []any{g.podTerm()}}
	}
	if len(affinity) > 0 {
		spec["affinity"] = affinity
	}
	var tolerations []any
	for range g.IntN(3) {
		tolerations = append(tolerations, g.toleration())
	}
	if len(tolerations) > 0 {
		spec["tolerations"] = tolerations
	}
	if g.chance(15) {
		init := m{"name": "first", "image": "example.com/first:1", "resources": m{"requests": g.requests()}}
		if g.chance(40) {
			init["restartPolicy"] = "Always"
			if g.chance(30) {
				g.withPort(init)
			}
		}
		spec["initContainers"] = []any{init}
	}
	if g.chance(12) {
		spec["hostNetwork"] = true
	}
	if g.chance(15) {
		spec["priorityClassName"] = pick(g, "low", "high", "polite", "system-node-critical")
	}
	if g.chance(8) {
		spec["runtimeClassName"] = "sandboxed"
	}
	if g.chance(12) && namespace == "plain" {
		spec["volumes"] = []any{m{"name": "data", "persistentVolumeClaim": m{"claimName": pick(g, "north", "zonal", "unbound", "late", "missing")}}}
	}
	if g.chance(15) {
		spec["topologySpreadConstraints"] = []any{g.spread()}
	}
	switch g.IntN(30) {
	case 0:
		spec["nodeName"] = pick(g, g.nodes...)
	case 1:
		spec["serviceAccountName"] = "nobody"
	case 2:
		spec["priorityClassName"] = "nothing"
	}
	return spec
}

// podTerm is about bystanders, which stay where they are, or about the pods of
// whole teams, DaemonSets' among them.
func (g *generator) podTerm() m {
	term := m{
		"topologyKey":   pick(g, "kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"),
		"labelSelector": m{"matchLabels": pick(g, m{"role": "bystander", "team": "red"}, m{"role": "bystander", "team": "blue"}, m{"team": "red"}, m{"team": "green"})},
	}
	switch g.IntN(5) {
	case 0:
		term["namespaceSelector"] = m{}
	case 1:
		term["namespaces"] = []any{"plain", "defaults"}
	case 2:
		term["labelSelector"] = m{"matchExpressions": []any{m{"key": "team", "operator": pick(g, "NotIn", "In"), "values": []any{"red", "blue"}}}}
	}
	return term
}

func (g *generator) spread() m {
	constraint := m{"maxSkew": 1 + g.IntN(2), "whenUnsatisfiable": "DoNotSchedule",
		"topologyKey":   pick(g, "rack", "topology.kubernetes.io/zone", "kubernetes.io/hostname"),
		"labelSelector": m{"matchLabels": pick(g, m{"role": "bystander"}, m{"team": "red"}, m{"team": "blue"})}}
	if g.chance(60) {
		constraint["nodeAffinityPolicy"] = "Ignore"
	}
	if g.chance(40) {
		constraint["nodeTaintsPolicy"] = "Honor"
	}
	if g.chance(20) {
		constraint["minDomains"] = 2
	}
	return constraint
}

func (g *generator) nodeTerm() m {
	if g.chance(10) {
		return m{"matchFields": []any{m{"key": "metadata.name", "operator": pick(g, "In", "NotIn"), "values": []any{pick(g, g.nodes...)}}}}
	}
	var expressions []any
	for range 1 + g.IntN(2) {
		expressions = append(expressions, pick(g,
			m{"key": "pool", "operator": "In", "values": []any{"edge", "core"}},
			m{"key": "pool", "operator": "NotIn", "values": []any{"edge"}},
			m{"key": "disk", "operator": "Exists"},
			m{"key": "disk", "operator": "DoesNotExist"},
			m{"key": "tier", "operator": "Gt", "values": []any{pick(g, "0", "1", "2")}},
			m{"key": "tier", "operator": "Lt", "values": []any{pick(g, "3", "8")}},
			m{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []any{pick(g, "north", "south")}},
		))
	}
	return m{"matchExpressions": expressions}
}

func (g *generator) toleration() m {
	key, value, effect := g.taint()
	switch g.IntN(6) {
	case 0:
		return m{"operator": "Exists"}
	case 1:
		return m{"key": key, "operator": "Exists"}
	case 2:
		return m{"key": key, "operator": "Exists", "effect": effect}
	case 3:
		return m{"operator": "Exists", "effect": effect}
	}
	return m{"key": key, "value": value, "effect": effect}
}

func (g *generator) containers() []any {
	var containers []any
	for i := range 1 + g.IntN(2) {
		container := m{"name": fmt.Sprintf("c%d", i), "image": "example.com/main:1"}
		resources := m{}
		if g.chance(70) {
			resources["requests"] = g.requests()
		} else if g.chance(50) {
			resources["limits"] = g.requests()
		}
		if g.chance(6) {
			limits, _ := resources["limits"].(m)
			if limits == nil {
				limits = m{}
			}
			limits["example.com/gpu"] = pick(g, "1", "1", "2")
			if requests, ok := resources["requests"].(m); ok {
				requests["example.com/gpu"] = limits["example.com/gpu"]
			}
			resources["limits"] = limits
		}
		container["resources"] = resources
		if g.chance(35) {
			g.withPort(container)
		}
		containers = append(containers, container)
	}
	return containers
}

func (g *generator) requests() m {
	requests := m{}
	if g.chance(80) {
		requests["cpu"] = pick(g, "0", "50m", "100m", "300m", "0.5", "1", "1250m")
	}
	if g.chance(60) {
		requests["memory"] = pick(g, "64Mi", "128M", "256Mi", "700Mi", "1Gi", "0")
	}
	if g.chance(10) {
		requests["ephemeral-storage"] = pick(g, "1Gi", "60Gi")
	}
	return requests
}

// withPort gives a container a port, with the host port equal to the container
// port, which is what pods in the host's network must have.
func (g *generator) withPort(container m) {
	number, protocol := pick(g, 80, 443, 9100), pick(g, "TCP", "TCP", "UDP")
	key := fmt.Sprint(number, protocol)
	if g.ports[key] {
		return
	}
	g.ports[key] = true
	port := m{"containerPort": number, "protocol": protocol}
	if g.chance(80) {
		port["hostPort"] = number
		if g.chance(30) {
			port["hostIP"] = pick(g, "127.0.0.1", "10.0.0.1", "0.0.0.0")
		}
	}
	container["ports"] = []any{port}
}
