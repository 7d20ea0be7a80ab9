// A template for LBCF drivers with Go's standard library: replace cloud.go with your cloud's client
// library.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	// A request contains a whole pod, which Kubernetes limits to about 1.5 MiB.
	bodyLimit = 4 << 20
	// The bytes that are read and discarded before the connection is closed: a caller whose connection
	// closes while it writes may never read the response.
	drainLimit = 16 << 20
)

// refusal is the JSON response to an invalid call.
type refusal struct {
	Error string `json:"error"`
}

// routes returns a handler for each path. It is a map and not a ServeMux, which redirects some paths:
// clients repeat a redirected POST as a GET.
func routes(c *cloud) map[string]http.HandlerFunc {
	d := driver{c}
	return map[string]http.HandlerFunc{
		"/healthz":              healthz,
		"/validateLoadBalancer": webhook(d.validateLoadBalancer),
		"/createLoadBalancer":   webhook(d.createLoadBalancer),
		"/ensureLoadBalancer":   webhook(d.ensureLoadBalancer),
		"/deleteLoadBalancer":   webhook(d.deleteLoadBalancer),
		"/validateBackend":      webhook(d.validateBackend),
		"/generateBackendAddr":  webhook(d.generateBackendAddr),
		"/ensureBackend":        webhook(d.ensureBackend),
		"/deregisterBackend":    webhook(d.deregisterBackend),
		"/_observe":             observe(c),
		"/_observe/foreign":     webhook(c.plant),
	}
}

// healthz responds to probes, which send GET, and accepts any body.
func healthz(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		notAllowed(w, "GET, POST")
		return
	}
	write(w, http.StatusOK, health{Healthy: true})
}

// webhook returns a handler that decodes a call and encodes its response. The status is 200 also for a
// failure, whose msg is shown to the user.
func webhook[Call any](answer func(Call) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			notAllowed(w, "POST")
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
		if err != nil {
			write(w, http.StatusBadRequest, refusal{"the body could not be read: " + err.Error()})
			return
		}
		if len(body) > bodyLimit {
			_, _ = io.CopyN(io.Discard, r.Body, drainLimit)
			w.Header().Set("Connection", "close")
			problem := fmt.Sprintf("the body is larger than %d bytes", bodyLimit)
			write(w, http.StatusRequestEntityTooLarge, refusal{problem})
			return
		}
		var call Call
		if err := unmarshalObject(body, &call); err != nil {
			write(w, http.StatusBadRequest, refusal{err.Error()})
			return
		}
		write(w, http.StatusOK, answer(call))
	}
}

func notAllowed(w http.ResponseWriter, methods string) {
	w.Header().Set("Allow", methods)
	write(w, http.StatusMethodNotAllowed, refusal{"this takes " + methods})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails if the caller has disconnected, which then retries
}

func main() {
	host := flag.String("host", "127.0.0.1", "the address to listen on")
	port := flag.Int("port", 8080, "the port to listen on; 0 takes a free one")
	flag.Parse()
	if err := serve(net.JoinHostPort(*host, strconv.Itoa(*port))); err != nil {
		log.Fatal(err)
	}
}

func serve(address string) error {
	handlers := routes(newCloud())
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler, found := handlers[r.URL.Path]
			if !found {
				write(w, http.StatusNotFound, refusal{"there is no such webhook"})
				return
			}
			handler(w, r)
		}),
		ReadTimeout: 10 * time.Second, // limits slow requests
		// Longer than the idle timeout of callers, so that no call uses a connection that is being closed.
		IdleTimeout: 75 * time.Second,
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("listening on %s\n", listener.Addr())

	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	context.AfterFunc(stop, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
