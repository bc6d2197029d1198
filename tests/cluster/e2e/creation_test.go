package e2e

import (
	"testing"

	"ds-doctor/tests/cluster/bed"
)

// The API server refuses the pods that the controller wants to make.
func TestCreationRefused(t *testing.T) {
	t.Parallel()

	refused := func(name, code string, arrange func(s *stage)) {
		scenario(t, name, func(s *stage) {
			s.node("a")
			s.node("b")
			arrange(s)
			s.until("the refusal to be reported", func() bool { return s.hasEvent("FailedCreate") })
			s.settle()
			s.diagnose("agent", bed.Leave{Creation: true}).exit(1).node("a", "Missing", code).node("b", "Missing", code)
		})
	}

	refused("quota", "CreateQuota none pods", func(s *stage) {
		s.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {pods: 0}}}")
		s.until("the quota to be counted", func() bool {
			quota, err := s.cluster.Resource("ResourceQuota", s.namespace).Get(s.ctx, "none", getNow)
			s.must(err)
			status, _ := quota.Object["status"].(map[string]any)
			return status["hard"] != nil
		})
		s.daemonSet("agent", "")
	})

	refused("pod-security", "CreatePodSecurity baseline", func(s *stage) {
		s.patch("Namespace", s.namespace, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
		s.daemonSet("agent", "hostNetwork: true")
	})

	refused("service-account", "CreateServiceAccountMissing NS/agent", func(s *stage) {
		s.daemonSet("agent", "serviceAccountName: agent")
	})

	refused("limit-range", "CreateLimitRange bounds memory", func(s *stage) {
		s.apply("{apiVersion: v1, kind: LimitRange, metadata: {name: bounds}, spec: {limits: [{type: Container, max: {memory: 100Mi}}]}}")
		s.daemonSet("agent", "containers: [{name: main, image: example.com/agent:1, resources: {requests: {memory: 200Mi}, limits: {memory: 200Mi}}}]")
	})

	refused("priority-class", "CreatePriorityClassMissing critical", func(s *stage) {
		s.daemonSet("agent", "priorityClassName: critical")
	})

	refused("runtime-class", "CreateRuntimeClassMissing gvisor", func(s *stage) {
		s.daemonSet("agent", "runtimeClassName: gvisor")
	})

	refused("webhook-without-backend", "CreateWebhook deny.example.com", func(s *stage) {
		s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: deny}
webhooks:
- name: deny.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 2
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}
  clientConfig: {service: {namespace: ` + s.namespace + `, name: nobody}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]`)
		s.daemonSet("agent", "")
	})

	refused("admission-policy", "CreateAdmissionPolicy", func(s *stage) {
		s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-host-path}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - {expression: "!object.spec.containers.exists(c, c.image.endsWith(':1'))", message: "pin the image"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-host-path}
spec:
  policyName: no-host-path
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.namespace + `}}}`)
		s.until("the policy to be in force", func() bool { return s.refuses("pod", "pin the image") })
		s.daemonSet("agent", "")
	})

	refused("node-selector-conflict", "CreateNodeSelectorConflict pool", func(s *stage) {
		s.patch("Namespace", s.namespace, `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/node-selector":"pool=edge"}}}`)
		s.patch("Node", "a", `{"metadata":{"labels":{"pool":"core"}}}`)
		s.patch("Node", "b", `{"metadata":{"labels":{"pool":"core"}}}`)
		s.daemonSet("agent", "nodeSelector: {pool: core}")
	})

	scenario(t, "node-selector-of-the-namespace", func(s *stage) {
		s.node("a", bed.Label("pool", "edge"))
		s.node("b")
		s.patch("Namespace", s.namespace, `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/node-selector":"pool=edge"}}}`)
		s.daemonSet("agent", "")
		s.settle()
		s.diagnose("agent", bed.Leave{}).exit(1).node("a", "Healthy").
			node("b", "Pending", "NodeAffinity nodeSelector pool=edge (added at admission)")
	})
}
