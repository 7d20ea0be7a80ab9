package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	manageroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
)

// parse sets a component's options as its command line would.
func parse(options cliflag.NamedFlagSets, arguments ...string) error {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range options.FlagSets {
		flags.AddFlagSet(set)
	}
	return flags.Parse(arguments)
}

func runAPIServer(ctx context.Context, a *access, etcd string, controllers bool) error {
	options := apiserveroptions.NewServerRunOptions()
	options.SecureServing.Listener = a.listener
	options.SecureServing.BindPort = a.listener.Addr().(*net.TCPAddr).Port
	disabled := ""
	if !controllers {
		disabled = "ServiceAccount"
	}
	err := parse(options.Flags(),
		"--disable-admission-plugins="+disabled,
		"--etcd-servers=http://"+etcd,
		"--cert-dir="+a.folder,
		"--bind-address=127.0.0.1",
		// A Service may not have loopback addresses; nothing listens at this one, which is reserved for documents.
		"--advertise-address=192.0.2.1",
		"--token-auth-file="+a.tokens(),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+a.signingKey(),
		"--service-account-signing-key-file="+a.signingKey(),
		"--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112",
	)
	if err != nil {
		return err
	}
	if err := options.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	completed, err := options.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return errors.Join(errs...)
	}
	return apiserver.Run(ctx, completed)
}

// runControllerManager starts after the API server, which has set the features of both.
func runControllerManager(ctx context.Context, a *access) error {
	kubeconfig, err := a.kubeconfig(a.manager)
	if err != nil {
		return err
	}
	file := filepath.Join(a.folder, "controller-manager.kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		return err
	}
	options, err := manageroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	all, disabled, aliases := manager.KnownControllers(), manager.ControllersDisabledByDefault(), manager.ControllerAliases()
	flags := options.Flags(all, disabled, aliases)
	options.ParsedFlags = &flags
	err = parse(flags,
		"--kubeconfig="+file,
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file="+a.signingKey(),
		"--root-ca-file="+a.certificate(),
	)
	if err != nil {
		return err
	}
	config, err := options.Config(ctx, all, disabled, aliases)
	if err != nil {
		return err
	}
	return manager.Run(ctx, config.Complete())
}
