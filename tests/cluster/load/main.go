// Command load writes a large cluster straight into etcd, in the API server's
// storage form, so that a bench of 150,000 pods is ready in a minute. The API
// server must not run yet.
//
//	load ETCD-URL NODES PODS-PER-NODE LACKING
//
// DaemonSet monitoring/node-agent runs on every node but LACKING ones: on two
// fifths of those its pod is Pending for want of cpu, on the others there is
// none. DaemonSet monitoring/everywhere has no pod at all, so every node is in
// doubt. 18 more, system/agent-00 to agent-17, run on every node. Sizes are those of real objects: 4.5 KB a pod, 10.7 KB a node.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	if err := load(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

type entry struct {
	key    string
	object runtime.Object
}

func load() error {
	if len(os.Args) != 5 {
		return fmt.Errorf("usage: load ETCD-URL NODES PODS-PER-NODE LACKING")
	}
	var numbers [3]int
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.Atoi(os.Args[i+2]); err != nil {
			return err
		}
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	entries := make(chan entry, 1000)
	failed := make(chan error, 8)
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for e := range entries {
				var value bytes.Buffer
				err := serializer.Encode(e.object, &value)
				if err == nil {
					_, err = client.Put(context.Background(), e.key, value.String())
				}
				if err != nil {
					select {
					case failed <- fmt.Errorf("%s: %w", e.key, err):
					default:
					}
				}
			}
		})
	}
	fill(numbers[0], numbers[1], numbers[2], func(e entry) { entries <- e })
	close(entries)
	workers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

var born = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func meta(namespace, name, id string, labels map[string]string, fields int) metav1.ObjectMeta {
	raw := `{"f:metadata":{` + strings.Repeat(`"f:annotations":{".":{},"f:example.org/some-field":{}},`, fields) + `"f:labels":{".":{}}}}`
	return metav1.ObjectMeta{
		Name: name, Namespace: namespace, UID: types.UID(id), CreationTimestamp: born, Generation: 1, Labels: labels,
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &born,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(raw),
		}},
	}
}

func fill(nodes, perNode, lacking int, put func(entry)) {
	put(entry{"/registry/namespaces/monitoring", namespace("monitoring")})
	for i := range 20 {
		put(entry{fmt.Sprintf("/registry/namespaces/team-%02d", i), namespace(fmt.Sprintf("team-%02d", i))})
	}
	put(entry{"/registry/namespaces/system", namespace("system")})
	apply := func(namespace, name string, lacking int) {
		put(entry{"/registry/daemonsets/" + namespace + "/" + name, daemonSet(namespace, name, nodes, lacking)})
		put(entry{"/registry/controllerrevisions/" + namespace + "/" + name + "-5d8f", revision(namespace, name)})
	}
	apply("monitoring", "node-agent", lacking)
	apply("monitoring", "everywhere", nodes)
	healthy := min(18, perNode-1)
	for i := range healthy {
		apply("system", fmt.Sprintf("agent-%02d", i), 0)
	}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		full := n < lacking*2/5
		put(entry{"/registry/minions/" + name, node(name, full)})
		for i := range healthy {
			of := fmt.Sprintf("agent-%02d", i)
			pod := agent("system", of, fmt.Sprintf("%s-%05d", of, n), name, "100m", true)
			put(entry{"/registry/pods/system/" + pod.Name, pod})
		}
		for p := range perNode - 1 - healthy {
			team := fmt.Sprintf("team-%02d", (n+p)%20)
			pod := workload(team, fmt.Sprintf("app-%02d-%05d-%02d", p, n, p), name)
			put(entry{"/registry/pods/" + team + "/" + pod.Name, pod})
		}
		if n >= lacking || full {
			pod := agent("monitoring", "node-agent", fmt.Sprintf("node-agent-%05d", n), name, "200m", !full)
			put(entry{"/registry/pods/monitoring/" + pod.Name, pod})
		}
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: meta("", name, "ns-"+name, map[string]string{"kubernetes.io/metadata.name": name}, 1),
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
}

func podSpec(cpu string) corev1.PodSpec {
	grace := int64(30)
	var env []corev1.EnvVar
	for i := range 12 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", i), Value: strings.Repeat("value ", 6)})
	}
	return corev1.PodSpec{
		RestartPolicy: "Always", DNSPolicy: "ClusterFirst", SchedulerName: "default-scheduler", ServiceAccountName: "default",
		TerminationGracePeriodSeconds: &grace, SecurityContext: &corev1.PodSecurityContext{},
		Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.org/team/application@sha256:" + strings.Repeat("0123456789abcdef", 4), Env: env,
			Command: []string{"/usr/bin/application", "--config=/etc/application/config.yaml", "--verbose"}, ImagePullPolicy: "IfNotPresent",
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu": resource.MustParse(cpu), "memory": resource.MustParse("64Mi")}},
			VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-x2x4z", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
		}},
		Volumes: []corev1.Volume{{Name: "kube-api-access-x2x4z", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}}}}}}},
	}
}

func running(pod *corev1.Pod) {
	started := true
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: "Burstable", HostIP: "10.0.0.1", PodIP: "10.64.0.1", StartTime: &born,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", Ready: true, Started: &started, Image: pod.Spec.Containers[0].Image, ImageID: pod.Spec.Containers[0].Image,
			ContainerID: "containerd://" + strings.Repeat("0123456789abcdef", 4),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: born}},
		}},
	}
	for _, kind := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: "True", LastTransitionTime: born})
	}
}

func owned(kind, name, id string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(id), Controller: &yes, BlockOwnerDeletion: &yes}}
}

func workload(namespace, name, node string) *corev1.Pod {
	app := name[:6]
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta(namespace, name, "pod-"+name, map[string]string{"app": app, "pod-template-hash": "7d4b9c"}, 36),
		Spec:       podSpec("100m"),
	}
	pod.OwnerReferences = owned("ReplicaSet", app+"-7d4b9c", "rs-"+namespace+app)
	pod.Spec.NodeName = node
	running(pod)
	return pod
}

func agent(namespace, of, name, node, cpu string, bound bool) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta(namespace, name, "pod-"+name, map[string]string{
			"app": of, "controller-revision-hash": "5d8f", "pod-template-generation": "1"}, 36),
		Spec: podSpec(cpu),
	}
	pod.OwnerReferences = owned("DaemonSet", of, "ds-"+of)
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{node}}}}}}}}
	if bound {
		pod.Spec.NodeName = node
		running(pod)
	} else {
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: "PodScheduled", Status: "False", Reason: "Unschedulable", LastTransitionTime: born,
			Message: "0/5000 nodes are available: 1 Insufficient cpu, 4999 node(s) didn't satisfy plugin(s) [NodeAffinity]."}}}
	}
	return pod
}

func daemonSet(namespace, name string, nodes, lacking int) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	have := int32(nodes - lacking)
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: meta(namespace, name, "ds-"+name, labels, 5),
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: labels},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec("200m")},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{}},
		},
		Status: appsv1.DaemonSetStatus{
			ObservedGeneration: 1, DesiredNumberScheduled: int32(nodes), CurrentNumberScheduled: have, NumberReady: have, NumberAvailable: have,
			UpdatedNumberScheduled: have, NumberUnavailable: int32(lacking),
		},
	}
}

func revision(namespace, name string) *appsv1.ControllerRevision {
	object := meta(namespace, name+"-5d8f", "rev-"+name, map[string]string{"app": name, "controller-revision-hash": "5d8f"}, 1)
	object.OwnerReferences = owned("DaemonSet", name, "ds-"+name)
	return &appsv1.ControllerRevision{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}, ObjectMeta: object, Revision: 1,
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace"}}}`)},
	}
}

func node(name string, full bool) *corev1.Node {
	labels := map[string]string{"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name}
	for i := range 25 {
		labels[fmt.Sprintf("example.org/label-%02d", i)] = "some-value"
	}
	cpu := "8"
	if full {
		cpu = "3"
	}
	capacity := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110"),
		"ephemeral-storage": resource.MustParse("100Gi")}
	n := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: meta("", name, "node-"+name, labels, 50),
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity, NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64", KernelVersion: "6.12.0", OSImage: "Linux"}},
	}
	for _, kind := range []corev1.NodeConditionType{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		status := corev1.ConditionFalse
		if kind == "Ready" {
			status = corev1.ConditionTrue
		}
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: status, LastHeartbeatTime: born, LastTransitionTime: born, Reason: "Kubelet", Message: "kubelet says so"})
	}
	for i := range 30 {
		image := fmt.Sprintf("registry.example.org/team/application-%02d", i)
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{SizeBytes: 123456789, Names: []string{
			image + "@sha256:" + strings.Repeat("0123456789abcdef", 4), image + ":v1.2.3"}})
	}
	return n
}
