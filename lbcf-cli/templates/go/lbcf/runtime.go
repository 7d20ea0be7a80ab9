// Package lbcf is what every driver needs: the types of LBCF's webhooks (webhooks.go), a server that calls a Driver by the
// rules of the specification (this file, routes.go, joining.go and decode.go), errors (errors.go) and addresses (address.go).
package lbcf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"runtime/debug"
	"strings"
)

// Driver has a method for each webhook. An error becomes Fail, or Running if it is of Runningf; of a decision it becomes
// succ false. The response beside an error is ignored. The context outlives the connection of the caller: an operation
// continues when its caller has gone, and a repeated call joins it.
type Driver interface {
	Healthz(context.Context) HealthzResponse
	ValidateLoadBalancer(context.Context, ValidateLoadBalancerRequest) (ValidateLoadBalancerResponse, error)
	CreateLoadBalancer(context.Context, CreateLoadBalancerRequest) (CreateLoadBalancerResponse, error)
	EnsureLoadBalancer(context.Context, EnsureLoadBalancerRequest) (EnsureLoadBalancerResponse, error)
	DeleteLoadBalancer(context.Context, DeleteLoadBalancerRequest) (DeleteLoadBalancerResponse, error)
	ValidateBackend(context.Context, ValidateBackendRequest) (ValidateBackendResponse, error)
	GenerateBackendAddr(context.Context, GenerateBackendAddrRequest) (GenerateBackendAddrResponse, error)
	EnsureBackend(context.Context, EnsureBackendRequest) (EnsureBackendResponse, error)
	DeregisterBackend(context.Context, DeregisterBackendRequest) (DeregisterBackendResponse, error)
	JudgePodDeregister(context.Context, JudgePodDeregisterRequest) (JudgePodDeregisterResponse, error)
	ListBackends(context.Context, ListBackendsRequest) (ListBackendsResponse, error)
}

// Token returns the name of the object that an operation is about, which is the same for the creation, the updates and the
// deletion of a load balancer: the text in parentheses of a recordID, or all of it.
func Token(recordID string) string {
	if _, token, found := strings.Cut(recordID, "("); found && len(token) > 1 && strings.HasSuffix(token, ")") {
		return strings.TrimSuffix(token, ")")
	}
	return recordID
}

// call has the members that requests have in common.
type call struct {
	RecordID    string            `json:"recordID"`
	DryRun      bool              `json:"dryRun"`
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	LBInfo      map[string]string `json:"lbInfo"`
	BackendAddr string            `json:"backendAddr"`
}

// serve reads a request, calls the driver's method, and writes the response: with status 200 also if it is a Fail.
func serve[Q, A any](s *server, w http.ResponseWriter, r *http.Request, method func(context.Context, Q) (A, error)) {
	var common call
	var request Q
	webhook := path.Base(r.URL.Path)
	object, status, err := readObject(r)
	if err == nil {
		err = cmp.Or(decode(object, &common), decode(object, &request))
	}
	content := request
	retryID := reflect.ValueOf(&content).Elem().FieldByName("RetryID")
	isOperation := retryID.IsValid()
	if isOperation {
		retryID.SetString("") // another one in each call
		if err == nil && common.RecordID == "" {
			err = errors.New("recordID: is required")
		}
	}
	var response any = Error{fmt.Sprint(err)}
	var outcome any = status // for the log
	if err == nil {
		status = http.StatusOK
		text, _ := json.Marshal(content) // it was JSON before
		key := webhook + string(text)
		response, err = s.run(turn(webhook, key, common), key, func() (any, error) {
			return attempt(context.WithoutCancel(r.Context()), method, request)
		})
		if err != nil && isOperation {
			response, outcome = failed(err), Fail
		} else if err != nil {
			response, outcome = ValidateBackendResponse{Msg: err.Error()}, "refused" // like any decision
		}
	}
	if err != nil && failed(err).Status == Fail {
		slog.Warn("call failed", "webhook", webhook, "object", common.Namespace+"/"+common.Name,
			"record", common.RecordID, "status", outcome, "msg", err)
	}
	write(w, status, response)
}

// attempt calls the method, and turns a panic into an error, so that it fails one call and not the process.
func attempt[Q, A any](ctx context.Context, method func(context.Context, Q) (A, error), request Q) (response A, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			slog.Error("panic", "value", problem, "stack", string(debug.Stack()))
			err = errors.New("a defect of the driver, which its log describes")
		}
	}()
	return method(ctx, request)
}

func write(w http.ResponseWriter, status int, response any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(response) // fails if the caller has gone, who then calls again
}
