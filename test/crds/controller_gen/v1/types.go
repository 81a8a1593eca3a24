// Package v1 has the types of ../../gadget.h in Go.
// +groupName=test.example.com
package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Tier says how much is promised.
// +kubebuilder:validation:Enum=Gold;Silver;"";"true"
// +kubebuilder:validation:MaxLength=10
type Tier string

// Names are set once.
// +listType=set
// +kubebuilder:validation:MaxItems=5
// +kubebuilder:validation:items:MinLength=1
type Names []string

// A part without a description of its own.
// +structType=atomic
type Port struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Number int32 `json:"number"`
	// +kubebuilder:default=TCP
	Protocol string  `json:"protocol"`
	Name     *string `json:"name,omitempty"`
}

// Schedule says when a gadget runs.
//
// It has two paragraphs.
// +kubebuilder:validation:XValidation:rule="!has(self.cron) || !has(self.every)",message="either cron or every",reason="FieldValueForbidden",fieldPath=".cron"
// +kubebuilder:validation:MinProperties=1
type Schedule struct {
	// +kubebuilder:validation:Pattern=`^(\d+|\*)( (\d+|\*)){4}$`
	Cron  *string          `json:"cron,omitempty"`
	Every *metav1.Duration `json:"every,omitempty"`
}

// GadgetSpec is what somebody wants.
// +kubebuilder:validation:XValidation:rule="self.size >= 1",messageExpression="'no gadgets of the tier ' + self.tier"
type GadgetSpec struct {
	// size is the number of gadgets.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:MultipleOf=1
	// +kubebuilder:default=3
	// +kubebuilder:example=5
	// +kubebuilder:title="The size"
	Size     int32   `json:"size"`
	MaxBytes int64   `json:"maxBytes"`
	Weight   float64 `json:"weight"`
	Enabled  bool    `json:"enabled"`
	Paused   *bool   `json:"paused,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the tier is immutable"
	Tier Tier `json:"tier"`
	// other_tier has a description of its own.
	OtherTier Tier `json:"otherTier,omitempty"`
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:Format=uri
	Link string `json:"link,omitempty"`
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(\\d+|\\d+%)$"
	Surge  *intstr.IntOrString `json:"surge,omitempty"`
	Memory *resource.Quantity  `json:"memory,omitempty"`
	Since  *metav1.Time        `json:"since,omitempty"`
	Until  *metav1.MicroTime   `json:"until,omitempty"`
	Token  []byte              `json:"token,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Extra *apiextensionsv1.JSON `json:"extra,omitempty"`
	// +kubebuilder:validation:Type=object
	Settings *apiextensionsv1.JSON `json:"settings,omitempty"`
	// +kubebuilder:validation:EmbeddedResource
	Template *runtime.RawExtension `json:"template,omitempty"`
	Names    Names                 `json:"names,omitempty"`
	// aliases are of the same type.
	Aliases Names `json:"aliases,omitempty"`
	// +listType=map
	// +listMapKey=number
	// +listMapKey=protocol
	// +kubebuilder:validation:MinItems=1
	Ports []Port `json:"ports"`
	Bits  []bool `json:"bits"`
	// +mapType=atomic
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:default={color: red, "two words": `x`}
	Labels   map[string]string `json:"labels,omitempty"`
	ByName   map[string]Port   `json:"byName,omitempty"`
	Schedule *Schedule         `json:"schedule,omitempty"`
	// +kubebuilder:default={cron: "* * * * *"}
	Fallback *Schedule `json:"fallback,omitempty"`
	// +nullable
	Note *string `json:"note,omitempty"`
	// +nullable
	// +required
	Reason *string `json:"reason"`
	// +nullable
	Args []string `json:"args,omitempty"`
	// +default=["10.0.0.1"]
	PodIPs []string `json:"podIPs,omitempty"`
	// +kubebuilder:default={80,443}
	// +listType=atomic
	Numbers []int32 `json:"numbers,omitempty"`
}

// GadgetStatus is what there is.
type GadgetStatus struct {
	Replicas *int32  `json:"replicas,omitempty"`
	Selector *string `json:"selector,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=gadgets,singular=gadget,shortName=gd;gdt,categories={all,things},scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="The tier",type=string,JSONPath=".spec.tier",description="What is promised",priority=1
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:selectablefield:JSONPath=`.spec.tier`
// +kubebuilder:metadata:annotations="example.com/owner=tests",labels={"a=b","c=d"}

// Gadget is a thing.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is required.
	Spec   GadgetSpec    `json:"spec"`
	Status *GadgetStatus `json:"status,omitempty"`
}
