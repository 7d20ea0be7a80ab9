package lbcf

import (
	"context"
	"net/http"
	"path"
)

// The routes: server implements the generated ServerInterface, with a method for each webhook.

// NewHandler serves the webhooks, and /livez and /readyz for probes, besides what mux already serves.
func NewHandler(driver Driver, mux *http.ServeMux) http.Handler {
	return newHandler(newServer(driver), mux)
}

func newHandler(s *server, mux *http.ServeMux) http.Handler {
	HandlerFromMux(s, mux) // does not compile as long as a webhook of the OpenAPI document has no method below
	mux.HandleFunc("GET /livez", s.HealthzByGet)
	mux.HandleFunc("GET /readyz", s.HealthzByGet)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A ServeMux redirects such paths, and clients repeat a redirected POST as a GET.
		if p := r.URL.EscapedPath(); path.Clean(p) != p {
			http.NotFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *server) HealthzByGet(w http.ResponseWriter, r *http.Request) {
	write(w, http.StatusOK, s.driver.Healthz(r.Context()))
}

// Healthz ignores its body, which may be empty.
func (s *server) Healthz(w http.ResponseWriter, r *http.Request) {
	s.HealthzByGet(w, r)
}

func (s *server) ValidateLoadBalancer(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.ValidateLoadBalancer)
}

func (s *server) CreateLoadBalancer(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.CreateLoadBalancer)
}

func (s *server) EnsureLoadBalancer(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.EnsureLoadBalancer)
}

func (s *server) DeleteLoadBalancer(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.DeleteLoadBalancer)
}

func (s *server) ValidateBackend(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.ValidateBackend)
}

func (s *server) GenerateBackendAddr(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.GenerateBackendAddr)
}

func (s *server) EnsureBackend(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.EnsureBackend)
}

func (s *server) DeregisterBackend(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, s.driver.DeregisterBackend)
}

// The responses with lists: the generated types omit an empty list, and write empty texts into pods, which decoders of
// Kubernetes' types refuse.

type verdict struct {
	JudgePodDeregisterResponse
	DoNotDeregister []map[string]map[string]string `json:"doNotDeregister"`
}

func (s *server) JudgePodDeregister(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, func(ctx context.Context, request JudgePodDeregisterRequest) (verdict, error) {
		response, err := s.driver.JudgePodDeregister(ctx, request)
		pods := []map[string]map[string]string{}
		for _, pod := range response.DoNotDeregister {
			names := map[string]string{"namespace": pod.Metadata.Namespace, "name": pod.Metadata.Name}
			pods = append(pods, map[string]map[string]string{"metadata": names})
		}
		return verdict{response, pods}, err
	})
}

type listing struct {
	ListBackendsResponse
	Backends []ListedBackend `json:"backends"`
}

func (s *server) ListBackends(w http.ResponseWriter, r *http.Request) {
	serve(s, w, r, func(ctx context.Context, request ListBackendsRequest) (listing, error) {
		response, err := s.driver.ListBackends(ctx, request)
		return listing{response, append([]ListedBackend{}, response.Backends...)}, err
	})
}
