// Every rule of LBCF's specification, checked by its conformance kit with the fixture conformance.yaml.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestConformance(t *testing.T) {
	lbcf := os.Getenv("LBCF")
	if lbcf == "" {
		lbcf = "lbcf"
	}
	if _, err := exec.LookPath(lbcf); err != nil {
		t.Skip("SKIPPED: the conformance kit, as `lbcf` is neither on the PATH nor named by the variable LBCF")
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "driver")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	command := fmt.Sprintf("exec '%s' --listen 127.0.0.1:{port} --cloud-file '%s/cloud.json' --observe", program, folder)
	report, err := exec.Command(lbcf, "conformance", "run", "--quiet", "--exec", command).CombinedOutput()
	t.Logf("%s", report)
	if err != nil {
		t.Fatal(err)
	}
}
