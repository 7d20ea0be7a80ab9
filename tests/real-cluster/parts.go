package main

import (
	"context"
	"fmt"
	"time"
)

// parts are the goroutines of the cluster's components.
type parts struct {
	fail context.CancelCauseFunc
}

// startingIn returns a context that ends with its parent or when a part fails, with the part's error as the cause.
func startingIn(parent context.Context) (parts, context.Context) {
	ctx, fail := context.WithCancelCause(parent)
	return parts{fail}, ctx
}

func (p parts) start(name string, run func() error) {
	go func() {
		if err := run(); err != nil {
			p.fail(fmt.Errorf("%s: %w", name, err))
		}
	}()
}

// wait returns when done says so, or the cause when ctx ends.
func (p parts) wait(ctx context.Context, done func(context.Context) bool) error {
	for !done(ctx) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
