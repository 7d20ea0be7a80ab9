// Tests of what the cloud remembers, and of the addresses and pods in requests.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALoadBalancerIsFoundByItsObject(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud.json")
	c, _ := start(t, file, 0)
	lbInfo := c.create()
	c, cloud := start(t, file, 0) // a restart
	want(t, c.create()["lbID"].(string), lbInfo["lbID"].(string))
	spec := object{"lbVpcID": "vpc-1", "lbListenerPort": "80"}
	c.call("createLoadBalancer", object{"lbSpec": spec, "attributes": object{"max-bandwidth-out": "20"}})
	want(t, cloud.LoadBalancers()[lbInfo["lbID"].(string)].Attributes["max-bandwidth-out"], "20")
	c.succeeds("ensureLoadBalancer", object{}) // as controllers of LBCF's first edition call it
	want(t, cloud.LoadBalancers()[lbInfo["lbID"].(string)].Attributes["max-bandwidth-out"], "")

	c.succeeds("deleteLoadBalancer", object{"recordID": "deleteLoadBalancer(2)"})
	c.succeeds("deleteLoadBalancer", object{"lbInfo": object{"lbID": ""}})
	want(t, backends(cloud), "map[]")
	c.succeeds("deleteLoadBalancer", object{"lbInfo": nil})
	want(t, backends(cloud), "no load balancer")
	for _, webhook := range []string{"ensureLoadBalancer", "listBackends"} {
		if got := c.call(webhook, object{"lbInfo": lbInfo}); !strings.Contains(got, `"reason":"NotFound"`) {
			t.Error(webhook, got)
		}
	}
}

func TestAnOutageFailsAndChangesNothing(t *testing.T) {
	c, cloud := start(t, "", 0)
	lbInfo := c.create()
	cloud.SetOutage(true)
	for _, webhook := range []string{"createLoadBalancer", "ensureLoadBalancer", "deleteLoadBalancer", "ensureBackend", "deregisterBackend", "listBackends"} {
		spec := object{"lbVpcID": "vpc-1", "lbListenerPort": "80"}
		request := object{"lbInfo": lbInfo, "lbSpec": spec, "backendAddr": "10.0.0.1:80"}
		if got := c.call(webhook, request); !strings.Contains(got, `"reason":"Unavailable"`) {
			t.Error(webhook, got)
		}
	}
	if got := c.call("deleteLoadBalancer", object{}); !strings.Contains(got, `"reason":"Unavailable"`) {
		t.Error(got)
	}
	want(t, backends(cloud), "map[]")
}

func TestABrokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud.json")
	for text, expected := range map[string]string{
		"{\n  x":               "line 2, column 3: ",
		"":                     "line 1, column 0: ",
		"null":                 "line 1, column 1: ",
		`{"lb-1": {"spec":1}}`: "line 1, column 18: ",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openCloud(file, nil); err == nil || !strings.Contains(err.Error(), file+": "+expected) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	c, _ := start(t, "", 0)
	pod := func(ip string) object {
		return object{"metadata": object{"name": "web"}, "status": object{"podIP": ip}}
	}
	service := object{"spec": object{"ports": []object{
		{"port": 80, "protocol": "UDP", "nodePort": 30000}, {"port": 80, "nodePort": 30080},
	}}}
	nodeAddresses := []object{{"type": "Hostname", "address": "n"}, {"type": "ExternalIP", "address": "5.5.5.5"}, {"type": "InternalIP", "address": "10.0.0.9"}}
	for _, it := range []struct {
		request  object
		expected string
	}{
		{object{"podBackend": object{"pod": pod("10.0.0.1"), "port": object{"port": 0, "portNumber": 80}}}, "10.0.0.1:80"},
		{object{"podBackend": object{"pod": pod("fd00:0::7"), "port": object{"port": 80, "protocol": "tcp"}}}, "[fd00::7]:80"},
		{object{"podBackend": object{"pod": pod(""), "port": object{"port": 80}}}, "pod web has no IP yet"},
		{object{"podBackend": object{"pod": pod("10.0.0.1"), "port": object{"port": 80, "protocol": "UDP"}}}, "the load balancer's protocol is TCP"},
		{object{"podBackend": object{"pod": pod("10.0.0.1"), "port": object{}}}, "port: 0: not a number from 1 to 65535"},
		{object{"serviceBackend": object{"service": service, "port": object{"port": 80}, "nodeAddresses": nodeAddresses}}, "10.0.0.9:30080"},
		{object{"serviceBackend": object{"service": service, "port": object{"port": 81}, "nodeAddresses": nodeAddresses}}, "has no node port for 81/TCP"},
		{object{"endpointBackend": object{"address": "10.0.0.2", "port": 8080}}, "10.0.0.2:8080"},
		{object{"endpointBackend": object{"address": "db.example.com", "port": 8080}}, "not an IP"},
		{object{"podBackend": nil}, "is required"},
	} {
		if got := c.call("generateBackendAddr", it.request); !strings.Contains(got, it.expected) {
			t.Errorf("got %s\nwant %s", got, it.expected)
		}
	}
}

func TestAPodStaysRegisteredIfItsAnnotationSaysSo(t *testing.T) {
	c, _ := start(t, "", 0)
	pods := []object{
		{"metadata": object{"name": "a", "namespace": "n", "annotations": object{keepRegistered: "true"}}},
		{"metadata": object{"name": "b", "namespace": "n", "annotations": object{keepRegistered: "false"}}},
	}
	want(t, c.call("judgePodDeregister", object{"notReadyPods": pods}),
		`{"succ":true,"doNotDeregister":[{"metadata":{"name":"a","namespace":"n"}}]}`)
}
