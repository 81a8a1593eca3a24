package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kubexx.example/bench/internal/measure"
)

// What a process takes of the machine.
type process struct {
	residentMB  float64
	descriptors int
}

func look(pid int) (process, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return process{}, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return process{}, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if kib, found := strings.CutPrefix(line, "VmRSS:"); found {
			size, err := strconv.ParseFloat(strings.Fields(kib)[0], 64)
			return process{residentMB: measure.Round(size/1024, 1), descriptors: len(open)}, err
		}
	}
	return process{}, fmt.Errorf("process %d has no memory", pid)
}

// watchProcess returns what ends the watch and tells the largest values that were seen.
func watchProcess(pid int) func() process {
	var most process
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if now, err := look(pid); err == nil {
				most.residentMB = max(most.residentMB, now.residentMB)
				most.descriptors = max(most.descriptors, now.descriptors)
			}
			select {
			case <-end:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() process {
		close(end)
		<-ended
		return most
	}
}

// cpuSeconds is what a process has used of the processors so far.
func cpuSeconds(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program is in brackets and may hold anything; then come the state and ten numbers.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks float64
	for _, field := range fields[11:13] {
		one, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, err
		}
		ticks += one
	}
	return ticks / 100, nil
}

// raiseDescriptors lets this process open as many as it may.
func raiseDescriptors() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
