// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// An overlay as kustomize builds it.
type overlay struct {
	name     string
	objects  []metav1.Object
	pod      corev1.PodTemplateSpec
	selector *metav1.LabelSelector // of the StatefulSet or Deployment
	replicas int32
	claims   []corev1.PersistentVolumeClaim
}

// decode returns the object of a manifest. A kind that is not listed, an unknown or repeated field, and
// a field in other letters are errors, as they are to `kubectl apply --validate=strict`.
func decode(manifest string) (metav1.Object, error) {
	document, err := yaml.YAMLToJSONStrict([]byte(manifest))
	if err != nil {
		return nil, err
	}
	var kind metav1.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(document, &kind); err != nil {
		return nil, err
	}
	var object metav1.Object
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 Deployment":
		object = &appsv1.Deployment{}
	case "apps/v1 StatefulSet":
		object = &appsv1.StatefulSet{}
	case "networking.k8s.io/v1 NetworkPolicy":
		object = &networkingv1.NetworkPolicy{}
	case "policy/v1 PodDisruptionBudget":
		object = &policyv1.PodDisruptionBudget{}
	case "v1 ConfigMap":
		object = &corev1.ConfigMap{}
	case "v1 Service":
		object = &corev1.Service{}
	case "v1 ServiceAccount":
		object = &corev1.ServiceAccount{}
	default:
		return nil, fmt.Errorf("unknown kind %v", kind)
	}
	faults, err := kjson.UnmarshalStrict(document, object)
	if err == nil && len(faults) != 0 {
		err = fmt.Errorf("%s: %v", kind.Kind, faults)
	}
	return object, err
}

// build runs kustomize on an overlay, as `kubectl apply -k` does, and decodes the result.
func build(t *testing.T, name string) overlay {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), manifests+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	built := overlay{name: name}
	for _, resource := range resources.Resources() {
		manifest, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, err := decode(string(manifest))
		if err != nil {
			t.Fatalf("%s: %v", resource.GetName(), err)
		}
		built.objects = append(built.objects, object)
		switch workload := object.(type) {
		case *appsv1.Deployment:
			built.pod, built.selector, built.replicas = workload.Spec.Template, workload.Spec.Selector, *workload.Spec.Replicas
		case *appsv1.StatefulSet:
			built.pod, built.selector, built.replicas = workload.Spec.Template, workload.Spec.Selector, *workload.Spec.Replicas
			built.claims = workload.Spec.VolumeClaimTemplates
		}
	}
	if len(built.pod.Spec.Containers) != 2 {
		t.Fatalf("%d containers", len(built.pod.Spec.Containers))
	}
	return built
}

func (o overlay) container(t *testing.T, name string) corev1.Container {
	t.Helper()
	for _, container := range o.pod.Spec.Containers {
		if container.Name == name {
			return container
		}
	}
	t.Fatalf("there is no container %s", name)
	return corev1.Container{}
}

// of returns the objects of a type.
func of[T metav1.Object](built overlay) []T {
	var some []T
	for _, object := range built.objects {
		if one, ok := object.(T); ok {
			some = append(some, one)
		}
	}
	return some
}

func kindOf(object metav1.Object) string {
	name := fmt.Sprintf("%T", object)
	return name[strings.LastIndex(name, ".")+1:]
}

func is[T comparable](value *T, want T) bool { return value != nil && *value == want }

func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && !parsed.Empty() && parsed.Matches(labels.Set(set))
}

// portOf returns the number of a port that the container declares, by name or number, otherwise 0.
func portOf(container corev1.Container, port intstr.IntOrString) int32 {
	for _, declared := range container.Ports {
		if port.StrVal == declared.Name || port.IntVal == declared.ContainerPort {
			return declared.ContainerPort
		}
	}
	return 0
}

// optionsOf returns the values of caromd's options in a command line of `--name=value`. docs/operations.md
// must describe each of them.
func optionsOf(t *testing.T, arguments []string) map[string]string {
	t.Helper()
	described := map[string]bool{}
	words := regexp.MustCompile("`(--[a-z-]+)`")
	for _, word := range words.FindAllStringSubmatch(read(t, source+"/docs/operations.md"), -1) {
		described[word[1]] = true
	}
	options := map[string]string{}
	for _, argument := range arguments {
		name, value, _ := strings.Cut(argument, "=")
		if !described[name] {
			t.Errorf("docs/operations.md does not describe %s", name)
		}
		if _, exists := options[name]; exists {
			t.Errorf("%s is given twice", name)
		}
		options[name] = value
	}
	return options
}
