package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// driver implements the webhooks. It stores nothing between calls: the controller sends lbInfo and
// backendAddr with each call, and the cloud stores the rest. It never returns an earlier result for a
// recordID, because settings change under the same one. It changes only the backend of the call.
type driver struct{ cloud *cloud }

func (d driver) validateLoadBalancer(call validateLoadBalancer) any {
	old, set := call.OldAttributes["charge"]
	wanted, given := call.Attributes["charge"]
	if call.Operation == "Update" && set && given && wanted != old {
		return refused(fmt.Errorf("attributes.charge: cannot be changed from %q to %q", old, wanted))
	}
	return refused(cmp.Or(checkOperation(call.Operation), checkLoadBalancer(call.LBSpec, call.Attributes)))
}

func (d driver) createLoadBalancer(call createLoadBalancer) any {
	if call.RecordID == "" {
		return failed(errors.New("recordID: missing; without it a repeated call would create twice"))
	}
	if err := checkLoadBalancer(call.LBSpec, call.Attributes); err != nil {
		return failed(err)
	}
	// The recordID serves as client token: a call that is repeated because its response
	// was lost finds what the first one created, also if both run concurrently.
	id, err := d.cloud.create(call.RecordID, call.LBSpec, call.Attributes, call.DryRun)
	if err != nil {
		return failed(err)
	}
	return answer{Status: "Succ", LBInfo: map[string]string{"lbID": id}}
}

func (d driver) ensureLoadBalancer(call loadBalancerOperation) any {
	if err := checkAttributes(call.Attributes); err != nil {
		return failed(err)
	}
	return outcome(d.cloud.setAttributes(call.LBInfo["lbID"], call.Attributes, call.DryRun))
}

func (d driver) deleteLoadBalancer(call loadBalancerOperation) any {
	id, known := call.LBInfo["lbID"]
	var err error
	if !known {
		// The controller never received an identity. If the response was lost, the load balancer
		// exists nevertheless, and this is the last chance to delete it.
		id, err = d.cloud.findByToken(tokenOfCreation(call.RecordID))
	}
	if err == nil {
		err = d.cloud.delete(id, call.DryRun)
	}
	return outcome(unlessGone(err))
}

func (d driver) validateBackend(call validateBackend) any {
	var err error
	switch call.BackendType {
	case "Pod", "Service", "Static":
	default:
		err = fmt.Errorf("backendType: %q: not Pod, Service or Static", call.BackendType)
	}
	return refused(cmp.Or(err, checkOperation(call.Operation), checkParameters(call.Parameters)))
}

func (d driver) generateBackendAddr(call generateBackendAddr) any {
	var address string
	var err error
	switch {
	case call.PodBackend != nil && call.ServiceBackend == nil:
		address, err = addressOfPod(call.PodBackend)
	case call.PodBackend == nil && call.ServiceBackend != nil:
		address, err = addressOfService(call.ServiceBackend)
	default:
		err = errors.New("either podBackend or serviceBackend is needed")
	}
	if err != nil {
		return failed(err)
	}
	return answer{Status: "Succ", BackendAddr: address}
}

func (d driver) ensureBackend(call backendOperation) any {
	if !usable.MatchString(call.BackendAddr) {
		return failed(fmt.Errorf("backendAddr: %q: not HOST:PORT/PROTOCOL", call.BackendAddr))
	}
	if err := checkParameters(call.Parameters); err != nil {
		return failed(err)
	}
	// No injectedInfo: the address identifies the backend, so nothing else has to be stored.
	return outcome(d.cloud.bind(call.LBInfo["lbID"], call.BackendAddr, call.Parameters, call.DryRun))
}

func (d driver) deregisterBackend(call backendOperation) any {
	return outcome(unlessGone(d.cloud.unbind(call.LBInfo["lbID"], call.BackendAddr, call.DryRun)))
}

// unlessGone ignores the error of a load balancer that does not exist: it is already deleted with all its
// backends, and after a Fail the controller would retry indefinitely.
func unlessGone(err error) error {
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

// tokenOfCreation returns the recordID of the creation of the object that is being deleted, if recordIDs
// have their usual form. With another form no load balancer has this token, and nothing is deleted.
func tokenOfCreation(recordID string) string {
	object, usual := strings.CutPrefix(recordID, "deleteLoadBalancer(")
	if !usual {
		return ""
	}
	return "createLoadBalancer(" + object
}

// The rules of the fields. The same rules apply in the validations and in the operations themselves: objects
// can reach the controller without having been validated.

func checkLoadBalancer(spec, attributes map[string]string) error {
	if vpc := spec["vpc"]; !strings.HasPrefix(vpc, "vpc-") {
		return fmt.Errorf("lbSpec.vpc: %q: must name a network, as in \"vpc-1\"", vpc)
	}
	if err := checkNumber("lbSpec.port", spec, "port", 1, 65535); err != nil {
		return err
	}
	return checkAttributes(attributes)
}

func checkAttributes(attributes map[string]string) error {
	return checkNumber("attributes.bandwidth", attributes, "bandwidth", 1, 999999999)
}

func checkParameters(parameters map[string]string) error {
	return checkNumber("parameters.weight", parameters, "weight", 0, 100)
}

func checkOperation(operation string) error {
	if operation != "Create" && operation != "Update" {
		return fmt.Errorf("operation: %q: not Create or Update", operation)
	}
	return nil
}

// digits is needed because strconv also accepts "+1".
var digits = regexp.MustCompile(`^[0-9]{1,9}$`)

// checkNumber checks an optional field.
func checkNumber(field string, values map[string]string, name string, least, most int) error {
	text, given := values[name]
	if !given {
		return nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || !digits.MatchString(text) || number < least || number > most {
		return fmt.Errorf("%s: %q: not a whole number from %d to %d", field, text, least, most)
	}
	return nil
}

func refused(err error) verdict {
	if err != nil {
		return verdict{Msg: err.Error()}
	}
	return verdict{Succ: true}
}
