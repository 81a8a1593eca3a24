package main

import (
	"math"
	"testing"

	"github.com/anishathalye/porcupine"
)

func operation(client int, kind kind, from, to string, call, end int64, outcome outcome, value string) porcupine.Operation {
	return porcupine.Operation{ClientId: client, Input: request{0, kind, from, to}, Call: call, Return: end, Output: answer{outcome, value}}
}

func TestHistories(t *testing.T) {
	for name, test := range map[string]struct {
		legal      bool
		operations []porcupine.Operation
	}{
		"what was written is read": {true, []porcupine.Operation{
			operation(0, create, "", "a", 0, 1, done, ""), operation(1, read, "", "", 2, 3, done, "a")}},
		"an acknowledged write is lost": {false, []porcupine.Operation{
			operation(0, create, "", "a", 0, 1, done, ""), operation(1, read, "", "", 2, 3, absent, "")}},
		"a read goes back in time": {false, []porcupine.Operation{
			operation(0, create, "", "a", 0, 1, done, ""), operation(0, put, "", "b", 2, 9, done, ""),
			operation(1, read, "", "", 3, 4, done, "b"), operation(1, read, "", "", 5, 6, done, "a")}},
		"two swaps from one version": {false, []porcupine.Operation{
			operation(0, create, "", "a", 0, 1, done, ""), operation(0, swap, "a", "b", 2, 3, done, ""), operation(1, swap, "a", "c", 2, 3, done, "")}},
		"an unanswered write was done": {true, []porcupine.Operation{
			operation(0, create, "", "a", 0, math.MaxInt64, unknown, ""), operation(1, read, "", "", 2, 3, done, "a")}},
		"an unanswered write was not done": {true, []porcupine.Operation{
			operation(0, create, "", "a", 0, math.MaxInt64, unknown, ""), operation(1, read, "", "", 2, 3, absent, "")}},
		"an unanswered write was undone": {false, []porcupine.Operation{
			operation(0, create, "", "a", 0, math.MaxInt64, unknown, ""), operation(1, read, "", "", 2, 3, done, "a"),
			operation(1, read, "", "", 4, 5, absent, "")}},
	} {
		if got := porcupine.CheckOperations(registerModel(), test.operations); got != test.legal {
			t.Errorf("%s: linearizable: %v", name, got)
		}
	}
}
