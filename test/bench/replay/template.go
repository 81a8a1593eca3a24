package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What differs between two pods of one application has the same length in both, so that a pod is made by writing other
// values over those of a recorded one, whatever the encoding.
type patchKind int

const (
	digits    patchKind = iota // the same width in decimal: of the pod's number
	version                    // the resourceVersion
	hexDigits                  // tokens, digests
	uid                        // a UUID
	address                    // an IPv4 address of three digits each
	node                       // four digits of a node's name
	seconds                    // a time in protobuf: a varint of five bytes
	clock                      // a time in JSON: minutes and seconds
)

type patch struct {
	kind           patchKind
	offset, length int
	base           uint64 // seconds: the recorded time
}

// template is one recorded pod, encoded, and where to write what.
type template struct {
	bytes   []byte
	patches []patch
}

// podSet makes pods of one encoding. Safe for concurrent use.
type podSet struct {
	json      bool
	templates []template
	// With `every` above 0 one pod in so many has the label tier=rare, and all others have tier=usual.
	every int
	rare  []template
}

const (
	firstVersion  = 1_000_000_000 // versions have ten digits
	markedVersion = "7777777777"
)

var patterns = []struct {
	kind    patchKind
	pattern *regexp.Regexp
	group   int
}{
	{digits, regexp.MustCompile(`pod-(\d{6})`), 1},
	{version, regexp.MustCompile(markedVersion), 0},
	{uid, regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), 0},
	{hexDigits, regexp.MustCompile(`[0-9a-f]{24,64}`), 0},
	{address, regexp.MustCompile(`10\.\d{3}\.\d{3}\.\d{3}`), 0},
	{node, regexp.MustCompile(`node-(\d{4})`), 1},
	{clock, regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:(\d\d:\d\d)Z`), 1},
}

// ownerUID is the same in all pods of the recording, as it is in those of one ReplicaSet.
var ownerUID = []byte("8c0f6d6e-1111-2222-3333-444455556666")

// tierLabel is for clients that select pods: see podSet.
const tierLabel = "tier"

// loadTemplates reads what pods are made from. `every` is that of podSet; 0 leaves the labels as they were recorded.
func loadTemplates(file string, asJSON bool, every int) (*podSet, error) {
	pods, err := readPods(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("%s: no pods", file)
	}
	set := &podSet{json: asJSON, every: every}
	if every <= 0 {
		set.templates, err = makeTemplates(pods, asJSON, "")
		return set, err
	}
	if set.templates, err = makeTemplates(pods, asJSON, "usual"); err != nil {
		return nil, err
	}
	set.rare, err = makeTemplates(pods, asJSON, "rare")
	return set, err
}

// makeTemplates sets the label of all pods unless `tier` is empty.
func makeTemplates(pods []corev1.Pod, asJSON bool, tier string) ([]template, error) {
	var all []template
	for i := range pods {
		if tier != "" {
			metav1.SetMetaDataLabel(&pods[i].ObjectMeta, tierLabel, tier)
		}
		made, err := makeTemplate(&pods[i], asJSON)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// of is what pod number i is made from.
func (s *podSet) of(i int) *template {
	if s.every > 0 && i%s.every == 0 {
		return &s.rare[i%len(s.rare)]
	}
	return &s.templates[i%len(s.templates)]
}

func makeTemplate(pod *corev1.Pod, asJSON bool) (template, error) {
	pod.ResourceVersion = markedVersion
	pod.TypeMeta = metav1.TypeMeta{}
	var made template
	var err error
	if asJSON {
		pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		made.bytes, err = json.Marshal(pod)
	} else {
		made.bytes, err = pod.Marshal()
	}
	if err != nil {
		return made, err
	}
	for _, p := range patterns {
		for _, found := range p.pattern.FindAllSubmatchIndex(made.bytes, -1) {
			from, to := found[2*p.group], found[2*p.group+1]
			if !made.overlaps(from, to) && !bytes.Equal(made.bytes[from:to], ownerUID) {
				made.patches = append(made.patches, patch{kind: p.kind, offset: from, length: to - from})
			}
		}
	}
	if !asJSON {
		made.findTimes(pod)
	}
	return made, nil
}

func (t *template) overlaps(from, to int) bool {
	return slices.ContainsFunc(t.patches, func(p patch) bool { return from < p.offset+p.length && p.offset < to })
}

// findTimes looks for the encodings of the times that the pod has: a Timestamp message with only its seconds.
func (t *template) findTimes(pod *corev1.Pod) {
	times := []*metav1.Time{&pod.CreationTimestamp, pod.Status.StartTime}
	for i := range pod.ManagedFields {
		times = append(times, pod.ManagedFields[i].Time)
	}
	for i := range pod.Status.Conditions {
		times = append(times, &pod.Status.Conditions[i].LastTransitionTime)
	}
	for _, each := range times {
		if each == nil || each.IsZero() {
			continue
		}
		base := uint64(each.Unix())
		encoded := binary.AppendUvarint([]byte{0x08}, base)
		for from := 0; ; {
			at := bytes.Index(t.bytes[from:], encoded)
			if at < 0 {
				break
			}
			from += at + len(encoded)
			if offset := from - len(encoded) + 1; !t.overlaps(offset, from) {
				t.patches = append(t.patches, patch{seconds, offset, len(encoded) - 1, base})
			}
		}
	}
}

// random is splitmix64: the same pod comes out the same each time.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const hexAlphabet = "0123456789abcdef"

// appendPod appends pod number i as of revision, 0 being the first.
func (s *podSet) appendPod(out []byte, i, revision int) []byte {
	t := s.of(i)
	begin := len(out)
	out = append(out, t.bytes...)
	pod := out[begin:]
	own, changing := random(i), random(uint64(i)<<32|uint64(revision))
	for _, p := range t.patches {
		t.write(pod[p.offset:p.offset+p.length], p, i, revision, &own, &changing)
	}
	return out
}

func (t *template) write(at []byte, p patch, i, revision int, own, changing *random) {
	switch p.kind {
	case digits:
		writeDecimal(at, uint64(i))
	case version:
		// Of the list all are older than its own version; an update is newer.
		writeDecimal(at, firstVersion+uint64(i))
		if revision > 0 {
			writeDecimal(at, versionOf(revision))
		}
	case node:
		writeDecimal(at, own.next()%10000)
	case uid:
		writeUID(at, own)
	case hexDigits:
		source := own
		if len(at) == 64 {
			source = changing // digests and container ids change with a rollout
		}
		writeHex(at, source)
	case address:
		for group := range 3 {
			writeDecimal(at[3+4*group:6+4*group], 100+own.next()%156)
		}
	case seconds:
		binary.PutUvarint(at, p.base+changing.next()%86400)
	case clock:
		z := changing.next()
		writeDecimal(at[0:2], z%60)
		writeDecimal(at[3:5], z/60%60)
	}
}

// versionOf is the resourceVersion of an update; the list's own is versionOf(0).
func versionOf(revision int) uint64 { return 2*firstVersion + uint64(revision) }

func writeDecimal(at []byte, value uint64) {
	for j := len(at) - 1; j >= 0; j-- {
		at[j] = byte('0' + value%10)
		value /= 10
	}
}

func writeHex(at []byte, r *random) {
	for j := 0; j < len(at); j += 16 {
		z := r.next()
		for k := j; k < min(j+16, len(at)); k++ {
			at[k] = hexAlphabet[z&15]
			z >>= 4
		}
	}
}

func writeUID(at []byte, r *random) {
	a, b := r.next(), r.next()
	for j := range at {
		if j == 8 || j == 13 || j == 18 || j == 23 {
			continue // the dashes stay
		}
		at[j] = hexAlphabet[a&15]
		a = a>>4 | b<<60
		b >>= 4
	}
}
