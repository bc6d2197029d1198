package main

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	schedulinghelpers "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// cluster is a case's objects, decoded and defaulted as the API server would hold them.
type cluster struct {
	all   []runtime.Object
	ds    *appsv1.DaemonSet
	nodes []*v1.Node
	pods  []*v1.Pod
}

func decode(c *Case) (*cluster, error) {
	cl := &cluster{}
	for i, raw := range c.Objects {
		obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
		legacyscheme.Scheme.Default(obj)
		acc, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		if acc.GetUID() == "" {
			// The API server gives every object a UID and the scheduler's cache keys pods by it.
			acc.SetUID(types.UID(fmt.Sprintf("uid-%s-%s", acc.GetNamespace(), acc.GetName())))
		}
		cl.all = append(cl.all, obj)
		switch o := obj.(type) {
		case *appsv1.DaemonSet:
			if o.Namespace+"/"+o.Name == c.DaemonSet {
				cl.ds = o
			}
		case *v1.Node:
			cl.nodes = append(cl.nodes, o)
		case *v1.Pod:
			cl.pods = append(cl.pods, o)
		}
	}
	// Every API server makes these two when it starts; a saved cluster need not have them.
	for _, pc := range schedulinghelpers.SystemPriorityClasses() {
		if !slices.ContainsFunc(cl.all, func(o runtime.Object) bool {
			have, ok := o.(*schedulingv1.PriorityClass)
			return ok && have.Name == pc.Name
		}) {
			pc = pc.DeepCopy()
			legacyscheme.Scheme.Default(pc)
			cl.all = append(cl.all, pc)
		}
	}
	if cl.ds == nil {
		return nil, fmt.Errorf("no DaemonSet %s", c.DaemonSet)
	}
	return cl, nil
}

// hasNodeSelectors says whether a namespace imposes a node selector on its pods.
func (cl *cluster) hasNodeSelectors() bool {
	return slices.ContainsFunc(cl.all, func(o runtime.Object) bool {
		ns, ok := o.(*v1.Namespace)
		return ok && ns.Annotations[podNodeSelectorAnnotation] != ""
	})
}

// copies gives each fake API server objects of its own: informers must not see another run's writes.
func (cl *cluster) copies(keep func(runtime.Object) bool) []runtime.Object {
	var out []runtime.Object
	for _, o := range cl.all {
		if keep == nil || keep(o) {
			out = append(out, o.DeepCopyObject())
		}
	}
	return out
}

func jsonMap(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	return m, json.Unmarshal(b, &m)
}
