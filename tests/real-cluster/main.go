// Command real-cluster runs Kubernetes' own API server, controller manager and etcd in one process, for tests, and leaves
// nothing behind. Its README.md says how to start it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/klog/v2"
)

type settings struct {
	kubeconfig, data  string
	nodes             int
	controllers, logs bool
}

func main() {
	var given settings
	flags := flag.NewFlagSet("real-cluster", flag.ContinueOnError)
	flags.StringVar(&given.kubeconfig, "kubeconfig", "", "`file` for the kubeconfig, complete when the cluster is ready, removed at the end (default: stdout)")
	flags.StringVar(&given.data, "data", "", "`folder` that survives the end, in which a later start finds the cluster as it was (default: a temporary one)")
	flags.IntVar(&given.nodes, "nodes", 0, "`number` of simulated nodes, which run all pods; 0 for tests that are the kubelet themselves")
	flags.BoolVar(&given.controllers, "controllers", true, "run the controller manager; without it, pods need no ServiceAccount")
	flags.BoolVar(&given.logs, "logs", false, "print the logs of Kubernetes' components on stderr")
	err := flags.Parse(os.Args[1:])
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(os.Stderr, "real-cluster:", err)
	}
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, given); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "real-cluster:", err)
		os.Exit(1)
	}
}

// run returns when ctx ends or when a part of the cluster fails, with the reason.
func run(ctx context.Context, given settings) error {
	if !given.logs {
		silence()
	}
	folder := given.data
	if folder == "" {
		temporary, err := os.MkdirTemp("", "real-cluster-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		folder = temporary
	} else if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	parts, ctx := startingIn(ctx)

	etcd, err := startEtcd(filepath.Join(folder, "etcd"))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	// Not Close, which waits until the API server has closed its connections.
	defer etcd.Server.HardStop()
	access, err := newAccess(folder)
	if err != nil {
		return err
	}
	parts.start("API server", func() error { return runAPIServer(ctx, access, etcd.Clients[0].Addr().String(), given.controllers) })
	if err := parts.wait(ctx, access.isReady); err != nil {
		return err
	}
	if given.controllers {
		parts.start("controller manager", func() error { return runControllerManager(ctx, access) })
	}
	if given.nodes > 0 {
		parts.start("nodes", func() error { return runNodes(ctx, access, given.nodes) })
	}
	if given.controllers {
		if err := parts.wait(ctx, access.admitsPods); err != nil {
			return err
		}
	}
	if given.kubeconfig != "" {
		defer os.Remove(given.kubeconfig)
	}
	if err := access.writeKubeconfig(given.kubeconfig); err != nil {
		return err
	}
	return parts.wait(ctx, func(context.Context) bool { return false })
}

// silence discards all logs: a healthy start has errors, too.
func silence() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		_ = flags.Set(name, value)
	}
	klog.SetOutput(io.Discard)
}
