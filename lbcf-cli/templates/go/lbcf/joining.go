package lbcf

import (
	"fmt"
	"sync"
	"time"
)

// Which calls join a running operation, which wait for it, and which are answered with Running.

// server serves a Driver.
type server struct {
	driver    Driver
	deadline  time.Duration
	retention time.Duration
	mutex     sync.Mutex
	latest    map[string]*operation // the last one of those that have to run one after the other
}

func newServer(driver Driver) *server {
	return &server{
		driver:    driver,
		deadline:  8 * time.Second, // the controller gives up after 10 s, unless the LoadBalancerDriver says otherwise
		retention: time.Minute,     // for a result that Running has promised; the next call comes after a second
		latest:    map[string]*operation{},
	}
}

// operation is one run of a driver's method, for every call with the same content.
type operation struct {
	content  string
	done     chan struct{} // closed when response and err are set
	response any
	err      error
	promised bool // a call was answered with Running meanwhile
}

// turn returns what operations have in common that run one after the other, in the order of their first calls.
func turn(webhook, key string, c call) string {
	switch webhook {
	case "createLoadBalancer", "ensureLoadBalancer", "deleteLoadBalancer":
		key = "load balancer " + Token(c.RecordID)
	case "ensureBackend", "deregisterBackend":
		key = fmt.Sprintf("backend %q %q", c.LBInfo, c.BackendAddr)
	}
	return fmt.Sprintf("%s, dry run: %t", key, c.DryRun)
}

// run joins the latest operation of this turn if it has the same content, or else starts another one after it.
func (s *server) run(turn, content string, work func() (any, error)) (any, error) {
	s.mutex.Lock()
	o, previous := s.latest[turn], s.latest[turn]
	if o == nil || o.content != content {
		o = &operation{content: content, done: make(chan struct{})}
		s.latest[turn] = o
		go func() {
			if previous != nil {
				<-previous.done
			}
			o.response, o.err = work()
			s.finish(turn, o)
		}()
	}
	s.mutex.Unlock()
	select {
	case <-o.done:
		s.forget(turn, o)
		return o.response, o.err
	case <-time.After(s.deadline):
		s.mutex.Lock()
		defer s.mutex.Unlock()
		o.promised = true
		return nil, Runningf(time.Second, "still working on it after %v", s.deadline)
	}
}

// finish keeps a promised result for the call that asks for it, unless the next operation makes it obsolete.
func (s *server) finish(turn string, o *operation) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	close(o.done)
	if o.promised {
		time.AfterFunc(s.retention, func() { s.forget(turn, o) })
	} else if s.latest[turn] == o {
		delete(s.latest, turn)
	}
}

func (s *server) forget(turn string, o *operation) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.latest[turn] == o {
		delete(s.latest, turn)
	}
}
