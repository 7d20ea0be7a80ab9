package lbcf

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestErrorsBecomeResponses(t *testing.T) {
	_, _, url := start(t, time.Minute)
	call := `{"recordID": "r", "retryID": "1"}`
	_, response := post(t, url+"/deregisterBackend", call)
	want(t, response, `{"msg":"a defect of the driver, which its log describes","reason":"Internal","status":"Fail"}`)
	_, response = post(t, url+"/listBackends", call)
	want(t, response, `{"backends":[],"status":"Succ"}`)
	want(t, Reason(fmt.Errorf("wrapped: %w", Failf(Throttled, "slowly"))), Throttled)
}

func TestBodies(t *testing.T) {
	_, _, url := start(t, time.Minute)
	for body, expected := range map[string]string{
		`{"oldParameters": {"a": "1"}, "OldParameters": {"b": "2"}}`:      `200 {"msg":"map[a:1]","succ":true}`,
		`{"OldParameters": {"b": "2"}, "oldparameters": 1, "later": [2]}`: `200 {"msg":"map[b:2]","succ":true}`,
		`{"oldParameters": null}`:                                         `200 {"msg":"map[]","succ":true}`,
		`{"oldParameters": {"a": null}}`:                                  `400 {"error":"oldParameters.a: null: not a string"}`,
		`{"oldParameters": []}`:                                           `400 {"error":"oldParameters: array has the wrong type"}`,
		`null`:                                                            `400 {"error":"the body is not a JSON object: null"}`,
		`{} {}`:                                                           `400 {"error":"the body is not a JSON object: invalid character '{' after top-level value"}`,
		strings.Repeat(`{"a":`, 1<<16):                                    `400 {"error":"the body is not a JSON object: invalid character '{' exceeded max depth"}`,
		strings.Repeat(" ", 10<<20):                                       `413 {"error":"the body has more than 4194304 bytes"}`,
	} {
		status, response := post(t, url+"/validateBackend", body)
		want(t, fmt.Sprint(status, " ", response), expected)
	}
	status, response := post(t, url+"/listBackends", "{}")
	want(t, fmt.Sprint(status, " ", response), `400 {"error":"recordID: is required"}`)
}

func TestPathsAndMethods(t *testing.T) {
	_, _, url := start(t, time.Minute)
	for path, expected := range map[string]int{
		"GET /validateBackend": 405, "POST /validateBackend": 400, "POST /validateBackend/": 404, "POST //validateBackend": 404,
		"POST /": 404, "POST /x": 404, "GET /livez/../livez": 404, "PUT /healthz": 405,
	} {
		method, path, _ := strings.Cut(path, " ")
		request, _ := http.NewRequest(method, url+path, nil)
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != expected || expected == 405 && response.Header.Get("Allow") == "" {
			t.Errorf("%s %s: %s, %v", method, path, response.Status, response.Header)
		}
	}
}

func TestTokensAndDraining(t *testing.T) {
	for recordID, token := range map[string]string{"create(a(b))": "a(b)", "create()": "create()", "a": "a", "a(b)c": "a(b)c"} {
		want(t, Token(recordID), token)
	}
	if Draining(time.Time{}, time.Hour) != nil || Draining(time.Now().Add(-time.Hour), time.Minute) != nil {
		t.Error("drains without firstRequestedAt, or too long")
	}
	if err := Draining(time.Now(), time.Minute); err == nil || failed(err).Status != Running {
		t.Errorf("got %v", err)
	}
}
