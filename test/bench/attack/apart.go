package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// Attackers have a process of their own: the ordinary clients that are measured are not to wait for what the attackers' own
// collection of garbage and threads take. They run with a lower priority, as if they had machines of their own.
const attackersNice = "10"

// attackers are those of one attack, in another process.
type attackers struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Scanner // "ready" once what they need is there and they have begun, then their tries
}

func (o options) startAttackers(name string) (*attackers, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &attackers{command: exec.Command("nice", "-n", attackersNice, program, "--kubeconfig", o.kubeconfig, "--attackers-of", name)}
	a.command.Stderr = os.Stderr
	if a.input, err = a.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := a.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.output = bufio.NewScanner(output)
	if err := a.command.Start(); err != nil {
		return nil, err
	}
	if !a.output.Scan() {
		return nil, fmt.Errorf("the attackers' process has not begun: %w", a.command.Wait())
	}
	return a, nil
}

// stop returns how often they have tried.
func (a *attackers) stop() (int64, error) {
	_ = a.input.Close()
	a.output.Scan()
	tries := a.output.Text()
	if err := a.command.Wait(); err != nil {
		return 0, fmt.Errorf("the attackers' process: %w", err)
	}
	return strconv.ParseInt(tries, 10, 64)
}

// attackUntilToldToStop is what that process does: until its input ends, then it prints how often it has tried.
func attackUntilToldToStop(ctx context.Context, server *target, name string) error {
	chosen, err := choose(name)
	if err != nil {
		return err
	}
	attacking, stop := context.WithCancel(ctx)
	crowd := chosen[0].make(attacking, server)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	crowd.done.Wait()
	_, err = fmt.Println(crowd.tries.Load())
	return err
}
