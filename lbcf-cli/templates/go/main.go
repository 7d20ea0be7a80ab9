// An LBCF driver: starts the server. `--help` lists the flags.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.com/__NAME__/lbcf"
)

type options struct {
	listen    string
	cloudFile string
	forward   bool
	observe   bool
	drain     uint
}

func main() {
	if err := run(readOptions(os.Args[1:])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// readOptions reads variables, then flags, which take precedence. It exits on wrong ones.
func readOptions(args []string) (o options) {
	flags := flag.NewFlagSet("__NAME__", flag.ExitOnError)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:__PORT__", "`HOST:PORT` to listen on; port 0 takes a free one [variable LISTEN]")
	flags.StringVar(&o.cloudFile, "cloud-file", "", "keep the load balancers in this `FILE` [variable CLOUD_FILE]")
	flags.BoolVar(&o.forward, "forward", false, "listen on 127.0.0.1 at the port of each load balancer, and forward connections to its backends [variable FORWARD]")
	flags.BoolVar(&o.observe, "observe", false, "show what is in the cloud at /_observe, and allow to change it there, for the conformance kit [variable OBSERVE]")
	flags.UintVar(&o.drain, "drain", 0, "`SECONDS` for which a deregistered backend finishes its connections [variable DRAIN]")
	fail := func(format string, args ...any) {
		fmt.Fprintf(flags.Output(), format+"\n", args...)
		os.Exit(2)
	}
	flags.VisitAll(func(f *flag.Flag) {
		variable := strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value := os.Getenv(variable); value != "" {
			if err := f.Value.Set(value); err != nil {
				fail("invalid value %q of the variable %s: %v", value, variable, err)
			}
		}
	})
	_ = flags.Parse(args) // exits on errors
	if flags.NArg() > 0 {
		fail("unexpected argument %q; --help lists the flags", flags.Arg(0))
	}
	return o
}

// run serves until SIGTERM or SIGINT, and answers calls in flight first. A second signal ends the process at once.
func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var forwarding *proxy
	if o.forward {
		var err error
		if forwarding, err = newProxy(); err != nil {
			return fmt.Errorf("--forward: %w", err)
		}
		defer forwarding.Close()
	}
	cloud, err := openCloud(o.cloudFile, forwarding)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	if o.observe {
		observe(mux, cloud)
	}
	server := &http.Server{
		Handler:     lbcf.NewHandler(driver{cloud, time.Duration(o.drain) * time.Second}, mux),
		ReadTimeout: 30 * time.Second, // of a whole request
		// Longer than the controller keeps a connection, so that it makes no call on one that is being closed.
		IdleTimeout: 2 * time.Minute,
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.listen, err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
