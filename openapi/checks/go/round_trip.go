// Reads each body with the generated types, and writes it: round_trip <BODIES >WRITTEN
package main

import (
	"encoding/json"
	"log"
	"os"
)

type body struct {
	Schema string          `json:"schema"`
	Of     string          `json:"of"`
	Body   json.RawMessage `json:"body"`
}

func again[T any](text []byte) ([]byte, error) {
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return json.Marshal(&value)
}

func main() {
	var bodies []body
	if err := json.NewDecoder(os.Stdin).Decode(&bodies); err != nil {
		log.Fatal(err)
	}
	written := []json.RawMessage{}
	for _, body := range bodies {
		text, err := types[body.Schema](body.Body)
		if err != nil {
			log.Fatalf("%s, %s: %v", body.Schema, body.Of, err)
		}
		written = append(written, text)
	}
	if err := json.NewEncoder(os.Stdout).Encode(written); err != nil {
		log.Fatal(err)
	}
}
