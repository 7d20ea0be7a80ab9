package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

const (
	maxLoadBalancers = 1000
	maxBackends      = 1000 // of one load balancer
)

// errNotFound is returned if the load balancer does not exist.
var errNotFound = errors.New("there is no such load balancer")

// loadBalancer is a load balancer in the cloud.
type loadBalancer struct {
	id          string
	clientToken string
	spec        map[string]string
	attributes  map[string]string
	backends    map[string]map[string]string // parameters by address
}

// changedTo returns the attributes after an update: the given ones, and the billing model, which is
// immutable once it is set.
func (lb *loadBalancer) changedTo(attributes map[string]string) (map[string]string, error) {
	changed := map[string]string{}
	maps.Copy(changed, attributes)
	if charge, fixed := lb.attributes["charge"]; fixed {
		if wanted, given := attributes["charge"]; given && wanted != charge {
			return nil, fmt.Errorf("%s is charged %q; this cannot be changed to %q", lb.id, charge, wanted)
		}
		changed["charge"] = charge
	}
	return changed, nil
}

// cloud is a load balancer cloud in memory: replace it with your cloud's client library.
//
// Like other clouds it returns errors, is independent of Kubernetes, and makes creation idempotent by a
// client token. It stores everything that the driver has to find again, so the driver could be restarted
// at any time (if this cloud were not in its memory).
//
// Each method is one call of the cloud's API. The lock makes it atomic, because the driver is called for
// many backends concurrently. With dryRun, a call returns its result and changes nothing.
type cloud struct {
	mutex         sync.Mutex
	loadBalancers map[string]*loadBalancer
}

func newCloud() *cloud {
	return &cloud{loadBalancers: map[string]*loadBalancer{}}
}

// create creates a load balancer and returns its id; the same client token returns the same one.
func (c *cloud) create(clientToken string, spec, attributes map[string]string, dryRun bool) (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	lb := c.madeWith(clientToken)
	switch {
	case lb == nil && len(c.loadBalancers) >= maxLoadBalancers:
		return "", fmt.Errorf("quota: there are %d load balancers already", maxLoadBalancers)
	case lb == nil:
		lb = &loadBalancer{
			id:          newID(),
			clientToken: clientToken,
			spec:        maps.Clone(spec),
			backends:    map[string]map[string]string{},
		}
	case !maps.Equal(lb.spec, spec):
		return "", fmt.Errorf("%s was created with the same token from another lbSpec", lb.id)
	}
	changed, err := lb.changedTo(attributes)
	if err == nil && !dryRun {
		lb.attributes = changed
		c.loadBalancers[lb.id] = lb
	}
	return lb.id, err
}

// findByToken returns the id of the load balancer that was created with this client token.
func (c *cloud) findByToken(clientToken string) (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if lb := c.madeWith(clientToken); lb != nil {
		return lb.id, nil
	}
	return "", errNotFound
}

// setAttributes updates a load balancer's attributes.
func (c *cloud) setAttributes(id string, attributes map[string]string, dryRun bool) error {
	return c.with(id, func(lb *loadBalancer) error {
		changed, err := lb.changedTo(attributes)
		if err == nil && !dryRun {
			lb.attributes = changed
		}
		return err
	})
}

// delete deletes a load balancer with its backends.
func (c *cloud) delete(id string, dryRun bool) error {
	return c.with(id, func(lb *loadBalancer) error {
		if !dryRun {
			delete(c.loadBalancers, lb.id)
		}
		return nil
	})
}

// bind registers one backend, or updates its parameters; all others stay unchanged.
func (c *cloud) bind(id, addr string, parameters map[string]string, dryRun bool) error {
	return c.with(id, func(lb *loadBalancer) error {
		if _, bound := lb.backends[addr]; !bound && len(lb.backends) >= maxBackends {
			return fmt.Errorf("quota: %s has %d backends already", lb.id, maxBackends)
		}
		if !dryRun {
			kept := map[string]string{}
			maps.Copy(kept, parameters)
			lb.backends[addr] = kept
		}
		return nil
	})
}

// unbind deregisters one backend, if it is registered.
func (c *cloud) unbind(id, addr string, dryRun bool) error {
	return c.with(id, func(lb *loadBalancer) error {
		if !dryRun {
			delete(lb.backends, addr)
		}
		return nil
	})
}

// each calls the function for every load balancer, in the order of the ids.
func (c *cloud) each(see func(lb *loadBalancer)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.loadBalancers)) {
		see(c.loadBalancers[id])
	}
}

func (c *cloud) with(id string, act func(lb *loadBalancer) error) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	lb, found := c.loadBalancers[id]
	if !found {
		return fmt.Errorf("lbID %q: %w", id, errNotFound)
	}
	return act(lb)
}

func (c *cloud) madeWith(clientToken string) *loadBalancer {
	for _, lb := range c.loadBalancers {
		if lb.clientToken == clientToken {
			return lb
		}
	}
	return nil
}

// newID returns a random id, which is never reused, so a reference to a deleted load balancer cannot
// match another one.
func newID() string {
	random := make([]byte, 8)
	rand.Read(random) // it cannot fail: without randomness the process exits
	return "lb-" + hex.EncodeToString(random)
}
