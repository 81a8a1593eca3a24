package main

import (
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const startTime = 20 * time.Second

// server is a process that is started again with the same command.
type server struct {
	name    string
	command []string
	port    int
	log     *os.File
	process *exec.Cmd
}

func (s *server) start() error {
	s.process = exec.Command(s.command[0], s.command[1:]...)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := s.process.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
		if err == nil {
			return connection.Close()
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(s.log.Name())
			return fmt.Errorf("%s does not listen: %s", s.name, said)
		}
	}
}

func (s *server) kill() {
	if s != nil && s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
}

type servers struct{ apiserver, etcd *server }

// freePort is one that the kernel gives to no outgoing connection: a server that is killed has to get its port back.
func freePort() (int, error) {
	var err error
	for tries := 0; tries < 100; tries++ {
		var listener net.Listener
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.Intn(12000))); err == nil {
			return listener.Addr().(*net.TCPAddr).Port, listener.Close()
		}
	}
	return 0, err
}

func newServer(name, folder string, command func(port int) []string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, name+".log"))
	return &server{name: name, command: command(port), port: port, log: log}, err
}

func startServers(o options, folder string) (*servers, error) {
	s := &servers{}
	keep := "--data-file=" + filepath.Join(folder, "data")
	if o.etcd != "" {
		made, err := newServer("etcd", folder, func(port int) []string {
			url := fmt.Sprintf("http://127.0.0.1:%d", port)
			return []string{o.etcd, "--data-dir=" + filepath.Join(folder, "etcd"), "--listen-client-urls=" + url, "--advertise-client-urls=" + url,
				// A killed process loses nothing by it, only a crashed machine.
				"--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync"}
		})
		if err != nil {
			return nil, err
		}
		s.etcd = made
		if err := s.etcd.start(); err != nil {
			return nil, err
		}
		keep = fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", s.etcd.port)
	}
	made, err := newServer("apiserver", folder, func(port int) []string {
		return []string{o.apiserver, "--insecure", fmt.Sprintf("--address=127.0.0.1:%d", port), keep}
	})
	if err != nil {
		return nil, err
	}
	s.apiserver = made
	if err := s.apiserver.start(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *servers) url() string { return fmt.Sprintf("http://127.0.0.1:%d", s.apiserver.port) }

func (s *servers) killAndStart(name string) error {
	one := s.apiserver
	if name == "etcd" {
		one = s.etcd
	}
	one.kill()
	return one.start()
}

func (s *servers) stop() {
	s.apiserver.kill()
	s.etcd.kill()
}
