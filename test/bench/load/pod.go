package main

import (
	"fmt"
	"math/rand"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podName(i int) string { return fmt.Sprintf("pod-%06d", i) }

// hex gives n random digits: what digests, tokens and checksums look like.
func hex(n int) string {
	var text strings.Builder
	for range n {
		text.WriteByte("0123456789abcdef"[rand.Intn(16)])
	}
	return text.String()
}

// setting is the same in all pods of an application in two cases of three, and the pod's own in the third.
func setting(i, j int) string {
	if j%3 == 0 {
		return hex(24)
	}
	return fmt.Sprintf("value-%d-%d", i%500, j)
}

func meta(i int) metav1.ObjectMeta {
	controller := true
	return metav1.ObjectMeta{
		Name:   podName(i),
		Labels: map[string]string{"app": fmt.Sprintf("app-%d", i%500), "team": fmt.Sprintf("team-%d", i%20), "pod-template-hash": "5d4f8c7b9"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("app-%d-5d4f8c7b9", i%500),
			UID: "8c0f6d6e-1111-2222-3333-444455556666", Controller: &controller,
		}},
	}
}

// newPod is a pod of two containers with settings, mounts and probes: about six kilobytes of protobuf once the server has
// added its defaults and managedFields.
func newPod(i int) *corev1.Pod {
	object := meta(i)
	object.Annotations = map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "checksum/config": hex(64)}
	var settings []corev1.EnvVar
	for j := range 12 {
		settings = append(settings, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", j), Value: setting(i, j)})
	}
	config := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cfg"}}
	return &corev1.Pod{ObjectMeta: object, Spec: corev1.PodSpec{
		NodeName:   fmt.Sprintf("node-%04d", i%1000),
		Containers: []corev1.Container{container("server", settings), container("sidecar", settings)},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: config}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}}
}

func container(name string, settings []corev1.EnvVar) corev1.Container {
	nonRoot := true
	return corev1.Container{
		Name: name, Image: "registry.example.com/team/" + name + ":v1.2.3", Env: settings,
		Args:  []string{"--config=/etc/app/config.yaml", "--log-level=info", "--port=8080"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "metrics", ContainerPort: 9090}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{"memory": resource.MustParse("256Mi")},
		},
		VolumeMounts:    []corev1.VolumeMount{{Name: "config", MountPath: "/etc/app"}, {Name: "tmp", MountPath: "/tmp"}},
		SecurityContext: &corev1.SecurityContext{RunAsNonRoot: &nonRoot},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/ready"}}},
			PeriodSeconds: 10,
		},
	}
}

// newSmallPod is about the smallest pod that a server keeps.
func newSmallPod(i int) *corev1.Pod {
	object := meta(i)
	object.Annotations = map[string]string{"checksum/config": hex(32)}
	automount := false
	return &corev1.Pod{ObjectMeta: object, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: &automount,
		NodeName:                     fmt.Sprintf("node-%04d", i%1000),
		Containers:                   []corev1.Container{{Name: "server", Image: "registry.example.com/team/server:v1.2.3"}},
	}}
}

// runningStatus is what a kubelet reports of a pod that runs.
func runningStatus(pod *corev1.Pod) corev1.PodStatus {
	now := metav1.Now()
	started := true
	ip := fmt.Sprintf("10.%d.%d.%d", 100+rand.Intn(156), 100+rand.Intn(156), 100+rand.Intn(156))
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: "192.168.100.100", PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, StartTime: &now,
		HostIPs: []corev1.HostIP{{IP: "192.168.100.100"}}, QOSClass: pod.Status.QOSClass,
	}
	for _, kind := range []corev1.PodConditionType{"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Ready: true, Started: &started, Image: c.Image,
			ImageID: "registry.example.com/team/" + c.Name + "@sha256:" + hex(64), ContainerID: "containerd://" + hex(64),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return status
}
