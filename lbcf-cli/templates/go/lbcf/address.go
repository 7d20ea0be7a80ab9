package lbcf

import (
	"cmp"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// The address of a backend depends on the request alone, so that the same backend always has the same one.

// Address returns IP and port of the backend, and the protocol of the port.
func Address(request GenerateBackendAddrRequest) (netip.AddrPort, Protocol, error) {
	// A pod that is an endpoint comes with an endpointBackend, too.
	switch pod, service, endpoint := request.PodBackend, request.ServiceBackend, request.EndpointBackend; {
	case isPresent(pod) && pod.Pod.Status.PodIP == "":
		return netip.AddrPort{}, "", Runningf(2*time.Second, "pod %s has no IP yet", pod.Pod.Metadata.Name)
	case isPresent(pod):
		return addrPort(pod.Pod.Status.PodIP, cmp.Or(pod.Port.Port, pod.Port.PortNumber), pod.Port.Protocol)
	case isPresent(service):
		return nodePort(service)
	case isPresent(endpoint):
		return addrPort(endpoint.Address, endpoint.Port, endpoint.Protocol)
	}
	return netip.AddrPort{}, "", Failf(InvalidArgument, "podBackend, serviceBackend or endpointBackend is required")
}

func isPresent(backend any) bool { return !reflect.ValueOf(backend).IsZero() }

// nodePort returns the address of a service's port at a node.
func nodePort(backend ServiceBackend) (netip.AddrPort, Protocol, error) {
	number, protocol := cmp.Or(backend.Port.Port, backend.Port.PortNumber), withDefault(backend.Port.Protocol)
	for _, port := range backend.Service.Spec.Ports {
		if port.Port != number || withDefault(Protocol(port.Protocol)) != protocol || port.NodePort == 0 {
			continue
		}
		for _, kind := range []string{"InternalIP", "ExternalIP"} {
			for _, address := range backend.NodeAddresses {
				if address.Type == kind {
					return addrPort(address.Address, port.NodePort, protocol)
				}
			}
		}
		return netip.AddrPort{}, "", Failf(InvalidArgument, "node %s has no IP", backend.NodeName)
	}
	name := backend.Service.Metadata.Name
	return netip.AddrPort{}, "", Failf(InvalidArgument, "service %s has no node port for %d/%s", name, number, protocol)
}

func addrPort(text string, port int32, protocol Protocol) (netip.AddrPort, Protocol, error) {
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return netip.AddrPort{}, "", Failf(InvalidArgument, "address: %q: not an IP", text)
	}
	if port < 1 || port > 65535 {
		return netip.AddrPort{}, "", Failf(InvalidArgument, "port: %d: not a number from 1 to 65535", port)
	}
	if protocol = withDefault(protocol); !protocol.Valid() {
		return netip.AddrPort{}, "", Failf(InvalidArgument, "protocol: %q: not TCP, UDP or SCTP", protocol)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), protocol, nil
}

// withDefault returns the protocol in capitals, and TCP for none.
func withDefault(protocol Protocol) Protocol {
	return cmp.Or(Protocol(strings.ToUpper(string(protocol))), TCP)
}
