package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func templatesFor(t *testing.T, asJSON bool) *podSet {
	t.Helper()
	return labelledTemplatesFor(t, asJSON, 0)
}

func labelledTemplatesFor(t *testing.T, asJSON bool, every int) *podSet {
	t.Helper()
	pods, err := loadTemplates("pods.jsonl", asJSON, every)
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

func podOf(t *testing.T, pods *podSet, i, revision int) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	encoded := pods.appendPod(nil, i, revision)
	if pods.json {
		if err := json.Unmarshal(encoded, &pod); err != nil {
			t.Fatal(err)
		}
	} else if err := pod.Unmarshal(encoded); err != nil {
		t.Fatal(err)
	}
	return &pod
}

func TestPodsOfBothEncodingsAreWholeAndDifferent(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		pods := templatesFor(t, asJSON)
		a, b := podOf(t, pods, 3, 0), podOf(t, pods, 3+len(pods.templates), 0)
		if a.Name != "pod-000003" || a.UID == b.UID || a.Status.PodIP == b.Status.PodIP || a.ResourceVersion == b.ResourceVersion {
			t.Errorf("json %v: %s and %s are too much alike", asJSON, a.Name, b.Name)
		}
		if a.OwnerReferences[0].UID != b.OwnerReferences[0].UID || len(a.ManagedFields) < 2 || len(a.Spec.Containers) != 2 {
			t.Errorf("json %v: %s is not what was recorded", asJSON, a.Name)
		}
		if a.Status.StartTime.Equal(b.Status.StartTime) {
			t.Errorf("json %v: two pods started at the same moment", asJSON)
		}
	}
}

func TestOnePodInAHundredIsRare(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		pods, rare := labelledTemplatesFor(t, asJSON, 100), 0
		for i := range 500 {
			pod := podOf(t, pods, i, 0)
			if pod.Labels[tierLabel] == "rare" {
				rare++
			} else if pod.Labels[tierLabel] != "usual" {
				t.Fatalf("json %v: %s has the labels %v", asJSON, pod.Name, pod.Labels)
			}
		}
		if rare != 5 {
			t.Errorf("json %v: %d of 500 are rare", asJSON, rare)
		}
	}
}

func TestAnUpdateHasAnotherVersionAndTheSameUID(t *testing.T) {
	pods := templatesFor(t, false)
	before, after := podOf(t, pods, 3, 0), podOf(t, pods, 3, 7)
	if before.UID != after.UID || before.ResourceVersion >= after.ResourceVersion {
		t.Errorf("uid %s, %s; version %s, %s", before.UID, after.UID, before.ResourceVersion, after.ResourceVersion)
	}
}

func TestAFrameIsAWatchEventOfTheAPI(t *testing.T) {
	pods := templatesFor(t, false)
	frame := pods.appendEvent(nil, modified, 5, 9)
	if int(binary.BigEndian.Uint32(frame)) != len(frame)-4 {
		t.Fatal("wrong length")
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame[4:]); err != nil {
		t.Fatal(err)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(bytes.TrimPrefix(event.Object.Raw, envelopeMark)); err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	if err := pod.Unmarshal(unknown.Raw); err != nil || event.Type != "MODIFIED" || unknown.Kind != "Pod" || pod.Name != "pod-000005" {
		t.Errorf("%v %s %s %s", err, event.Type, unknown.Kind, pod.Name)
	}
}

func TestAPageIsAListOfTheAPI(t *testing.T) {
	pods := templatesFor(t, false)
	p := page{from: 10, to: 20, of: 50}
	encoded := pods.appendListHead(nil, p)
	for i := p.from; i < p.to; i++ {
		encoded = pods.appendItem(encoded, p, i)
	}
	encoded = pods.appendListTail(encoded)
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(bytes.TrimPrefix(encoded, envelopeMark)); err != nil {
		t.Fatal(err)
	}
	var list corev1.PodList
	if err := list.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 10 || list.Continue != "20" || *list.RemainingItemCount != 30 || list.Items[9].Name != "pod-000019" {
		t.Errorf("%d items, continue %q", len(list.Items), list.Continue)
	}
}
