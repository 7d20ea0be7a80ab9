package main

import (
	"maps"
	"net/http"
	"slices"
)

// For tests only: the contents of the cloud, which `lbcf conformance` compares with the driver's
// responses. It is no webhook; remove it from a driver in production.

type observation struct {
	LoadBalancers []observedLoadBalancer `json:"loadBalancers"`
}

type observedLoadBalancer struct {
	LBInfo     map[string]string `json:"lbInfo"`
	Attributes map[string]string `json:"attributes"`
	Backends   []observedBackend `json:"backends"`
}

type observedBackend struct {
	Addr       string            `json:"addr"`
	Parameters map[string]string `json:"parameters"`
}

func (c *cloud) observe() observation {
	seen := observation{LoadBalancers: []observedLoadBalancer{}}
	c.each(func(lb *loadBalancer) {
		backends := []observedBackend{}
		for _, addr := range slices.Sorted(maps.Keys(lb.backends)) {
			backends = append(backends, observedBackend{addr, lb.backends[addr]})
		}
		identity := map[string]string{"lbID": lb.id}
		seen.LoadBalancers = append(seen.LoadBalancers, observedLoadBalancer{identity, lb.attributes, backends})
	})
	return seen
}

// foreign is a backend that is registered outside of the driver.
type foreign struct {
	LBInfo stringMap `json:"lbInfo"`
	Addr   string    `json:"addr"`
}

func (c *cloud) plant(call foreign) any {
	if err := c.bind(call.LBInfo["lbID"], call.Addr, map[string]string{}, false); err != nil {
		return failed(err)
	}
	return struct{}{}
}

func observe(c *cloud) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			notAllowed(w, http.MethodGet)
			return
		}
		write(w, http.StatusOK, c.observe())
	}
}
