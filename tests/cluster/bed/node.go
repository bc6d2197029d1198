package bed

// Node is a node on which kwok plays the kubelet, with room for 110 pods, 4
// cores and 8 GiB. Each option changes it before it is made.
func Node(name string, options ...func(*Object)) *Object {
	node := &Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name":        name,
			"annotations": map[string]any{FakeKubelet: "fake"},
			"labels": map[string]any{
				"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			},
		},
		"spec": map[string]any{},
		"status": map[string]any{
			"allocatable": resources(),
			"capacity":    resources(),
			"nodeInfo": map[string]any{
				"operatingSystem": "linux", "architecture": "amd64", "kubeletVersion": "v1.34.0",
				"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "", "osImage": "",
				"containerRuntimeVersion": "", "kubeProxyVersion": "",
			},
		},
	}}
	for _, change := range options {
		change(node)
	}
	return node
}

func resources() map[string]any {
	return map[string]any{"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"}
}

// Label adds a label.
func Label(key, value string) func(*Object) {
	return func(node *Object) { set(node, value, "metadata", "labels", key) }
}

// Taint adds a taint.
func Taint(key, value, effect string) func(*Object) {
	return func(node *Object) {
		spec := node.Object["spec"].(map[string]any)
		taints, _ := spec["taints"].([]any)
		taint := map[string]any{"key": key, "effect": effect}
		if value != "" {
			taint["value"] = value
		}
		spec["taints"] = append(taints, taint)
	}
}

// Allocatable sets one resource, in capacity too.
func Allocatable(resource, quantity string) func(*Object) {
	return func(node *Object) {
		set(node, quantity, "status", "allocatable", resource)
		set(node, quantity, "status", "capacity", resource)
	}
}

// Declares has the kubelet declare features.
func Declares(features ...string) func(*Object) {
	return func(node *Object) {
		var list []any
		for _, feature := range features {
			list = append(list, feature)
		}
		set(node, list, "status", "declaredFeatures")
	}
}

// Cordoned is what kubectl cordon sets.
func Cordoned(node *Object) { set(node, true, "spec", "unschedulable") }

// NotReady is what the kubelet reports while its network plugin is not up.
func NotReady(node *Object) {
	set(node, []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "container runtime network not ready",
	}}, "status", "conditions")
}

// NoKubelet leaves the node without anybody who answers for its pods. Its
// Ready condition is a status patch in the kubelet's place.
func NoKubelet(node *Object) {
	delete(node.Object["metadata"].(map[string]any)["annotations"].(map[string]any), FakeKubelet)
	set(node, []any{map[string]any{
		"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
	}}, "status", "conditions")
}

func set(object *Object, value any, path ...string) {
	at := object.Object
	for _, key := range path[:len(path)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	at[path[len(path)-1]] = value
}
