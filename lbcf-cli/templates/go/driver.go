// The driver: what each webhook does.
//
// LBCF's controller watches pods and services and calls these methods. It repeats a call until it succeeds, and later, for
// example when a response was lost, the controller restarted or a parameter changed. So each method brings the cloud to
// the requested state, and succeeds if it is in that state already. Keep no state between calls: processes restart.
//
// The package lbcf does the rest: it reads requests, joins a call that is repeated while it runs, and answers with Running
// what takes too long.
//
// FILL-IN: the numbered methods, which call your cloud. The others may stay as they are.

package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"example.com/__NAME__/lbcf"
)

const keepRegistered = "lbcf.example.com/keep-registered" // annotation of a pod that stays registered while not ready

type driver struct {
	cloud *cloud
	drain time.Duration // how long clients of a deregistered backend may finish
}

func (d driver) Healthz(context.Context) lbcf.HealthzResponse {
	return lbcf.HealthzResponse{Healthy: true, Specification: "1", Features: []string{"cancel", "reasons"}}
}

// ValidateLoadBalancer is called while a user waits, and not repeated: what cannot be checked now is better accepted.
func (d driver) ValidateLoadBalancer(_ context.Context, r lbcf.ValidateLoadBalancerRequest) (lbcf.ValidateLoadBalancerResponse, error) {
	_, _, err := readLoadBalancer(r.LBSpec, r.Attributes)
	return lbcf.ValidateLoadBalancerResponse{Succ: true}, cmp.Or(oneOf("operation", r.Operation, "Create", "Update"), err)
}

// CreateLoadBalancer: FILL-IN 1 of 6. The token makes it idempotent: a repeated call finds what the first one created.
func (d driver) CreateLoadBalancer(_ context.Context, r lbcf.CreateLoadBalancerRequest) (lbcf.CreateLoadBalancerResponse, error) {
	spec, attributes, err := readLoadBalancer(r.LBSpec, r.Attributes)
	if err != nil {
		return lbcf.CreateLoadBalancerResponse{}, err
	}
	id, err := d.cloud.Create(lbcf.Token(r.RecordID), spec, attributes, r.DryRun)
	return lbcf.CreateLoadBalancerResponse{Status: lbcf.Succ, LBInfo: lbInfo(id, spec)}, err
}

// EnsureLoadBalancer: FILL-IN 2 of 6. Sets all attributes; what the user does not name gets its default.
func (d driver) EnsureLoadBalancer(_ context.Context, r lbcf.EnsureLoadBalancerRequest) (lbcf.EnsureLoadBalancerResponse, error) {
	attributes, err := readAttributes(r.Attributes)
	id, findErr := d.find(r.LBInfo, r.RecordID)
	if err = cmp.Or(err, findErr); err == nil {
		err = d.cloud.SetAttributes(id, attributes, r.DryRun)
	}
	return lbcf.EnsureLoadBalancerResponse{Status: lbcf.Succ}, err
}

// DeleteLoadBalancer: FILL-IN 3 of 6. Succeeds if the load balancer does not exist.
func (d driver) DeleteLoadBalancer(_ context.Context, r lbcf.DeleteLoadBalancerRequest) (lbcf.DeleteLoadBalancerResponse, error) {
	id, err := d.find(r.LBInfo, r.RecordID)
	if err == nil {
		err = d.cloud.Delete(id, r.DryRun)
	}
	return lbcf.DeleteLoadBalancerResponse{Status: lbcf.Succ}, unlessNotFound(err)
}

func (d driver) ValidateBackend(_ context.Context, r lbcf.ValidateBackendRequest) (lbcf.ValidateBackendResponse, error) {
	_, err := readParameters(r.Parameters)
	return lbcf.ValidateBackendResponse{Succ: true}, cmp.Or(oneOf("operation", r.Operation, "Create", "Update"),
		oneOf("backendType", r.BackendType, "Pod", "Service", "Static"), err)
}

// GenerateBackendAddr returns the identity of a backend, always the same for the same backend. Registers nothing.
func (d driver) GenerateBackendAddr(_ context.Context, r lbcf.GenerateBackendAddrRequest) (lbcf.GenerateBackendAddrResponse, error) {
	addr, protocol, err := lbcf.Address(r)
	if listens := cmp.Or(r.LBInfo["protocol"], "TCP"); err == nil && string(protocol) != listens {
		err = lbcf.Failf(lbcf.InvalidArgument, "port %d: %s: the load balancer's protocol is %s", addr.Port(), protocol, listens)
	}
	return lbcf.GenerateBackendAddrResponse{Status: lbcf.Succ, BackendAddr: addr.String()}, err
}

// EnsureBackend: FILL-IN 4 of 6. Registers the backend, or updates it. Ends a deregistration that is Running.
func (d driver) EnsureBackend(_ context.Context, r lbcf.EnsureBackendRequest) (lbcf.EnsureBackendResponse, error) {
	weight, err := readParameters(r.Parameters)
	if err = cmp.Or(err, checkAddr(r.BackendAddr)); err == nil {
		err = d.cloud.Register(r.LBInfo["lbID"], r.BackendAddr, backend{weight, r.RecordID}, r.DryRun)
	}
	return lbcf.EnsureBackendResponse{Status: lbcf.Succ}, err
}

// DeregisterBackend: FILL-IN 5 of 6. Succeeds if the backend is not registered, or the load balancer does not exist.
func (d driver) DeregisterBackend(_ context.Context, r lbcf.DeregisterBackendRequest) (lbcf.DeregisterBackendResponse, error) {
	remove := d.cloud.Deregister
	draining := lbcf.Draining(r.FirstRequestedAt, d.drain)
	if draining != nil {
		remove = d.cloud.Drain
	}
	err := cmp.Or(remove(r.LBInfo["lbID"], r.BackendAddr, r.DryRun), draining)
	return lbcf.DeregisterBackendResponse{Status: lbcf.Succ}, unlessNotFound(err)
}

// JudgePodDeregister returns the pods that stay registered although they are not ready.
func (d driver) JudgePodDeregister(_ context.Context, r lbcf.JudgePodDeregisterRequest) (lbcf.JudgePodDeregisterResponse, error) {
	response := lbcf.JudgePodDeregisterResponse{Succ: true}
	for _, pod := range r.NotReadyPods {
		if pod.Metadata.Annotations[keepRegistered] == "true" {
			response.DoNotDeregister = append(response.DoNotDeregister, pod)
		}
	}
	return response, nil
}

// ListBackends: FILL-IN 6 of 6. Returns all backends, also those that others registered, which have no recordID.
func (d driver) ListBackends(_ context.Context, r lbcf.ListBackendsRequest) (response lbcf.ListBackendsResponse, err error) {
	lb, err := d.cloud.Get(r.LBInfo["lbID"])
	for _, addr := range slices.Sorted(maps.Keys(lb.Backends)) {
		it := lb.Backends[addr]
		listed := lbcf.ListedBackend{BackendAddr: addr, Parameters: it.parameters(), RecordID: it.RecordID}
		response.Backends = append(response.Backends, listed)
	}
	response.Status = lbcf.Succ
	return response, err
}

// find returns the ID of the load balancer. There is no lbInfo if the controller never got one: the creation may have
// begun nevertheless, and the token finds what it created.
func (d driver) find(lbInfo map[string]string, recordID string) (string, error) {
	if len(lbInfo) == 0 {
		return d.cloud.Find(lbcf.Token(recordID))
	}
	return lbInfo["lbID"], nil
}

// unlessNotFound makes the deletion of what does not exist a success.
func unlessNotFound(err error) error {
	if err != nil && lbcf.Reason(err) == lbcf.NotFound {
		return nil
	}
	return err
}
