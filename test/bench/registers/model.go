package main

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

type kind int

const (
	read kind = iota
	create
	put
	swap
	remove
)

var kindNames = map[kind]string{read: "read", create: "create", put: "put", swap: "swap", remove: "remove"}

// request is what a client asked of one register. Every value is written at most once, so that an object's value tells its
// version: a swap "from" a version is one from that version's value.
type request struct {
	register int
	kind     kind
	from, to string
}

type outcome int

const (
	done     outcome = iota
	absent           // 404
	present          // 409 of a create
	conflict         // 409 of a swap
	unknown          // no answer, or one that does not say whether it was done
)

type answer struct {
	outcome outcome
	value   string // of a read
}

// registerModel is a register that is "" while there is no object.
func registerModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[int][]porcupine.Operation{}
			for _, operation := range history {
				register := operation.Input.(request).register
				parts[register] = append(parts[register], operation)
			}
			var all [][]porcupine.Operation
			for _, part := range parts {
				all = append(all, part)
			}
			return all
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			legal, next := step(state.(string), input.(request), output.(answer))
			return legal, next
		},
		DescribeOperation: func(input, output any) string {
			asked, got := input.(request), output.(answer)
			return fmt.Sprintf("%s %s>%s: %d %s", kindNames[asked.kind], asked.from, asked.to, got.outcome, got.value)
		},
	}
}

// expected is what the register answers in a state, and its next state.
func expected(state string, asked request) (answer, string) {
	there := state != ""
	switch {
	case asked.kind == create && there:
		return answer{outcome: present}, state
	case asked.kind == create:
		return answer{outcome: done}, asked.to
	case !there:
		return answer{outcome: absent}, state
	case asked.kind == read:
		return answer{done, state}, state
	case asked.kind == swap && asked.from != state:
		return answer{outcome: conflict}, state
	case asked.kind == remove:
		return answer{outcome: done}, ""
	}
	return answer{outcome: done}, asked.to
}

func step(state string, asked request, got answer) (bool, string) {
	wanted, next := expected(state, asked)
	return got.outcome == unknown || got == wanted, next
}

// history is what all clients asked and were answered.
type history struct {
	mu         sync.Mutex
	began      time.Time
	operations []porcupine.Operation
	answered   int
}

func newHistory() *history { return &history{began: time.Now()} }

func (h *history) now() int64 { return time.Since(h.began).Nanoseconds() }

// add notes an operation that has just ended.
func (h *history) add(client int, asked request, called int64, got answer) {
	if got.outcome == unknown && asked.kind == read {
		return
	}
	returned := h.now()
	if got.outcome == unknown {
		returned = math.MaxInt64 // It may be done at any later time, or never.
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: asked, Call: called, Output: got, Return: returned})
	if got.outcome != unknown {
		h.answered++
	}
}

func (h *history) countAnswered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answered
}

// window waits for the time and for so many answers more: on a busy machine the time may pass without any.
func (h *history) window(length time.Duration, answers int) error {
	wanted := h.countAnswered() + answers
	time.Sleep(length)
	for patience := time.Now().Add(2 * time.Minute); h.countAnswered() < wanted; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(patience) {
			return fmt.Errorf("%d requests were answered within two minutes, not %d", h.countAnswered()-wanted+answers, answers)
		}
	}
	return nil
}

type counts struct{ all, unknown int }

func (h *history) finish() ([]porcupine.Operation, counts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := counts{all: len(h.operations)}
	for _, operation := range h.operations {
		if operation.Output.(answer).outcome == unknown {
			count.unknown++
		}
	}
	return h.operations, count
}
