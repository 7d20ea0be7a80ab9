// An LBCF driver with Go's standard library, to be copied: put your cloud's client library in the place of
// cloud.go.
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
	// A whole pod has to fit, and Kubernetes' own limit is about 1.5 MiB.
	bodyLimit = 4 << 20
	// How much is read, and thrown away, before the caller is hung up on: one that is hung up on while
	// it writes may never see the answer.
	drainLimit = 16 << 20
)

// refusal is the answer to a call that is none: JSON, so that people can read what is wrong.
type refusal struct {
	Error string `json:"error"`
}

// routes gives a handler for each path. It is a map, not a ServeMux, which answers some paths with a
// redirect: that makes a POST a GET.
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

// healthz answers probes, which send GET, and bodies of any kind.
func healthz(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		notAllowed(w, "GET, POST")
		return
	}
	write(w, http.StatusOK, health{Healthy: true})
}

// webhook makes a handler of a function from a call to its answer. Only the status 200 is an answer, also
// when the answer is a failure: its msg reaches the user.
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
	_ = json.NewEncoder(w).Encode(body) // it fails where the caller has gone, who calls again
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
		ReadTimeout: 10 * time.Second, // a call that takes its time to arrive is given up
		// Longer than callers leave connections idle, or a call could meet one that is about to be closed.
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
