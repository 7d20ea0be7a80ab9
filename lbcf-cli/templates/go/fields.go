// The fields that users write, and their rules. The operations check them like the validations, because objects can reach
// the controller without having been validated. A message names the field, its value and what is allowed.
//
// FILL-IN: your fields. Then adapt cloud.go, driver_test.go, deploy/example/ and conformance.yaml.

package main

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"example.com/__NAME__/lbcf"
)

// lbSpec is spec.lbSpec of a LoadBalancer. Immutable.
type lbSpec struct {
	VPC      string `json:"vpc"`
	Port     uint16 `json:"port"`
	Protocol string `json:"protocol"` // TCP or UDP
}

// backend is what the cloud stores of a backend: spec.parameters of a BackendGroup, and who registered it.
type backend struct {
	Weight   uint8  `json:"weight"` // the share of connections; 0 gets no new ones
	RecordID string `json:"recordID,omitempty"`
}

const defaultWeight = "10"

func (b backend) parameters() map[string]string {
	return map[string]string{"weight": strconv.Itoa(int(b.Weight))}
}

// lbInfo is the identity of a load balancer: what is needed to find it, and nothing that changes. Users see the address.
func lbInfo(id string, spec lbSpec) map[string]string {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(spec.Port)))
	return map[string]string{"lbID": id, "protocol": spec.Protocol, "address": address}
}

func readLoadBalancer(values, attributes map[string]string) (lbSpec, map[string]string, error) {
	unknown := onlyKeys("lbSpec", values, "lbVpcID", "lbListenerPort", "lbListenerProtocol")
	port, portErr := number("lbSpec.lbListenerPort", values["lbListenerPort"], 1, 65535)
	protocol := strings.ToUpper(valueOr(values, "lbListenerProtocol", "TCP"))
	spec := lbSpec{VPC: values["lbVpcID"], Port: uint16(port), Protocol: protocol}
	var vpcErr error
	if spec.VPC == "" {
		vpcErr = lbcf.Failf(lbcf.InvalidArgument, "lbSpec.lbVpcID: %q: not the ID of a network", spec.VPC)
	}
	attributes, attributesErr := readAttributes(attributes)
	protocolErr := oneOf("lbSpec.lbListenerProtocol", protocol, "TCP", "UDP")
	return spec, attributes, cmp.Or(unknown, vpcErr, portErr, protocolErr, attributesErr)
}

// readAttributes returns spec.attributes of a LoadBalancer with defaults. Others than these are stored as they are.
func readAttributes(values map[string]string) (map[string]string, error) {
	attributes := map[string]string{"chargeType": "TRAFFIC_POSTPAID_BY_HOUR"}
	maps.Copy(attributes, values)
	err := oneOf("attributes.chargeType", attributes["chargeType"], "TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR")
	if bandwidth, found := attributes["max-bandwidth-out"]; found {
		_, numberErr := number("attributes.max-bandwidth-out", bandwidth, 0, 1<<32-1)
		err = cmp.Or(err, numberErr)
	}
	return attributes, err
}

func readParameters(values map[string]string) (weight uint8, err error) {
	parsed, err := number("parameters.weight", valueOr(values, "weight", defaultWeight), 0, 255)
	return uint8(parsed), cmp.Or(onlyKeys("parameters", values, "weight"), err)
}

// checkAddr accepts the addresses that this driver generates, and those that users write in the same form: with two forms
// of one address a backend would be registered twice.
func checkAddr(text string) error {
	at, err := netip.ParseAddrPort(text)
	ip := at.Addr()
	if err != nil || at.String() != text || at.Port() == 0 || ip.Zone() != "" || ip.Is4In6() || ip.IsUnspecified() || ip.IsMulticast() {
		return lbcf.Failf(lbcf.InvalidArgument, "backendAddr: %q: not IP:port such as 10.0.0.7:80 or [fd00::7]:80", text)
	}
	return nil
}

func valueOr(values map[string]string, key, otherwise string) string {
	if value, found := values[key]; found {
		return value
	}
	return otherwise
}

// number accepts decimal digits only; strconv alone would accept "080".
func number(field, text string, least, most uint64) (uint64, error) {
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strconv.FormatUint(value, 10) != text || value < least || value > most {
		return 0, lbcf.Failf(lbcf.InvalidArgument, "%s: %q: not a number from %d to %d", field, text, least, most)
	}
	return value, nil
}

func oneOf(field, text string, allowed ...string) error {
	if !slices.Contains(allowed, text) {
		return lbcf.Failf(lbcf.InvalidArgument, "%s: %q: not %s", field, text, strings.Join(allowed, " or "))
	}
	return nil
}

// onlyKeys refuses misspelt keys.
func onlyKeys(field string, values map[string]string, allowed ...string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(allowed, key) {
			return lbcf.Failf(lbcf.InvalidArgument, "%s.%s: %q: unknown; allowed: %s", field, key, values[key], strings.Join(allowed, ", "))
		}
	}
	return nil
}
