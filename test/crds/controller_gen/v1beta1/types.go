// Package v1beta1 has the types of ../../gadget_beta.h in Go.
// +groupName=test.example.com
// +versionName=v1beta1
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type GadgetSpec struct {
	Size *int32 `json:"size,omitempty"`
}

// Gadget is a thing.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gadgets,singular=gadget,shortName=gd;gdt,categories={all,things},scope=Namespaced
// +kubebuilder:deprecatedversion:warning="test.example.com/v1beta1 is old"
// +kubebuilder:unservedversion
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              *GadgetSpec `json:"spec,omitempty"`
}
