// The client of the load balancer's API.
//
// FILL-IN: a client of that API, in place of this one, which keeps load balancers in memory, and with --cloud-file in a
// file that survives the process. The driver needs the methods of cloud, and errors of lbcf.Failf with a reason: NotFound
// for what does not exist, and Unavailable or Throttled for what helps to wait. Read credentials from files, which a
// Kubernetes Secret can be mounted as.

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"

	"example.com/__NAME__/lbcf"
)

const maxLoadBalancers = 1000

type loadBalancer struct {
	Token      string             `json:"token"` // the same token creates the same load balancer
	Spec       lbSpec             `json:"spec"`
	Attributes map[string]string  `json:"attributes"`
	Backends   map[string]backend `json:"backends"` // by address
}

// cloud is safe for concurrent use. A method with dryRun checks the same, and changes nothing.
type cloud struct {
	mutex  sync.Mutex
	all    map[string]loadBalancer // by ID; replaced as a whole, and never changed
	file   string                  // empty: only in memory
	proxy  *proxy                  // nil without --forward
	outage bool
}

// Create returns the ID of the load balancer that was created with this token before, and sets its attributes, or
// creates one.
func (c *cloud) Create(token string, spec lbSpec, attributes map[string]string, dryRun bool) (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.check(); err != nil {
		return "", err
	}
	id, lb := c.withToken(token)
	switch {
	case id != "" && lb.Spec != spec:
		return "", lbcf.Failf(lbcf.Conflict, "lbSpec: %s was created from another one by the same recordID", id)
	case id == "" && len(c.all) >= maxLoadBalancers:
		return "", lbcf.Failf(lbcf.QuotaExceeded, "quota exceeded: at most %d load balancers", maxLoadBalancers)
	case id == "":
		// Random, so that the ID of a deleted load balancer never means another one.
		id, lb = fmt.Sprintf("lb-%016x", rand.Uint64()), loadBalancer{Token: token, Spec: spec}
	}
	lb.Attributes = attributes
	if dryRun {
		return id, nil
	}
	return id, c.put(id, lb)
}

// Find returns the ID of the load balancer that was created with this token.
func (c *cloud) Find(token string) (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	id, _ := c.withToken(token)
	if err := c.check(); err != nil || id != "" {
		return id, err
	}
	return "", lbcf.Failf(lbcf.NotFound, "no load balancer was created for %q", token)
}

// Get returns a load balancer, whose maps must not be changed.
func (c *cloud) Get(id string) (loadBalancer, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.get(id)
}

// SetAttributes replaces the attributes.
func (c *cloud) SetAttributes(id string, attributes map[string]string, dryRun bool) error {
	return c.change(id, dryRun, func(lb *loadBalancer) error {
		lb.Attributes = attributes
		return nil
	})
}

// Register adds a backend, or replaces what is known of it.
func (c *cloud) Register(id, addr string, registered backend, dryRun bool) error {
	return c.change(id, dryRun, func(lb *loadBalancer) error {
		lb.Backends[addr] = registered
		return nil
	})
}

// Drain sets the weight of a backend to 0, so that it gets no new connections.
func (c *cloud) Drain(id, addr string, dryRun bool) error {
	return c.change(id, dryRun, func(lb *loadBalancer) error {
		drained, found := lb.Backends[addr]
		if !found {
			return lbcf.Failf(lbcf.NotFound, "backend %q not found", addr)
		}
		drained.Weight = 0
		lb.Backends[addr] = drained
		return nil
	})
}

// Deregister removes a backend, if it is registered.
func (c *cloud) Deregister(id, addr string, dryRun bool) error {
	return c.change(id, dryRun, func(lb *loadBalancer) error {
		delete(lb.Backends, addr)
		return nil
	})
}

// Delete deletes a load balancer with all its backends.
func (c *cloud) Delete(id string, dryRun bool) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, err := c.get(id); err != nil || dryRun {
		return err
	}
	all := maps.Clone(c.all)
	delete(all, id)
	return c.replace(all)
}

// LoadBalancers returns all of them by ID, also during an outage; for tests and the observer.
func (c *cloud) LoadBalancers() map[string]loadBalancer {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.all
}

// SetOutage starts or ends an outage, in which the methods above fail; for the observer.
func (c *cloud) SetOutage(on bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.outage = on
}

func (c *cloud) check() error {
	if c.outage {
		return lbcf.Failf(lbcf.Unavailable, "the load balancer's API does not respond")
	}
	return nil
}

func (c *cloud) get(id string) (loadBalancer, error) {
	lb, found := c.all[id]
	if err := c.check(); err != nil || found {
		return lb, err
	}
	return lb, lbcf.Failf(lbcf.NotFound, "load balancer %q not found", id)
}

func (c *cloud) withToken(token string) (string, loadBalancer) {
	for id, lb := range c.all {
		if lb.Token == token {
			return id, lb
		}
	}
	return "", loadBalancer{}
}

func (c *cloud) change(id string, dryRun bool, change func(lb *loadBalancer) error) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	lb, err := c.get(id)
	if err != nil {
		return err
	}
	backends := map[string]backend{}
	maps.Copy(backends, lb.Backends)
	lb.Backends = backends
	if err := change(&lb); err != nil || dryRun {
		return err
	}
	return c.put(id, lb)
}

func (c *cloud) put(id string, lb loadBalancer) error {
	all := maps.Clone(c.all)
	all[id] = lb
	return c.replace(all)
}
