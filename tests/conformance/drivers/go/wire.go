package main

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Requests of the controller. encoding/json rejects wrong types ("5" is not a number), ignores unknown
// fields, matches names in any letter case (deployed controllers write OldParameters, the specification
// oldParameters), and decodes null as an empty map, which controllers in Go send.

// stringMap is a map of strings to strings; encoding/json alone would decode a null value as an empty string.
type stringMap map[string]string

func (m *stringMap) UnmarshalJSON(data []byte) error {
	var values map[string]*string
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*m = stringMap{}
	for name, value := range values {
		if value == nil {
			return errors.New(name + " is null: only strings are allowed in a map")
		}
		(*m)[name] = *value
	}
	return nil
}

// embedded is a pod or a service: controllers send objects, the specification shows a string with JSON.
type embedded[T any] struct{ object T }

func (e *embedded[T]) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && text != "" {
		data = []byte(text)
	}
	return unmarshalObject(data, &e.object)
}

// unmarshalObject reads a JSON object; encoding/json alone would decode null as an empty one.
func unmarshalObject(data []byte, into any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return errors.New("a JSON object is needed")
	}
	return json.Unmarshal(data, into)
}

type metadata struct {
	Name string `json:"name"`
}

type pod struct {
	Metadata metadata `json:"metadata"`
	Status   struct {
		PodIP string `json:"podIP"`
	} `json:"status"`
}

type service struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Ports []struct {
			Port     int    `json:"port"`
			Protocol string `json:"protocol"`
			NodePort int    `json:"nodePort"`
		} `json:"ports"`
	} `json:"spec"`
}

// port is the port of a backend; portNumber is the older name of the number.
type port struct {
	Port       int    `json:"port"`
	PortNumber int    `json:"portNumber"`
	Protocol   string `json:"protocol"`
}

type podBackend struct {
	Pod  embedded[pod] `json:"pod"`
	Port port          `json:"port"`
}

type nodeAddress struct {
	Type    string `json:"type"` // InternalIP, ExternalIP, or a kind of name
	Address string `json:"address"`
}

type serviceBackend struct {
	Service       embedded[service] `json:"service"`
	Port          port              `json:"port"`
	NodeName      string            `json:"nodeName"`
	NodeAddresses []nodeAddress     `json:"nodeAddresses"`
	NodeAddress   []nodeAddress     `json:"nodeAddress"` // the name in a sample of the specification
}

// validation is sent when a user creates or updates an object, and is not repeated.
type validation struct {
	Operation string `json:"operation"`
	DryRun    bool   `json:"dryRun"`
}

type validateLoadBalancer struct {
	validation
	LBSpec        stringMap `json:"lbSpec"`
	Attributes    stringMap `json:"attributes"`
	OldAttributes stringMap `json:"oldAttributes"`
}

type validateBackend struct {
	validation
	BackendType   string    `json:"backendType"`
	LBInfo        stringMap `json:"lbInfo"` // empty as long as the load balancer has not been created
	Parameters    stringMap `json:"parameters"`
	OldParameters stringMap `json:"oldParameters"`
}

// operation is repeated until it succeeds. The recordID is any text, equal in all calls for one operation
// on one object; the retryID is different in each call.
type operation struct {
	RecordID string `json:"recordID"`
	RetryID  string `json:"retryID"`
	DryRun   bool   `json:"dryRun"`
}

type createLoadBalancer struct {
	operation
	LBSpec     stringMap `json:"lbSpec"`
	Attributes stringMap `json:"attributes"`
}

// loadBalancerOperation is ensureLoadBalancer and deleteLoadBalancer.
type loadBalancerOperation struct {
	operation
	LBInfo     stringMap `json:"lbInfo"`
	Attributes stringMap `json:"attributes"`
}

// generateBackendAddr has no parameters: controllers omit them, so no address may depend on them.
type generateBackendAddr struct {
	operation
	PodBackend     *podBackend     `json:"podBackend"`
	ServiceBackend *serviceBackend `json:"serviceBackend"`
}

// backendOperation is ensureBackend and deregisterBackend.
type backendOperation struct {
	operation
	LBInfo       stringMap `json:"lbInfo"`
	BackendAddr  string    `json:"backendAddr"`
	Parameters   stringMap `json:"parameters"`
	InjectedInfo stringMap `json:"injectedInfo"`
}

// Responses to the controller: one for operations, and one for validations.

type answer struct {
	Status string `json:"status"` // Succ, Fail or Running
	Msg    string `json:"msg"`
	Reason string `json:"reason,omitempty"` // NotFound: the controller creates the load balancer again
	// The minimum delay in seconds until the next call: a number, although documents show a string.
	MinRetryDelayInSeconds int32             `json:"minRetryDelayInSeconds,omitempty"`
	LBInfo                 map[string]string `json:"lbInfo,omitempty"`
	BackendAddr            string            `json:"backendAddr,omitempty"`
	InjectedInfo           map[string]string `json:"injectedInfo,omitempty"`
}

type verdict struct {
	Succ bool   `json:"succ"`
	Msg  string `json:"msg"`
}

type health struct {
	Healthy bool `json:"healthy"`
}

func succeeded() answer { return answer{Status: "Succ"} }

func failed(err error) answer {
	if errors.Is(err, errNotFound) {
		return answer{Status: "Fail", Msg: err.Error(), Reason: "NotFound"}
	}
	return answer{Status: "Fail", Msg: err.Error()}
}

// outcome returns Succ, or Fail with the error as its message.
func outcome(err error) answer {
	if err != nil {
		return failed(err)
	}
	return succeeded()
}
