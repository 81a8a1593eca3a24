package main

import (
	"encoding/binary"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	added    = "ADDED"
	modified = "MODIFIED"
)

var envelopeMark = []byte("k8s\x00")

// appendField appends a length-delimited protobuf field.
func appendField(out []byte, tag byte, value []byte) []byte {
	out = append(out, tag)
	out = binary.AppendUvarint(out, uint64(len(value)))
	return append(out, value...)
}

func varintSize(value int) int {
	size := 1
	for ; value >= 0x80; value >>= 7 {
		size++
	}
	return size
}

// typeMeta is the first field of an envelope.
func typeMeta(kind string) []byte {
	value := appendField(nil, 0x0a, []byte("v1"))
	value = appendField(value, 0x12, []byte(kind))
	return appendField(nil, 0x0a, value)
}

var podTypeMeta = typeMeta("Pod")

func (s *podSet) sizeOf(i int) int { return len(s.of(i).bytes) }

// appendEvent appends a frame of a watch with pod number i.
func (s *podSet) appendEvent(out []byte, kind string, i, revision int) []byte {
	if s.json {
		out = append(out, `{"type":"`...)
		out = append(out, kind...)
		out = append(out, `","object":`...)
		out = s.appendPod(out, i, revision)
		return append(out, "}\n"...)
	}
	return appendFrame(out, kind, s.sizeOf(i), podTypeMeta, func(out []byte) []byte { return s.appendPod(out, i, revision) })
}

// appendFrame appends a WatchEvent{type, RawExtension{envelope of `size` bytes that `body` appends}} after its length.
func appendFrame(out []byte, kind string, size int, head []byte, body func([]byte) []byte) []byte {
	// What protobuf calls Unknown ends with two empty strings, the content's encoding and type.
	unknown := len(head) + 1 + varintSize(size) + size + 4
	raw := len(envelopeMark) + unknown
	extension := 1 + varintSize(raw) + raw
	event := 2 + len(kind) + 1 + varintSize(extension) + extension
	out = binary.BigEndian.AppendUint32(out, uint32(event))
	out = appendField(out, 0x0a, []byte(kind))
	out = append(out, 0x12)
	out = binary.AppendUvarint(out, uint64(extension))
	out = append(out, 0x0a)
	out = binary.AppendUvarint(out, uint64(raw))
	out = append(out, envelopeMark...)
	out = append(out, head...)
	out = append(out, 0x12)
	out = binary.AppendUvarint(out, uint64(size))
	out = body(out)
	return append(out, 0x1a, 0, 0x22, 0)
}

// appendInitialEnd appends the bookmark that ends the initial events of a WatchList.
func (s *podSet) appendInitialEnd(out []byte, revision int) []byte {
	number := strconv.FormatUint(versionOf(revision), 10)
	if s.json {
		out = append(out, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"`+number...)
		return append(out, `","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}`+"\n"...)
	}
	meta := metav1.ObjectMeta{ResourceVersion: number, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
	encoded, _ := meta.Marshal()
	pod := appendField(nil, 0x0a, encoded)
	return appendFrame(out, "BOOKMARK", len(pod), podTypeMeta, func(out []byte) []byte { return append(out, pod...) })
}

// page is a part of the list: pods from to to.
type page struct{ from, to, of int }

func (p page) meta() metav1.ListMeta {
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatUint(versionOf(0), 10)}
	if p.to < p.of {
		left := int64(p.of - p.to)
		meta.Continue, meta.RemainingItemCount = strconv.Itoa(p.to), &left
	}
	return meta
}

// appendListHead appends what is before the first item.
func (s *podSet) appendListHead(out []byte, p page) []byte {
	if s.json {
		meta := p.meta()
		out = append(out, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"`+meta.ResourceVersion+`"`...)
		if meta.Continue != "" {
			out = append(out, `,"continue":"`+meta.Continue+`","remainingItemCount":`+strconv.FormatInt(*meta.RemainingItemCount, 10)...)
		}
		return append(out, `},"items":[`...)
	}
	listMeta := p.meta()
	meta, _ := listMeta.Marshal()
	size := 1 + varintSize(len(meta)) + len(meta)
	for i := p.from; i < p.to; i++ {
		size += 1 + varintSize(s.sizeOf(i)) + s.sizeOf(i)
	}
	out = append(out, envelopeMark...)
	out = append(out, typeMeta("PodList")...)
	out = append(out, 0x12)
	out = binary.AppendUvarint(out, uint64(size))
	return appendField(out, 0x0a, meta)
}

func (s *podSet) appendItem(out []byte, p page, i int) []byte {
	if s.json {
		if i > p.from {
			out = append(out, ',')
		}
		return s.appendPod(out, i, 0)
	}
	out = append(out, 0x12)
	out = binary.AppendUvarint(out, uint64(s.sizeOf(i)))
	return s.appendPod(out, i, 0)
}

func (s *podSet) appendListTail(out []byte) []byte {
	if s.json {
		return append(out, "]}\n"...)
	}
	return append(out, 0x1a, 0, 0x22, 0)
}
