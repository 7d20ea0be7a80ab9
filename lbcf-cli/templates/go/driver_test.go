// Tests of the driver with the cloud in memory: the rules of its fields, and what is in the cloud after each call.
// FILL-IN: your fields and values; keep the rest.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/__NAME__/lbcf"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // calls fail in these tests
	os.Exit(m.Run())
}

type client struct {
	*testing.T
	url string
}

func start(t *testing.T, file string, drain time.Duration) (client, *cloud) {
	c, err := openCloud(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(lbcf.NewHandler(driver{c, drain}, http.NewServeMux()))
	t.Cleanup(web.Close)
	return client{t, web.URL}, c
}

type object = map[string]any

// call returns the response as text.
func (c client) call(webhook string, request object) string {
	c.Helper()
	if request = maps.Clone(request); request["recordID"] == nil {
		request["recordID"] = webhook + "(1)"
	}
	body, _ := json.Marshal(request)
	response, err := http.Post(c.url+"/"+webhook, "application/json", bytes.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return strings.TrimSpace(string(text))
}

func (c client) succeeds(webhook string, request object) {
	c.Helper()
	if got := c.call(webhook, request); got != `{"status":"Succ"}` {
		c.Error(webhook, got)
	}
}

func (c client) create() (lbInfo object) {
	c.Helper()
	var response struct{ LBInfo object }
	text := c.call("createLoadBalancer", object{"lbSpec": object{"lbVpcID": "vpc-1", "lbListenerPort": "80"}})
	if err := json.Unmarshal([]byte(text), &response); err != nil || response.LBInfo["lbID"] == "" {
		c.Fatal(text)
	}
	return response.LBInfo
}

// backends are those of the only load balancer.
func backends(c *cloud) string {
	for _, lb := range c.LoadBalancers() {
		return fmt.Sprint(lb.Backends)
	}
	return "no load balancer"
}

func want(t testing.TB, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("got %s\nwant %s", got, expected)
	}
}

func TestFields(t *testing.T) {
	c, _ := start(t, "", 0)
	lb := func(key, value string) object {
		spec := object{"lbVpcID": "vpc-1", "lbListenerPort": "80"}
		attributes := object{}
		if strings.HasPrefix(key, "lb") {
			spec[key] = value
		} else {
			attributes[key] = value
		}
		return object{"operation": "Create", "lbSpec": spec, "attributes": attributes}
	}
	valid := `{"succ":true}`
	for _, field := range [][3]string{
		{"lbVpcID", "", `lbSpec.lbVpcID: "": not the ID of a network`},
		{"lbListenerPort", "65536", `lbSpec.lbListenerPort: "65536": not a number from 1 to 65535`},
		{"lbListenerPort", "0080", ""}, {"lbListenerPort", "+1", ""}, {"lbListenerPort", "1e3", ""}, {"lbListenerPort", "", ""},
		{"lbListenerProtocol", "udp", valid},
		{"lbListenerProtocol", "SCTP", `lbSpec.lbListenerProtocol: "SCTP": not TCP or UDP`},
		{"lbListenerProtcol", "TCP", `lbSpec.lbListenerProtcol: "TCP": unknown; allowed: lbVpcID, lbListenerPort, lbListenerProtocol`},
		{"chargeType", "FREE", ""}, {"chargeType", "BANDWIDTH_POSTPAID_BY_HOUR", valid},
		{"max-bandwidth-out", "much", ""}, {"max-bandwidth-out", "4294967295", valid}, {"max-bandwidth-out", "-1", ""},
		{"other", "is stored", valid},
	} {
		refusal, _ := json.Marshal(object{"msg": field[2], "succ": false})
		got := c.call("validateLoadBalancer", lb(field[0], field[1]))
		if field[2] == valid && got != valid || field[2] == "" && !strings.Contains(got, `"succ":false`) {
			t.Error(field, got)
		} else if field[2] != valid && field[2] != "" {
			want(t, got, string(refusal))
		}
	}
	for weight, expected := range map[string]string{
		"0": valid, "255": valid, "256": `{"msg":"parameters.weight: \"256\": not a number from 0 to 255","succ":false}`,
	} {
		parameters := object{"operation": "Create", "backendType": "Pod", "parameters": object{"weight": weight}}
		want(t, c.call("validateBackend", parameters), expected)
	}
}

func TestBackends(t *testing.T) {
	c, cloud := start(t, "", 0)
	lbInfo := c.create()
	for _, addr := range []string{"not an address", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:080", "0.0.0.0:80", "[FD00::7]:80", "[fe80::1%eth0]:80"} {
		if got := c.call("ensureBackend", object{"lbInfo": lbInfo, "backendAddr": addr}); !strings.Contains(got, "InvalidArgument") {
			t.Error(addr, got)
		}
	}
	backend := object{"lbInfo": lbInfo, "backendAddr": "[fd00::7]:80", "parameters": object{"weight": "50"}}
	c.succeeds("ensureBackend", backend)
	want(t, backends(cloud), "map[[fd00::7]:80:{50 ensureBackend(1)}]")
	c.succeeds("ensureBackend", object{"lbInfo": lbInfo, "backendAddr": "[fd00::7]:80", "dryRun": true})
	want(t, backends(cloud), "map[[fd00::7]:80:{50 ensureBackend(1)}]")
	c.succeeds("ensureBackend", object{"lbInfo": lbInfo, "backendAddr": "[fd00::7]:80"}) // without a weight
	want(t, backends(cloud), "map[[fd00::7]:80:{10 ensureBackend(1)}]")
	want(t, c.call("listBackends", object{"lbInfo": lbInfo}),
		`{"status":"Succ","backends":[{"backendAddr":"[fd00::7]:80","parameters":{"weight":"10"},"recordID":"ensureBackend(1)"}]}`)
	c.succeeds("deregisterBackend", backend)
	c.succeeds("deregisterBackend", backend)
	want(t, c.call("listBackends", object{"lbInfo": lbInfo}), `{"status":"Succ","backends":[]}`)
}

func TestADeregisteredBackendDrainsAndCanBeRegisteredMeanwhile(t *testing.T) {
	c, cloud := start(t, "", time.Hour)
	backend := object{"lbInfo": c.create(), "backendAddr": "10.0.0.1:80"}
	c.succeeds("deregisterBackend", backend) // not registered
	c.succeeds("ensureBackend", backend)
	now := time.Now().UTC()
	backend["firstRequestedAt"] = now.Format(time.RFC3339Nano)
	for range 2 {
		if got := c.call("deregisterBackend", backend); !strings.Contains(got, `"status":"Running"`) {
			t.Fatal(got)
		}
		want(t, backends(cloud), "map[10.0.0.1:80:{0 ensureBackend(1)}]")
	}
	c.succeeds("ensureBackend", backend)
	want(t, backends(cloud), "map[10.0.0.1:80:{10 ensureBackend(1)}]")
	backend["firstRequestedAt"] = now.Add(-2 * time.Hour).Format(time.RFC3339)
	c.succeeds("deregisterBackend", backend)
	want(t, backends(cloud), "map[]")
}
