// Package suites names the packages whose own tests run against lbcf local-cluster: see docs/foreign-suites.md.
package suites

import (
	_ "sigs.k8s.io/controller-runtime/pkg/cache"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
	_ "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)
