// What the cloud in memory needs to survive a restart, and to forward connections.
//
// FILL-IN: remove this file. A real load balancer keeps its state itself.

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"example.com/__NAME__/lbcf"
)

// openCloud reads the file. One that does not exist is an empty cloud.
func openCloud(file string, proxy *proxy) (*cloud, error) {
	c := &cloud{all: map[string]loadBalancer{}, file: file, proxy: proxy}
	if file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			err = unmarshal(text, &c.all)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--cloud-file %s: %w", file, err)
		}
	}
	return c, cmp.Or(c.forward(c.all), c.save(c.all)) // fails now rather than at the first call
}

// unmarshal names the position of a mistake.
func unmarshal(text []byte, into *map[string]loadBalancer) error {
	err := json.Unmarshal(text, into)
	if err == nil && *into == nil {
		return errors.New("line 1, column 1: null: not an object")
	}
	offset := int64(len(text))
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		offset = min(offset, syntax.Offset)
	case errors.As(err, &wrong):
		offset = min(offset, wrong.Offset)
	}
	before := text[:offset]
	line, column := bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')-1
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// replace takes the new state once it is forwarded and stored, or else keeps the old one.
func (c *cloud) replace(all map[string]loadBalancer) error {
	err := c.forward(all)
	if err == nil {
		err = c.save(all)
	}
	if err != nil {
		_ = c.forward(c.all) // as before, when it worked
		return err
	}
	c.all = all
	return nil
}

// save replaces the file as a whole: a process that ends here leaves the old one or the new one.
func (c *cloud) save(all map[string]loadBalancer) error {
	if c.file == "" {
		return nil
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(c.file+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(c.file+".new", c.file)
	}
	if err != nil {
		return lbcf.Failf(lbcf.Unavailable, "--cloud-file: %v", err)
	}
	return nil
}

// forward brings the proxy to this state, with --forward. It only knows TCP.
func (c *cloud) forward(all map[string]loadBalancer) error {
	if c.proxy == nil {
		return nil
	}
	listeners := map[uint16]weights{}
	for _, lb := range all {
		port := lb.Spec.Port
		if lb.Spec.Protocol != "TCP" {
			continue
		}
		if listeners[port] != nil {
			return lbcf.Failf(lbcf.Conflict, "port %d: another load balancer listens there", port)
		}
		listeners[port] = weights{}
		for addr, backend := range lb.Backends {
			listeners[port][addr] = backend.Weight
		}
	}
	if err := c.proxy.Apply(listeners); err != nil {
		return lbcf.Failf(lbcf.Conflict, "%v", err)
	}
	return nil
}
