// A driver with net/http and encoding/json, for comparison in the load benchmark (load.rs): it decodes the
// same bodies and sends the same responses as the handler written by hand.
//
//	go build -o /tmp/go-driver . && /tmp/go-driver 127.0.0.1:8080
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
)

const maxBody = 4 << 20

type ensureBackendRequest struct {
	RecordID     string            `json:"recordID"`
	RetryID      string            `json:"retryID"`
	DryRun       bool              `json:"dryRun"`
	LbInfo       map[string]string `json:"lbInfo"`
	BackendAddr  string            `json:"backendAddr"`
	Parameters   map[string]string `json:"parameters"`
	InjectedInfo map[string]string `json:"injectedInfo"`
}

type ensureBackendResponse struct {
	Status       string            `json:"status"`
	Msg          string            `json:"msg"`
	InjectedInfo map[string]string `json:"injectedInfo"`
}

type generateBackendAddrRequest struct {
	RecordID     string            `json:"recordID"`
	RetryID      string            `json:"retryID"`
	LbInfo       map[string]string `json:"lbInfo"`
	LbAttributes map[string]string `json:"lbAttributes"`
	Parameters   map[string]string `json:"parameters"`
	PodBackend   *struct {
		Pod struct {
			Status struct {
				PodIP string `json:"podIP"`
			} `json:"status"`
		} `json:"pod"`
		Port struct {
			PortNumber int32  `json:"portNumber"`
			Protocol   string `json:"protocol"`
		} `json:"port"`
	} `json:"podBackend"`
}

type generateBackendAddrResponse struct {
	Status      string `json:"status"`
	Msg         string `json:"msg"`
	BackendAddr string `json:"backendAddr"`
}

func handle[Q any, A any](hook func(Q) A) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var request Q
		if err := json.Unmarshal(body, &request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response, err := json.Marshal(hook(request))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(response)
	}
}

func main() {
	http.HandleFunc("POST /ensureBackend", handle(func(ensureBackendRequest) ensureBackendResponse {
		return ensureBackendResponse{Status: "Succ"}
	}))
	http.HandleFunc("POST /generateBackendAddr", handle(func(r generateBackendAddrRequest) generateBackendAddrResponse {
		if r.PodBackend == nil {
			return generateBackendAddrResponse{Status: "Fail", Msg: "only pods are supported"}
		}
		port := strconv.Itoa(int(r.PodBackend.Port.PortNumber))
		return generateBackendAddrResponse{Status: "Succ", BackendAddr: r.PodBackend.Pod.Status.PodIP + ":" + port}
	}))
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
