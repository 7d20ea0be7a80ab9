package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
)

// access is where the API server listens, and who may do what with it.
type access struct {
	folder   string
	listener net.Listener
	// Bearer tokens of an administrator and of the controller manager.
	admin, manager string
}

// newAccess takes the port, the tokens and the key of an earlier start in this folder, or reserves a free loopback port and
// makes tokens and the key that signs those of ServiceAccounts.
func newAccess(folder string) (*access, error) {
	a := &access{folder: folder}
	if stored, err := os.ReadFile(a.endpoint()); err == nil {
		var address string
		if _, err := fmt.Sscan(string(stored), &address, &a.admin, &a.manager); err != nil {
			return nil, fmt.Errorf("%s: %w", a.endpoint(), err)
		}
		a.listener, err = net.Listen("tcp", address)
		return a, err
	}
	var err error
	if a.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	a.admin, a.manager = rand.Text(), rand.Text()
	tokens := a.admin + ",admin,admin,system:masters\n" + a.manager + ",system:kube-controller-manager,manager\n"
	if err := os.WriteFile(a.tokens(), []byte(tokens), 0o600); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	if err := keyutil.WriteKey(a.signingKey(), text); err != nil {
		return nil, err
	}
	// The last file: with it, all others are there.
	return a, os.WriteFile(a.endpoint(), fmt.Appendln(nil, a.listener.Addr(), a.admin, a.manager), 0o600)
}

func (a *access) endpoint() string   { return filepath.Join(a.folder, "endpoint") }
func (a *access) tokens() string     { return filepath.Join(a.folder, "tokens.csv") }
func (a *access) signingKey() string { return filepath.Join(a.folder, "service-accounts.key") }

// certificate is the API server's, which it writes when it starts; it is its own authority.
func (a *access) certificate() string { return filepath.Join(a.folder, "apiserver.crt") }

func (a *access) config(token string) *rest.Config {
	return &rest.Config{
		Host:            "https://" + a.listener.Addr().String(),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: a.certificate()},
		QPS:             -1,
	}
}

func (a *access) isReady(ctx context.Context) bool {
	client, err := kubernetes.NewForConfig(a.config(a.admin))
	return err == nil && client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// admitsPods: admission refuses them until the controller manager has made the account that they run as.
func (a *access) admitsPods(ctx context.Context) bool {
	client, err := kubernetes.NewForConfig(a.config(a.admin))
	if err != nil {
		return false
	}
	_, err = client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
	return err == nil
}

// kubeconfig returns the content of a kubeconfig for the holder of a token.
func (a *access) kubeconfig(token string) ([]byte, error) {
	certificate, err := os.ReadFile(a.certificate())
	if err != nil {
		return nil, err
	}
	const name = "real-cluster"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: a.config("").Host, CertificateAuthorityData: certificate}
	config.AuthInfos[name] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// writeKubeconfig writes the administrator's to stdout, or in one step to a file.
func (a *access) writeKubeconfig(file string) error {
	text, err := a.kubeconfig(a.admin)
	if err != nil {
		return err
	}
	if file == "" {
		_, err = fmt.Printf("%s", text)
		return err
	}
	unfinished := file + ".new"
	if err := os.WriteFile(unfinished, text, 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, file)
}
