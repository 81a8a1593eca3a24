package main

import (
	"context"
	"encoding/json"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// record writes pods of a real API server to a file, one a line, with everything the server keeps of them.
func record(o options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := client.CoreV1().Pods(o.namespace).List(context.Background(), metav1.ListOptions{Limit: int64(o.objects)})
	if err != nil {
		return err
	}
	out, err := os.Create(o.out)
	if err != nil {
		return err
	}
	defer out.Close()
	for i := range list.Items {
		if err := json.NewEncoder(out).Encode(&list.Items[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

// readPods reads what record wrote.
func readPods(file string) ([]corev1.Pod, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var pods []corev1.Pod
	decoder := json.NewDecoder(in)
	for decoder.More() {
		var pod corev1.Pod
		if err := decoder.Decode(&pod); err != nil {
			return nil, err
		}
		pods = append(pods, pod)
	}
	return pods, nil
}
