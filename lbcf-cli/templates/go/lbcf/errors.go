package lbcf

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// What a driver returns when an operation is not done.

// Reasons of a Fail, by which the controller decides how to go on.
const (
	InvalidArgument  = "InvalidArgument" // only a change of the user's object helps
	NotFound         = "NotFound"        // the load balancer does not exist: it is created again
	QuotaExceeded    = "QuotaExceeded"
	Throttled        = "Throttled" // all calls of the driver wait for the delay
	Conflict         = "Conflict"  // somebody else has the name, the port or the lock
	Unavailable      = "Unavailable"
	PermissionDenied = "PermissionDenied"
	Internal         = "Internal"
)

// OperationError is an error with what the controller reads beside the message.
type OperationError struct {
	Status Status // Fail or Running
	Reason string
	Delay  time.Duration // until the next call; 0 leaves it to the controller
	Msg    string
}

func (e *OperationError) Error() string { return e.Msg }

// Failf returns an error whose message users read: it names the field, its value and what is allowed.
func Failf(reason, format string, args ...any) error {
	return &OperationError{Status: Fail, Reason: reason, Msg: fmt.Sprintf(format, args...)}
}

// Runningf returns the error that means "not yet": the controller calls again after the delay.
func Runningf(delay time.Duration, format string, args ...any) error {
	return &OperationError{Status: Running, Delay: delay, Msg: fmt.Sprintf(format, args...)}
}

// Reason returns the reason of a Fail, which is Internal for errors that are not of Failf.
func Reason(err error) string {
	return failed(err).Reason
}

// Draining returns an error of Runningf until this time has passed since firstRequestedAt, so that clients of the
// backend can finish. The controller repeats firstRequestedAt, so a restart of the driver loses nothing; LBCF's first
// edition does not send it, and does not wait.
func Draining(firstRequestedAt time.Time, drain time.Duration) error {
	if end := firstRequestedAt.Add(drain); !firstRequestedAt.IsZero() && time.Now().Before(end) {
		return Runningf(time.Second, "draining until %s", end.Format(time.RFC3339))
	}
	return nil
}

// failed returns the response of an operation that returned this error: all of them have these members.
func failed(err error) DeregisterBackendResponse {
	operation := &OperationError{Status: Fail, Reason: Internal}
	errors.As(err, &operation)
	return DeregisterBackendResponse{
		Status:                 operation.Status,
		Msg:                    err.Error(),
		Reason:                 operation.Reason,
		MinRetryDelayInSeconds: int32(math.Ceil(operation.Delay.Seconds())),
	}
}
