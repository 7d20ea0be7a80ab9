package lbcf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// Reading requests as the specification wants, which encoding/json alone does not: it matches names in any letter case,
// reads null in a map as an empty text, and merges maps that come twice.

const (
	bodyLimit = 4 << 20 // a request contains a whole pod, which may have 1.5 MiB
	// Of larger bodies this much is read and dropped, because a client may read no response while it sends.
	dropLimit = 16 << 20
)

// readObject returns the members of the JSON object in the body, or a status for the problem.
func readObject(r *http.Request) (object map[string]json.RawMessage, status int, err error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
	if err != nil {
		return nil, http.StatusRequestTimeout, fmt.Errorf("the body could not be read: %w", err)
	}
	if len(body) > bodyLimit {
		_, _ = io.CopyN(io.Discard, r.Body, dropLimit)
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", bodyLimit)
	}
	if err = json.Unmarshal(body, &object); err == nil && object == nil {
		err = errors.New("null")
	}
	if err != nil {
		err = fmt.Errorf("the body is not a JSON object: %w", err)
	}
	return object, http.StatusBadRequest, err
}

// decode sets the fields of a struct to the members with exactly their names. Others are ignored, null means empty.
func decode(object map[string]json.RawMessage, into any) error {
	value := reflect.ValueOf(into).Elem()
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		text, found := object[name]
		if !found && name == "oldParameters" {
			text, found = object["OldParameters"] // so written by controllers of LBCF's first edition
		}
		if !found {
			continue
		}
		if err := json.Unmarshal(text, value.Field(i).Addr().Interface()); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				err = errors.New(wrong.Value + " has the wrong type") // the message would name types of Go
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		var texts map[string]*string
		if _, isMap := value.Field(i).Interface().(map[string]string); isMap && json.Unmarshal(text, &texts) == nil {
			for key, text := range texts {
				if text == nil {
					return fmt.Errorf("%s.%s: null: not a string", name, key)
				}
			}
		}
	}
	return nil
}
