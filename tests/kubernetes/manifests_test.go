// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Package kubernetes checks the manifests of docker/kubernetes, as kustomize builds them, against the
// types of Kubernetes, and docker/compose.yaml against the specification of Compose. No cluster is
// needed.
package kubernetes

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/types"
)

const (
	source    = "../.."
	manifests = source + "/docker/kubernetes"
)

// Runs a test on each overlay.
func onOverlays(t *testing.T, test func(t *testing.T, built overlay)) {
	for _, name := range []string{"single", "fleet"} {
		t.Run(name, func(t *testing.T) { test(t, build(t, name)) })
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// A misspelt field, one in other letters, and a repeated one are errors: otherwise the tests below
// would show less than they seem to.
func TestDecoderIsStrict(t *testing.T) {
	const good = "apiVersion: v1\nkind: ServiceAccount\nautomountServiceAccountToken: false\n"
	if _, err := decode(good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, "automountService", "automontService", 1),
		strings.Replace(good, "automountService", "automountservice", 1),
		good + "automountServiceAccountToken: true\n",
		strings.Replace(good, "v1", "v7", 1),
	} {
		if _, err := decode(bad); err == nil {
			t.Errorf("accepted:\n%s", bad)
		}
	}
}

// Each file of the folder, also one that no kustomization would name.
func TestFiles(t *testing.T) {
	paths, err := filepath.Glob(manifests + "/*/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		content := read(t, path)
		if !strings.HasPrefix(content, "# SPDX-FileCopyrightText: The Carom authors\n") {
			t.Errorf("%s: has no SPDX header", path)
		}
		if filepath.Base(path) == "kustomization.yaml" {
			var kustomization types.Kustomization
			if err := kustomization.Unmarshal([]byte(content)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if deprecated := kustomization.CheckDeprecatedFields(); len(*deprecated) != 0 {
				t.Errorf("%s: %v", path, *deprecated)
			}
			continue
		}
		for _, part := range strings.Split(content, "\n---\n") {
			if _, err := decode(part); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestKinds(t *testing.T) {
	both := []string{"ConfigMap carom-guard", "NetworkPolicy carom", "PodDisruptionBudget carom", "Service carom",
		"Service carom-pods", "ServiceAccount carom"}
	want := map[string][]string{
		"single": append(slices.Clone(both), "StatefulSet carom"),
		"fleet":  append(slices.Clone(both), "Deployment carom", "NetworkPolicy carom-etcd"),
	}
	hash := regexp.MustCompile(`^(ConfigMap carom-guard)-[a-z0-9]{10}$`)
	onOverlays(t, func(t *testing.T, built overlay) {
		var got []string
		for _, o := range built.objects {
			got = append(got, hash.ReplaceAllString(kindOf(o)+" "+o.GetName(), "$1"))
			if o.GetLabels()["app.kubernetes.io/name"] != "carom" || o.GetNamespace() != "" {
				t.Errorf("%s: labels %v, namespace %q", o.GetName(), o.GetLabels(), o.GetNamespace())
			}
		}
		slices.Sort(got)
		slices.Sort(want[built.name])
		if !slices.Equal(got, want[built.name]) {
			t.Errorf("has %q", got)
		}
	})
}

func TestReplicas(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		if want := map[string]int32{"single": 1, "fleet": 3}[built.name]; built.replicas != want {
			t.Errorf("%d replicas", built.replicas)
		}
		spread := built.pod.Spec.TopologySpreadConstraints
		if built.name == "fleet" && (len(spread) == 0 || spread[0].TopologyKey != "kubernetes.io/hostname" ||
			!matches(spread[0].LabelSelector, built.pod.Labels)) {
			t.Errorf("the pods are not spread over nodes: %v", spread)
		}
	})
}

func TestSecurity(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		spec := built.pod.Spec
		pod := spec.SecurityContext
		if pod == nil || !is(pod.RunAsNonRoot, true) || !is(pod.RunAsUser, 65532) || !is(pod.RunAsGroup, 65532) ||
			!is(pod.FSGroup, 65532) || pod.SeccompProfile == nil ||
			pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("securityContext of the pod: %v", pod)
		}
		if spec.ServiceAccountName != "carom" || !is(spec.AutomountServiceAccountToken, false) {
			t.Error("the pod has a token of the account")
		}
		for _, account := range of[*corev1.ServiceAccount](built) {
			if !is(account.AutomountServiceAccountToken, false) {
				t.Error("the account mounts tokens")
			}
		}
		// With them, a Service `carom` sets variables CAROM_….
		if !is(spec.EnableServiceLinks, false) {
			t.Error("enableServiceLinks is on")
		}
		if spec.HostNetwork || spec.HostPID || spec.HostIPC {
			t.Error("the pod shares a namespace of the node")
		}
		for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
			own := container.SecurityContext
			if own == nil || !is(own.AllowPrivilegeEscalation, false) || !is(own.ReadOnlyRootFilesystem, true) ||
				own.Capabilities == nil || !slices.Equal(own.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
				len(own.Capabilities.Add) != 0 || own.Privileged != nil || own.RunAsUser != nil ||
				own.RunAsNonRoot != nil || own.SeccompProfile != nil {
				t.Errorf("securityContext of %s: %v", container.Name, own)
			}
		}
	})
}

func TestProbes(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		for _, container := range built.pod.Spec.Containers {
			probes := map[string]*corev1.Probe{"readiness": container.ReadinessProbe, "liveness": container.LivenessProbe}
			if container.Name == "caromd" {
				probes["startup"] = container.StartupProbe
			}
			for name, probe := range probes {
				switch {
				case probe == nil:
					t.Errorf("%s has no %s probe", container.Name, name)
				case probe.HTTPGet != nil:
					path := map[string]string{"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}[name]
					if probe.HTTPGet.Path != path || portOf(container, probe.HTTPGet.Port) != 7421 {
						t.Errorf("%s probe of %s: %v", name, container.Name, probe.HTTPGet)
					}
				case container.Name == "caromd" || probe.TCPSocket == nil ||
					portOf(container, probe.TCPSocket.Port) != 7443:
					t.Errorf("%s probe of %s: %v", name, container.Name, probe)
				}
			}
		}
		// The kubelet reaches the port of the annotation and the probes only if caromd listens there.
		options := optionsOf(t, built.container(t, "caromd").Args)
		if options["--admin-address"] != "0.0.0.0:7421" {
			t.Errorf("--admin-address is %q", options["--admin-address"])
		}
		want := map[string]string{"scrape": "true", "port": "7421", "path": "/metrics"}
		for key, value := range want {
			if got := built.pod.Annotations["prometheus.io/"+key]; got != value {
				t.Errorf("prometheus.io/%s is %q", key, got)
			}
		}
	})
}

func TestOptions(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		caromd := built.container(t, "caromd")
		options := optionsOf(t, caromd.Args)
		store := map[string]string{"single": "sqlite", "fleet": "etcd://"}[built.name]
		if !strings.HasPrefix(options["--store"], store) {
			t.Errorf("--store is %q", options["--store"])
		}
		guard := built.container(t, "guard")
		for _, variable := range guard.Env {
			if variable.Name == "CAROM_GUARD_SOCKET" && options["--address"] != "unix:"+variable.Value {
				t.Errorf("the guard connects to %s, caromd listens on %s", variable.Value, options["--address"])
			}
			if !strings.Contains(read(t, source+"/docker/haproxy.cfg"), variable.Name) {
				t.Errorf("haproxy.cfg has no %s", variable.Name)
			}
		}
	})
}

// The kubelet waits for the drains of caromd and of the guard.
func TestDrain(t *testing.T) {
	stop := regexp.MustCompile(`(?m)^ *hard-stop-after (\d+)s$`).FindStringSubmatch(read(t, source+"/docker/haproxy.cfg"))
	if stop == nil {
		t.Fatal("haproxy.cfg has no hard-stop-after")
	}
	onOverlays(t, func(t *testing.T, built overlay) {
		options := optionsOf(t, built.container(t, "caromd").Args)
		for name, seconds := range map[string]string{"caromd": options["--drain-seconds"], "guard": stop[1]} {
			drain, err := strconv.ParseInt(seconds, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if own := built.container(t, name).Lifecycle; own != nil && own.PreStop != nil && own.PreStop.Sleep != nil {
				drain += own.PreStop.Sleep.Seconds
			}
			if grace := built.pod.Spec.TerminationGracePeriodSeconds; grace == nil || *grace <= drain {
				t.Errorf("%s drains for up to %d s", name, drain)
			}
		}
	})
}

func TestResources(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		for _, container := range built.pod.Spec.Containers {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := container.Resources.Requests[name], container.Resources.Limits[name]
				if request.Sign() <= 0 || request.Cmp(limit) > 0 {
					t.Errorf("%s: %s %s of %s", container.Name, name, request.String(), limit.String())
				}
			}
		}
	})
}

// Each mount has a volume and each volume a mount; files come from the map that kustomize makes, and
// from the two secrets of docs/operations.md.
func TestVolumes(t *testing.T) {
	operations := read(t, source+"/docs/operations.md")
	onOverlays(t, func(t *testing.T, built overlay) {
		unused := map[string]bool{}
		for _, claim := range built.claims {
			unused[claim.Name] = true
		}
		for _, volume := range built.pod.Spec.Volumes {
			unused[volume.Name] = true
			if volume.HostPath != nil {
				t.Errorf("%s is a folder of the node", volume.Name)
			}
			if secret := volume.Secret; secret != nil && !strings.Contains(operations, " "+secret.SecretName+" --") {
				t.Errorf("docs/operations.md does not say how to make %s", secret.SecretName)
			}
			if volume.ConfigMap != nil && !slices.ContainsFunc(of[*corev1.ConfigMap](built),
				func(m *corev1.ConfigMap) bool { return m.Name == volume.ConfigMap.Name }) {
				t.Errorf("there is no %s", volume.ConfigMap.Name)
			}
		}
		mounted := map[string]bool{}
		for _, container := range built.pod.Spec.Containers {
			for _, mount := range container.VolumeMounts {
				if _, exists := unused[mount.Name]; !exists {
					t.Errorf("%s mounts %s, which is no volume", container.Name, mount.Name)
				}
				mounted[mount.Name] = true
			}
		}
		for name := range unused {
			if !mounted[name] {
				t.Errorf("no container mounts %s", name)
			}
		}
	})
}

// kustomize reads no file from outside its folder, so the overlays have a copy.
func TestGuardConfiguration(t *testing.T) {
	configuration := read(t, source+"/docker/haproxy.cfg")
	onOverlays(t, func(t *testing.T, built overlay) {
		if of[*corev1.ConfigMap](built)[0].Data["haproxy.cfg"] != configuration {
			t.Error("differs from docker/haproxy.cfg: cp docker/haproxy.cfg docker/kubernetes/base/")
		}
	})
}

func TestSelectors(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		labels := built.pod.Labels
		if !matches(built.selector, labels) {
			t.Errorf("the workload selects %v", built.selector)
		}
		headless := 0
		for _, service := range of[*corev1.Service](built) {
			for key, value := range service.Spec.Selector {
				if labels[key] != value {
					t.Errorf("Service %s selects %s: %s", service.Name, key, value)
				}
			}
			for _, port := range service.Spec.Ports {
				if portOf(built.container(t, "guard"), port.TargetPort) != port.Port {
					t.Errorf("Service %s: the guard has no port %v", service.Name, port.TargetPort)
				}
			}
			if service.Spec.ClusterIP == corev1.ClusterIPNone {
				headless++
			}
		}
		if headless != 1 || len(of[*corev1.Service](built)) != 2 {
			t.Errorf("%d Services, %d of them headless", len(of[*corev1.Service](built)), headless)
		}
		budget := of[*policyv1.PodDisruptionBudget](built)[0].Spec
		if !matches(budget.Selector, labels) || *budget.MaxUnavailable != intstr.FromInt32(1) {
			t.Errorf("PodDisruptionBudget: %v", budget)
		}
	})
}

// Everybody may connect to the guard, Prometheus alone to the admin port; pods connect to nothing but
// etcd and DNS.
func TestNetworkPolicies(t *testing.T) {
	onOverlays(t, func(t *testing.T, built overlay) {
		incoming, outgoing := map[int]int{}, map[int]int{} // peers of each port; 0: everybody
		for _, policy := range of[*networkingv1.NetworkPolicy](built) {
			if !matches(&policy.Spec.PodSelector, built.pod.Labels) {
				t.Errorf("%s selects %v", policy.Name, policy.Spec.PodSelector)
			}
			if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
				t.Errorf("%s permits all egress", policy.Name)
			}
			for _, rule := range policy.Spec.Ingress {
				for _, port := range rule.Ports {
					incoming[port.Port.IntValue()] = len(rule.From)
				}
				for _, from := range rule.From {
					if from.PodSelector == nil || from.PodSelector.MatchLabels["app.kubernetes.io/name"] != "prometheus" ||
						from.NamespaceSelector == nil {
						t.Errorf("%s permits %v", policy.Name, from)
					}
				}
			}
			for _, rule := range policy.Spec.Egress {
				for _, port := range rule.Ports {
					outgoing[port.Port.IntValue()] = len(rule.To)
				}
			}
		}
		if len(incoming) != 2 || incoming[7443] != 0 || incoming[7421] != 1 {
			t.Errorf("ingress: %v", incoming)
		}
		want := map[string]int{"single": 0, "fleet": 2}[built.name]
		if len(outgoing) != want || (want != 0 && (outgoing[2379] != 1 || outgoing[53] != 1)) {
			t.Errorf("egress: %v", outgoing)
		}
	})
}
