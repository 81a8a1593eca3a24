// Package measure reads what a process has cost so far and prints results as JSON lines, the same
// fields for every program that is compared.
package measure

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// CPUSeconds is user and system time of this process, all threads.
func CPUSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

// ResidentMB and PeakMB are VmRSS and VmHWM of this process in MiB.
func ResidentMB() float64 { return status("VmRSS") }

// PeakMB is the largest resident size so far.
func PeakMB() float64 { return status("VmHWM") }

func status(name string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == name+":" {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			return kib / 1024
		}
	}
	return 0
}

// Print writes one JSON line to standard output.
func Print(result map[string]any) {
	line, err := json.Marshal(result)
	if err != nil {
		Fatal("cannot print the result: %v", err)
	}
	fmt.Println(string(line))
}

// Fatal tells why the program ends and ends it with status 1.
func Fatal(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

// Round keeps the digits that mean something.
func Round(value float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'f', digits, 64), 64)
	return rounded
}
