package lbcf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a driver whose operations on backends wait until the test lets them go on.
type fake struct {
	Driver
	mutex    sync.Mutex
	began    []string // the weight of each operation
	begins   chan struct{}
	proceeds chan error
}

func (f *fake) EnsureBackend(_ context.Context, r EnsureBackendRequest) (EnsureBackendResponse, error) {
	f.mutex.Lock()
	f.began = append(f.began, r.Parameters["weight"])
	f.mutex.Unlock()
	f.begins <- struct{}{}
	return EnsureBackendResponse{Status: Succ}, <-f.proceeds
}

func (f *fake) ValidateBackend(_ context.Context, r ValidateBackendRequest) (ValidateBackendResponse, error) {
	return ValidateBackendResponse{Succ: true, Msg: fmt.Sprint(r.OldParameters)}, nil
}

func (f *fake) ListBackends(context.Context, ListBackendsRequest) (ListBackendsResponse, error) {
	return ListBackendsResponse{Status: Succ}, nil
}

func (f *fake) DeregisterBackend(context.Context, DeregisterBackendRequest) (DeregisterBackendResponse, error) {
	panic("a defect")
}

func start(t *testing.T, deadline time.Duration) (*fake, *server, string) {
	f := &fake{begins: make(chan struct{}), proceeds: make(chan error)}
	s := newServer(f)
	s.deadline = deadline
	web := httptest.NewServer(newHandler(s, http.NewServeMux()))
	t.Cleanup(web.Close)
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			s.mutex.Lock()
			left := len(s.latest)
			s.mutex.Unlock()
			if left == 0 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d operations are left", left)
			}
		}
	})
	return f, s, web.URL
}

// post returns the status and the body of a response.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	response, err := http.Post(url, "application/json; charset=utf-8", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var object map[string]any
	if err := json.NewDecoder(response.Body).Decode(&object); err != nil {
		object = map[string]any{"error": err.Error()}
	}
	text, _ := json.Marshal(object)
	return response.StatusCode, string(text)
}

var retries int

// ensure calls with another retryID each time, and sends the response.
func ensure(t *testing.T, url, addr, weight string) chan string {
	retries++
	responses, retryID := make(chan string, 1), retries
	go func() {
		_, response := post(t, url+"/ensureBackend", fmt.Sprintf(
			`{"recordID": "r", "retryID": "%d", "backendAddr": %q, "parameters": {"weight": %q}}`, retryID, addr, weight))
		responses <- response
	}()
	return responses
}

func want(t *testing.T, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("got %s\nwant %s", got, expected)
	}
}

const succ = `{"status":"Succ"}`

const running = `{"minRetryDelayInSeconds":1,"msg":"still working on it after 50ms","status":"Running"}`

func TestARepeatedCallJoinsAlsoWhenTheFirstCallerHasGone(t *testing.T) {
	f, _, url := start(t, 50*time.Millisecond)
	gone, hangUp := context.WithCancel(context.Background())
	body := `{"recordID": "r", "retryID": "0", "backendAddr": "a", "parameters": {"weight": "1"}}`
	request, _ := http.NewRequestWithContext(gone, http.MethodPost, url+"/ensureBackend", strings.NewReader(body))
	go http.DefaultClient.Do(request)
	<-f.begins
	hangUp()
	// They joined: another operation would have begun, and be waited for.
	want(t, <-ensure(t, url, "a", "1"), running)
	want(t, <-ensure(t, url, "a", "1"), running)
	f.proceeds <- nil
	want(t, <-ensure(t, url, "a", "1"), succ)
	want(t, fmt.Sprint(f.began), "[1]")
}

func TestOtherContentWaitsAndOtherAddressesDoNot(t *testing.T) {
	f, _, url := start(t, 50*time.Millisecond)
	first := ensure(t, url, "a", "1")
	<-f.begins
	want(t, <-first, running)
	want(t, <-ensure(t, url, "a", "2"), running)
	// Joining the first would leave the weight 2, although 1 was requested last.
	want(t, <-ensure(t, url, "a", "1"), running)
	other := ensure(t, url, "b", "3")
	<-f.begins
	want(t, <-other, running)
	f.proceeds <- nil
	f.proceeds <- nil
	for range 2 {
		<-f.begins
		f.proceeds <- nil
	}
	want(t, <-ensure(t, url, "a", "1"), succ)
	want(t, <-ensure(t, url, "b", "3"), succ)
	want(t, fmt.Sprint(f.began), "[1 3 2 1]")
}

func TestALongOperationIsRunningAndTheNextCallGetsItsResult(t *testing.T) {
	f, s, url := start(t, 50*time.Millisecond)
	first := ensure(t, url, "a", "1")
	<-f.begins
	want(t, <-first, running)
	f.proceeds <- Failf(QuotaExceeded, "no room")
	failure := `{"msg":"no room","reason":"QuotaExceeded","status":"Fail"}`
	want(t, <-ensure(t, url, "a", "1"), failure)
	want(t, fmt.Sprint(f.began), "[1]")
	// The result is not kept for a second call, and after retention for none.
	s.mutex.Lock()
	s.retention = 0
	s.mutex.Unlock()
	again := ensure(t, url, "a", "1")
	<-f.begins
	<-again
	f.proceeds <- errors.New("any other error")
}
