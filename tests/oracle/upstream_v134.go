//go:build v1_34

package main

import (
	"context"
	"reflect"
	"time"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
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

// waitForVolumeCaches waits until the caches of VolumeBinding, filled by events of their own, hold what the informers do.
func waitForVolumeCaches(fw framework.Framework, factory informers.SharedInformerFactory) {
	cache := func(binder any, field string) *assumecache.AssumeCache {
		f := reflect.ValueOf(binder).Elem().FieldByName(field)
		typed := reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
		return typed.Elem().FieldByName("AssumeCache").Interface().(*assumecache.AssumeCache)
	}
	core := factory.Core().V1()
	for _, p := range plugins[filterPlugin](fw, "filterPlugins") {
		vb, ok := p.(*volumebinding.VolumeBinding)
		if !ok {
			continue
		}
		pvs, pvcs := cache(vb.Binder, "pvCache"), cache(vb.Binder, "pvcCache")
		for range 5000 {
			if len(pvs.List(nil)) >= len(core.PersistentVolumes().Informer().GetStore().ListKeys()) &&
				len(pvcs.List(nil)) >= len(core.PersistentVolumeClaims().Informer().GetStore().ListKeys()) {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
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
