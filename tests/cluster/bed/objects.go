package bed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// Object is any API object.
type Object = unstructured.Unstructured

// kinds are the resources that scenarios use, in the order in which they have
// to be made.
var kinds = []struct {
	kind, group, version, resource string
	namespaced                     bool
}{
	{"Namespace", "", "v1", "namespaces", false},
	{"PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", false},
	{"RuntimeClass", "node.k8s.io", "v1", "runtimeclasses", false},
	{"StorageClass", "storage.k8s.io", "v1", "storageclasses", false},
	{"PersistentVolume", "", "v1", "persistentvolumes", false},
	{"ValidatingAdmissionPolicy", "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", false},
	{"ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", false},
	{"ValidatingWebhookConfiguration", "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", false},
	{"ClusterRole", "rbac.authorization.k8s.io", "v1", "clusterroles", false},
	{"ClusterRoleBinding", "rbac.authorization.k8s.io", "v1", "clusterrolebindings", false},
	{"Node", "", "v1", "nodes", false},
	{"CSINode", "storage.k8s.io", "v1", "csinodes", false},
	{"CSIDriver", "storage.k8s.io", "v1", "csidrivers", false},
	{"ResourceSlice", "resource.k8s.io", "v1", "resourceslices", false},
	{"DeviceClass", "resource.k8s.io", "v1", "deviceclasses", false},
	{"Role", "rbac.authorization.k8s.io", "v1", "roles", true},
	{"RoleBinding", "rbac.authorization.k8s.io", "v1", "rolebindings", true},
	{"ServiceAccount", "", "v1", "serviceaccounts", true},
	{"ConfigMap", "", "v1", "configmaps", true},
	{"Lease", "coordination.k8s.io", "v1", "leases", true},
	{"Secret", "", "v1", "secrets", true},
	{"Service", "", "v1", "services", true},
	{"LimitRange", "", "v1", "limitranges", true},
	{"ResourceQuota", "", "v1", "resourcequotas", true},
	{"PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", true},
	{"ResourceClaim", "resource.k8s.io", "v1", "resourceclaims", true},
	{"ResourceClaimTemplate", "resource.k8s.io", "v1", "resourceclaimtemplates", true},
	{"PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", true},
	{"Event", "", "v1", "events", true},
	{"Pod", "", "v1", "pods", true},
	{"ControllerRevision", "apps", "v1", "controllerrevisions", true},
	{"DaemonSet", "apps", "v1", "daemonsets", true},
	{"Deployment", "apps", "v1", "deployments", true},
	{"HorizontalPodAutoscaler", "autoscaling", "v2", "horizontalpodautoscalers", true},
}

// Parse reads YAML documents.
func Parse(text string) ([]*Object, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	var objects []*Object
	for {
		object := &Object{}
		if err := decoder.Decode(&object.Object); err == io.EOF {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// From makes an object of plain Go values, in the types that JSON has.
func From(content map[string]any) *Object {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	object := &Object{}
	if err := object.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	return object
}

// Resource is the client for the objects of one kind, in their namespace.
func (c *Cluster) Resource(kind, namespace string) dynamic.ResourceInterface {
	for _, k := range kinds {
		if k.kind == kind {
			client := c.Dynamic.Resource(schema.GroupVersionResource{Group: k.group, Version: k.version, Resource: k.resource})
			if k.namespaced {
				return client.Namespace(namespace)
			}
			return client
		}
	}
	panic("the test bed knows no kind " + kind)
}

// Create makes the objects, each with its status where one is given (nodes and
// pods: the API takes status only through the subresource).
func (c *Cluster) Create(ctx context.Context, objects ...*Object) error {
	for _, object := range objects {
		if err := c.create(ctx, object); err != nil {
			return fmt.Errorf("create %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

func (c *Cluster) create(ctx context.Context, object *Object) error {
	object = object.DeepCopy()
	status, hasStatus := object.Object["status"]
	if object.GetKind() == "Node" {
		// A stage that kwok has put off for a node of that name would be played
		// on the new one, and make it ready.
		name, fake := object.GetName(), object.GetAnnotations()[FakeKubelet] != ""
		if !fake && c.kwokKnows[name] {
			return fmt.Errorf("a node without a kubelet needs a name that kwok has never had")
		}
		c.kwokKnows[name] = c.kwokKnows[name] || fake
	}
	client := c.Resource(object.GetKind(), object.GetNamespace())
	made, err := client.Create(ctx, object, metav1.CreateOptions{})
	for range 100 {
		// A namespace of the same name may still be on its way out.
		if !apierrors.IsAlreadyExists(err) || object.GetKind() != "Namespace" {
			break
		}
		time.Sleep(200 * time.Millisecond)
		made, err = client.Create(ctx, object, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if object.GetKind() == "Namespace" && c.controllerManager.running() {
		// Without its default service account a namespace refuses every pod.
		return c.wait(ctx, patience, "the default service account", func() bool {
			_, err := c.Admin.CoreV1().ServiceAccounts(object.GetName()).Get(ctx, "default", metav1.GetOptions{})
			return err == nil
		}, c.Running)
	}
	if hasStatus {
		return c.PatchStatus(ctx, made, status)
	}
	return nil
}

// PatchStatus writes the status as the component that owns it would.
func (c *Cluster) PatchStatus(ctx context.Context, object *Object, status any) error {
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	how := types.StrategicMergePatchType
	_, err = c.Resource(object.GetKind(), object.GetNamespace()).Patch(ctx, object.GetName(), how, patch, metav1.PatchOptions{}, "status")
	return err
}

// Clear removes everything that scenarios made, so that the next one finds an
// empty cluster.
func (c *Cluster) Clear(ctx context.Context) error {
	now := int64(0)
	force := metav1.DeleteOptions{GracePeriodSeconds: &now}
	// Nobody may make pods again while they are being removed.
	for _, kind := range []string{"DaemonSet", "Deployment"} {
		if err := c.deleteAll(ctx, kind, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	if err := c.wait(ctx, patience, "the workloads to be gone", func() bool {
		return c.count(ctx, "DaemonSet") == 0 && c.count(ctx, "Deployment") == 0
	}, c.Running); err != nil {
		return err
	}
	for i := len(kinds) - 1; i >= 0; i-- {
		if err := c.deleteAll(ctx, kinds[i].kind, force); err != nil {
			return err
		}
	}
	err := c.wait(ctx, patience, "pods and nodes to be gone", func() bool {
		if c.count(ctx, "Pod") > 0 {
			_ = c.deleteAll(ctx, "Pod", force)
			return false
		}
		return c.count(ctx, "Node") == 0
	}, c.Running)
	if err != nil {
		return err
	}
	// The lease of a node that is gone goes later, and kwok would lose the new
	// node of the same name with it.
	leases := c.Admin.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	return c.wait(ctx, patience, "the nodes' leases to be gone", func() bool {
		left, err := leases.List(ctx, metav1.ListOptions{})
		if err != nil || len(left.Items) == 0 {
			return err == nil
		}
		_ = leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		return false
	}, c.Running)
}

func (c *Cluster) list(ctx context.Context, kind string) ([]Object, error) {
	list, err := c.Resource(kind, "").List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil // an API that this version lacks
	}
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (c *Cluster) count(ctx context.Context, kind string) int {
	items, err := c.list(ctx, kind)
	if err != nil {
		return -1
	}
	return len(items)
}

func (c *Cluster) deleteAll(ctx context.Context, kind string, options metav1.DeleteOptions) error {
	items, err := c.list(ctx, kind)
	if err != nil {
		return err
	}
	for _, item := range items {
		if belongsToSystem(&item) {
			continue
		}
		if len(item.GetFinalizers()) > 0 && kind != "Namespace" {
			_, err := c.Resource(kind, item.GetNamespace()).Patch(ctx, item.GetName(), types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		err := c.Resource(kind, item.GetNamespace()).Delete(ctx, item.GetName(), options)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// belongsToSystem holds for what the control plane itself makes.
func belongsToSystem(object *Object) bool {
	name, namespace := object.GetName(), object.GetNamespace()
	switch object.GetKind() {
	case "Namespace":
		return name == "default" || strings.HasPrefix(name, "kube-")
	case "PriorityClass", "ClusterRole", "ClusterRoleBinding":
		return strings.HasPrefix(name, "system") || name == "cluster-admin" || name == "admin" || name == "edit" || name == "view" ||
			object.GetLabels()["kubernetes.io/bootstrapping"] != ""
	case "ServiceAccount":
		return name == "default" || strings.HasPrefix(namespace, "kube-")
	case "ConfigMap":
		return name == "kube-root-ca.crt" || strings.HasPrefix(namespace, "kube-")
	case "Lease":
		// Of the others, each has a component that renews it.
		return name != "kube-controller-manager" && name != "kube-scheduler"
	case "Service":
		return name == "kubernetes"
	case "Role", "RoleBinding", "Secret", "Event":
		return strings.HasPrefix(namespace, "kube-") || object.GetKind() == "Event"
	}
	return false
}
