package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Attackers have a process of their own: the ordinary clients that are measured are not to wait for what the attackers' own
// collection of garbage and threads take. They run with a lower priority, as if they had machines of their own.
const attackersNice = "10"

// attackers are those of one attack, in another process.
type attackers struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  strings.Builder
}

func (o options) startAttackers(name string) (*attackers, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &attackers{command: exec.Command("nice", "-n", attackersNice, program, "--kubeconfig", o.kubeconfig, "--attackers-of", name)}
	a.command.Stdout, a.command.Stderr = &a.output, os.Stderr
	if a.input, err = a.command.StdinPipe(); err != nil {
		return nil, err
	}
	return a, a.command.Start()
}

// stop returns how often they have tried.
func (a *attackers) stop() (int64, error) {
	_ = a.input.Close()
	if err := a.command.Wait(); err != nil {
		return 0, fmt.Errorf("the attackers' process: %w", err)
	}
	return strconv.ParseInt(strings.TrimSpace(a.output.String()), 10, 64)
}

// attackUntilToldToStop is what that process does: until its input ends, then it prints how often it has tried.
func attackUntilToldToStop(ctx context.Context, server *target, name string) error {
	chosen, err := choose(name)
	if err != nil {
		return err
	}
	attacking, stop := context.WithCancel(ctx)
	crowd := chosen[0].make(attacking, server)
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	crowd.done.Wait()
	_, err = fmt.Println(crowd.tries.Load())
	return err
}
