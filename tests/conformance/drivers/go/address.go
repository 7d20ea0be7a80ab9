package main

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The address that identifies a backend at the load balancer. It depends only on the request, so the same
// backend always has the same address, and two backends never share one.

// What the cloud can use. Users may write any text as a static address.
var usable = regexp.MustCompile(`^\S+:\d{1,5}(/[A-Z]+)?$`)

// addressOfPod is the pod's own IP and port.
func addressOfPod(backend *podBackend) (string, error) {
	pod := backend.Pod.object
	number, protocol, err := backend.Port.read()
	if err != nil {
		return "", err
	}
	if pod.Status.PodIP == "" {
		return "", fmt.Errorf("pod %s has no IP yet", pod.Metadata.Name)
	}
	return writeAddress(pod.Status.PodIP, number, protocol), nil
}

// addressOfService is the node's IP and the node port of the service's port.
func addressOfService(backend *serviceBackend) (string, error) {
	number, protocol, err := backend.Port.read()
	if err != nil {
		return "", err
	}
	nodePort := 0
	for _, port := range backend.Service.object.Spec.Ports {
		if port.Port == number && strings.EqualFold(orTCP(port.Protocol), protocol) && port.NodePort > 0 {
			nodePort = port.NodePort
			break
		}
	}
	if nodePort == 0 {
		name := backend.Service.object.Metadata.Name
		return "", fmt.Errorf("service %s has no node port for %d/%s", name, number, protocol)
	}
	ip := preferred(append(backend.NodeAddresses, backend.NodeAddress...))
	if ip == "" {
		return "", fmt.Errorf("node %s has no address", backend.NodeName)
	}
	return writeAddress(ip, nodePort, protocol), nil
}

func writeAddress(ip string, port int, protocol string) string {
	return net.JoinHostPort(ip, strconv.Itoa(port)) + "/" + protocol
}

func (p port) read() (number int, protocol string, err error) {
	number = p.Port
	if number == 0 {
		number = p.PortNumber
	}
	if number < 1 || number > 65535 {
		return 0, "", fmt.Errorf("port %d: not a port from 1 to 65535", number)
	}
	protocol = strings.ToUpper(orTCP(p.Protocol))
	if !slices.Contains([]string{"TCP", "UDP", "SCTP"}, protocol) {
		return 0, "", fmt.Errorf("protocol %q: not TCP, UDP or SCTP", p.Protocol)
	}
	return number, protocol, nil
}

func orTCP(protocol string) string {
	if protocol == "" {
		return "TCP"
	}
	return protocol
}

// preferred returns the best address to reach a node, or an empty string if it has none.
func preferred(addresses []nodeAddress) string {
	for _, kind := range []string{"InternalIP", "ExternalIP", ""} {
		for _, address := range addresses {
			if (kind == "" || kind == address.Type) && address.Address != "" {
				return address.Address
			}
		}
	}
	return ""
}
