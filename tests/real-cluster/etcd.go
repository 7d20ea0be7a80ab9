package main

import (
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd serves a store on a free loopback port. It survives nothing, so it never waits for the disk.
func startEtcd(folder string) (*embed.Etcd, error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = folder
	config.LogLevel = "panic"
	config.UnsafeNoFsync = true
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(time.Minute):
		err = fmt.Errorf("not ready after a minute")
	}
	etcd.Close()
	return nil, err
}
