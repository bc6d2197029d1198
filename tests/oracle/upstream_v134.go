//go:build v1_34

package main

import (
	"context"
	"reflect"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

const upstreamVersion = "v1.34.3"

type (
	preFilterPlugin  = framework.PreFilterPlugin
	filterPlugin     = framework.FilterPlugin
	postFilterPlugin = framework.PostFilterPlugin
)

func newInformerFactory(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

func newScheduler(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory) (*scheduler.Scheduler, error) {
	recorder := func(string) events.EventRecorder { return events.NewFakeRecorder(1000) }
	return scheduler.New(ctx, client, factory, nil, profile.RecorderFactory(recorder))
}

func newCycleState() fwk.CycleState { return framework.NewCycleState() }

func schedulePod(ctx context.Context, s *scheduler.Scheduler, fw framework.Framework, state fwk.CycleState, pod *v1.Pod) error {
	_, err := s.SchedulePod(ctx, fw, state, pod)
	return err
}

func preempting(fw framework.Framework, pod *v1.Pod) bool {
	return defaultPreemptionOf(fw).Evaluator.IsPodRunningPreemption(pod.UID)
}

// volumeCachesFilled says whether the caches of VolumeBinding, which events fill, hold what the informers do.
func volumeCachesFilled(fw framework.Framework, factory informers.SharedInformerFactory) bool {
	filled := func(binder any, field string, store cache.Store) bool {
		f := reflect.ValueOf(binder).Elem().FieldByName(field)
		typed := reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
		have := typed.Elem().FieldByName("AssumeCache").Interface().(*assumecache.AssumeCache)
		for _, key := range store.ListKeys() {
			if _, err := have.Get(key); err != nil {
				return false
			}
		}
		return true
	}
	core := factory.Core().V1()
	// The lists of plugins hold wrappers that measure; the map has the plugins themselves.
	m := reflect.ValueOf(fw).Elem().FieldByName("pluginsMap")
	vb := (*(*map[string]framework.Plugin)(unsafe.Pointer(m.UnsafeAddr())))[volumebinding.Name].(*volumebinding.VolumeBinding)
	return filled(vb.Binder, "pvCache", core.PersistentVolumes().Informer().GetStore()) &&
		filled(vb.Binder, "pvcCache", core.PersistentVolumeClaims().Informer().GetStore())
}

func nodeShouldRun(_ klog.Logger, node *v1.Node, ds *appsv1.DaemonSet) (bool, bool) {
	return daemon.NodeShouldRunDaemonPod(node, ds)
}

func tolerates(_ klog.Logger, tolerations []v1.Toleration, taint *v1.Taint) bool {
	return v1helper.TolerationsTolerateTaint(tolerations, taint)
}

func admissionCheck(pod *v1.Pod, n fwk.NodeInfo) []scheduler.AdmissionResult {
	return scheduler.AdmissionCheck(pod, n.(*framework.NodeInfo), true)
}
