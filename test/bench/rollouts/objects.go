package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	workers         = 32
	configMapBytes  = 2 * 1024
	secretBytes     = 20 * 1024
	dataKey         = "value"
	autoAnnotation  = "reloader.stakater.com/auto"
	variablePrefix  = "STAKATER_"
	configMapSuffix = "_CONFIGMAP"
	secretSuffix    = "_SECRET"
)

func configMapName(i int) string  { return fmt.Sprintf("config-%06d", i) }
func secretName(i int) string     { return fmt.Sprintf("secret-%06d", i) }
func deploymentName(i int) string { return fmt.Sprintf("app-%06d", i) }

// variableOf is the variable that Reloader writes for a source of this name.
func variableOf(source, suffix string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(source, "-", "_")) + suffix
}

// digestOf is what Reloader writes for a source with this one item.
func digestOf(value string) string {
	sum := sha1.Sum([]byte(dataKey + "=" + value))
	return hex.EncodeToString(sum[:])
}

// text is hard to compress and the same for the same seed.
func text(random *rand.Rand, size int) string {
	bytes := make([]byte, size)
	for i := range bytes {
		bytes[i] = byte('!' + random.Intn(90))
	}
	return string(bytes)
}

func (b *bench) prepare(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
	_, err := b.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// inParallel calls do for 0 to n-1 and returns the first error; an object that exists is none.
func inParallel(n int, do func(i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make(chan error, workers)
	for range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil && !apierrors.IsAlreadyExists(err) {
					errs <- err
					return
				}
			}
		}()
	}
	all.Wait()
	close(errs)
	return <-errs
}

func (b *bench) createConfigMaps(ctx context.Context, n, size int) error {
	return inParallel(n, func(i int) error {
		random := rand.New(rand.NewSource(b.seed + int64(i)))
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: configMapName(i)},
			Data:       map[string]string{dataKey: text(random, size)},
		}
		_, err := b.client.CoreV1().ConfigMaps(b.namespace).Create(ctx, object, metav1.CreateOptions{})
		return err
	})
}

func (b *bench) createSecrets(ctx context.Context, n, size int) error {
	return inParallel(n, func(i int) error {
		random := rand.New(rand.NewSource(b.seed - int64(i)))
		object := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: secretName(i)},
			StringData: map[string]string{dataKey: text(random, size)},
		}
		_, err := b.client.CoreV1().Secrets(b.namespace).Create(ctx, object, metav1.CreateOptions{})
		return err
	})
}

// createDeployments makes Deployments of which each uses the sources that uses names for it.
func (b *bench) createDeployments(ctx context.Context, n int, uses func(i int) []corev1.EnvFromSource) error {
	return inParallel(n, func(i int) error {
		name := deploymentName(i)
		labels := map[string]string{"app": name}
		object := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{autoAnnotation: "true"}},
			Spec: appsv1.DeploymentSpec{
				Replicas: &b.replicas,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10", EnvFrom: uses(i)}}},
				},
			},
		}
		_, err := b.client.AppsV1().Deployments(b.namespace).Create(ctx, object, metav1.CreateOptions{})
		return err
	})
}

func fromConfigMap(name string) corev1.EnvFromSource {
	return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
}

func fromSecret(name string) corev1.EnvFromSource {
	return corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
}

// edit writes a ConfigMap's value and returns when the server had accepted it.
func (b *bench) edit(ctx context.Context, name, value string) (time.Time, error) {
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       map[string]string{dataKey: value},
	}
	_, err := b.client.CoreV1().ConfigMaps(b.namespace).Update(ctx, object, metav1.UpdateOptions{})
	return time.Now(), err
}

// editUntilAccepted is edit for a server that may be away: it tries the same value until the server has taken it.
func (b *bench) editUntilAccepted(ctx context.Context, name, value string) (time.Time, error) {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		at, err := b.edit(ctx, name, value)
		if err == nil || time.Now().After(end) {
			return at, err
		}
	}
}

func (b *bench) editSecret(ctx context.Context, name, value string) (time.Time, error) {
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{dataKey: value}}
	_, err := b.client.CoreV1().Secrets(b.namespace).Update(ctx, object, metav1.UpdateOptions{})
	return time.Now(), err
}

func (b *bench) fill(ctx context.Context) (map[string]any, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	if err := b.createConfigMaps(ctx, b.configMaps, configMapBytes); err != nil {
		return nil, err
	}
	if err := b.createSecrets(ctx, b.secrets, secretBytes); err != nil {
		return nil, err
	}
	err := b.createDeployments(ctx, b.deployments, func(i int) []corev1.EnvFromSource {
		var uses []corev1.EnvFromSource
		if b.configMaps > 0 {
			uses = append(uses, fromConfigMap(configMapName(i%b.configMaps)))
		}
		if b.secrets > 0 {
			uses = append(uses, fromSecret(secretName(i%b.secrets)))
		}
		return uses
	})
	return map[string]any{"configmaps": b.configMaps, "secrets": b.secrets, "deployments": b.deployments}, err
}
