// The load balancer: HAProxy in master-worker mode, which this process starts, and which reloads a configuration file that
// this process writes. Connections survive a reload, for 10 minutes. It ends with this process, also when that is killed.
//
// FILL-IN: what your users need of HAProxy, such as health checks, timeouts or logs.

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"time"
)

const (
	// The socket of the last frontend is there to see which configuration HAProxy has.
	header = `global
  hard-stop-after 10m
defaults
  mode tcp
  balance roundrobin
  timeout connect 5s
  timeout client 10m
  timeout server 10m
frontend generation
  bind unix@%s
`
	// The end of the input, which is the end of this process, ends HAProxy, and so does a signal.
	supervise = `trap : INT TERM
"$0" -W -db -S "$1/master" -f "$1/haproxy.cfg" & read -r _; kill $!; wait; rm -r "$1"`
)

// weights of backends by address.
type weights map[string]uint8

// proxy listens on 127.0.0.1. Its methods must not run concurrently.
type proxy struct {
	folder     string
	shell      *exec.Cmd
	input      io.WriteCloser
	active     map[uint16]weights
	generation int
}

// newProxy starts HAProxy without load balancers.
func newProxy() (*proxy, error) {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy" // not on the PATH of every user
	}
	folder, err := os.MkdirTemp("", "__NAME__-")
	if err != nil {
		return nil, err
	}
	p := &proxy{folder: folder, shell: exec.Command("/bin/sh", "-c", supervise, program, folder)}
	p.shell.Stderr = os.Stderr
	if p.input, err = p.shell.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.write(nil), p.shell.Start()); err != nil {
		return nil, err
	}
	return p, p.await(time.Now())
}

// Apply listens on these ports and no others, and forwards connections to these backends by weight.
func (p *proxy) Apply(desired map[uint16]weights) error {
	if maps.EqualFunc(p.active, desired, maps.Equal[weights, weights]) {
		return nil
	}
	for port := range desired {
		if p.active[port] == nil {
			// HAProxy would keep its old configuration, and say so only in its log.
			free, err := net.Listen("tcp", address(port))
			if err != nil {
				return err
			}
			_ = free.Close()
		}
	}
	p.generation++
	if err := p.write(desired); err != nil {
		return err
	}
	p.active = desired
	return p.await(time.Time{})
}

// await reloads HAProxy, unless that was asked for just now, and returns once connections get to the current backends: the
// new process listens, and the old one no more.
func (p *proxy) await(asked time.Time) error {
	for range 500 {
		switch {
		case p.listens(p.generation) && !p.listens(p.generation-1):
			return nil
		case !p.listens(p.generation) && time.Since(asked) > time.Second:
			// The master process misses requests while it starts, so they are repeated.
			if p.reload() == nil {
				asked = time.Now()
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("HAProxy did not start or reload within 5 s")
}

// reload does what SIGUSR2 does, which would end a master process that starts.
func (p *proxy) reload() error {
	master, err := net.Dial("unix", p.folder+"/master")
	if err != nil {
		return err
	}
	defer master.Close()
	_ = master.SetDeadline(time.Now().Add(time.Second))
	_, err = fmt.Fprintln(master, "reload")
	_, _ = io.Copy(io.Discard, master) // until it reloads
	return err
}

// listens tells whether a process of HAProxy has this generation of the configuration.
func (p *proxy) listens(generation int) bool {
	connection, err := net.Dial("unix", p.socket(generation))
	if err != nil {
		return false
	}
	return connection.Close() == nil
}

// write writes the configuration. Nothing of a user's text gets into it but ports and addresses in their usual form.
func (p *proxy) write(desired map[uint16]weights) error {
	config := fmt.Sprintf(header, p.socket(p.generation))
	for port, backends := range desired {
		config += fmt.Sprintf("listen port-%d\n  bind %s\n", port, address(port))
		for i, addr := range slices.Sorted(maps.Keys(backends)) {
			parsed, err := netip.ParseAddrPort(addr)
			if err != nil || parsed.Addr().Zone() != "" {
				return fmt.Errorf("%q: not IP:port", addr)
			}
			config += fmt.Sprintf("  server backend-%d %s weight %d\n", i, parsed, backends[addr])
		}
	}
	return os.WriteFile(p.folder+"/haproxy.cfg", []byte(config), 0o600)
}

// Close ends HAProxy.
func (p *proxy) Close() error {
	return errors.Join(p.input.Close(), p.shell.Wait())
}

func (p *proxy) socket(generation int) string { return fmt.Sprintf("%s/%d", p.folder, generation) }

func address(port uint16) string { return fmt.Sprintf("127.0.0.1:%d", port) }
