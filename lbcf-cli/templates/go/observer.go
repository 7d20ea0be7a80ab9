// The state of the cloud, whatever the driver responds: for `lbcf conformance`, with --observe.
//
// FILL-IN: read it from your load balancer's API. POST /_observe/fault makes the API fail for a while; with a real one,
// remove the route and `fault` in conformance.yaml, or block the connection to it.

package main

import (
	"encoding/json"
	"net/http"
)

type observed struct {
	LBInfo     map[string]string `json:"lbInfo"`
	Attributes map[string]string `json:"attributes"`
	Backends   []observedBackend `json:"backends"`
}

type observedBackend struct {
	Addr       string            `json:"addr"`
	Parameters map[string]string `json:"parameters"`
}

// change is one that the driver does not know of, as by hand.
type change struct {
	LBInfo     map[string]string `json:"lbInfo"`
	Addr       string            `json:"addr"`
	Attributes map[string]string `json:"attributes"`
	On         bool              `json:"on"`
}

// observe adds routes that everyone who can call the driver can use: not for production.
func observe(mux *http.ServeMux, c *cloud) {
	mux.HandleFunc("GET /_observe", func(w http.ResponseWriter, _ *http.Request) {
		all := []observed{}
		for id, lb := range c.LoadBalancers() {
			backends := []observedBackend{}
			for addr, backend := range lb.Backends {
				backends = append(backends, observedBackend{addr, backend.parameters()})
			}
			all = append(all, observed{lbInfo(id, lb.Spec), lb.Attributes, backends})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"loadBalancers": all})
	})
	post := func(path string, apply func(it change) error) {
		mux.HandleFunc("POST /_observe/"+path, func(w http.ResponseWriter, r *http.Request) {
			var it change
			err := json.NewDecoder(r.Body).Decode(&it)
			if err == nil {
				err = apply(it)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
			}
		})
	}
	post("foreign", func(it change) error {
		if err := checkAddr(it.Addr); err != nil {
			return err
		}
		return c.Register(it.LBInfo["lbID"], it.Addr, backend{Weight: 1}, false)
	})
	post("unbind", func(it change) error {
		return c.Deregister(it.LBInfo["lbID"], it.Addr, false)
	})
	post("attributes", func(it change) error {
		attributes, err := readAttributes(it.Attributes)
		if err != nil {
			return err
		}
		return c.SetAttributes(it.LBInfo["lbID"], attributes, false)
	})
	post("fault", func(it change) error {
		c.SetOutage(it.On)
		return nil
	})
}
