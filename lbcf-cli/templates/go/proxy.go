// A TCP proxy in this process, in place of a real load balancer, so that --forward brings requests to the pods.
//
// FILL-IN: remove this file and --forward. Connections are your load balancer's work.

package main

import (
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

// weights of backends by address.
type weights map[string]uint8

// proxy listens on 127.0.0.1. Its methods must not run concurrently.
type proxy struct {
	listeners map[uint16]*listener
}

type listener struct {
	net.Listener
	open atomic.Pointer[[]string] // the backends that get connections
}

func newProxy() (*proxy, error) {
	return &proxy{listeners: map[uint16]*listener{}}, nil
}

// Apply listens on these ports and no others, and forwards connections to these backends in turn.
func (p *proxy) Apply(desired map[uint16]weights) error {
	for port, backends := range desired {
		open := []string{}
		for addr, weight := range backends {
			if weight > 0 {
				open = append(open, addr)
			}
		}
		if l := p.listeners[port]; l != nil {
			l.open.Store(&open)
			continue
		}
		socket, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
		if err != nil {
			return err
		}
		l := &listener{Listener: socket}
		l.open.Store(&open)
		p.listeners[port] = l
		go l.serve()
	}
	for port, l := range p.listeners {
		if _, stays := desired[port]; !stays {
			_ = l.Close()
			delete(p.listeners, port)
		}
	}
	return nil
}

// Close ends all listeners.
func (p *proxy) Close() error { return p.Apply(nil) }

func (l *listener) serve() {
	for turn := 0; ; turn++ {
		client, err := l.Accept()
		if err != nil {
			return // closed
		}
		open := *l.open.Load()
		if len(open) == 0 {
			_ = client.Close()
			continue
		}
		go forward(client, open[turn%len(open)])
	}
}

// forward copies in both directions until both sides have finished.
func forward(client net.Conn, backend string) {
	defer client.Close()
	server, err := net.DialTimeout("tcp", backend, 5*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pipe(server, client)
	}()
	pipe(client, server)
	<-done
}

func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from) // either side may break off
	_ = to.(*net.TCPConn).CloseWrite()
}
