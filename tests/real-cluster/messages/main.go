// The program messages prints the fields of all protobuf messages that a client can send to lbcf local-cluster: its file
// src/messages.json. With the argument "examples" it prints encoded objects instead, each with its JSON.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// letters are the types that are neither scalars nor messages in JSON.
var letters = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():        "t",
	reflect.TypeFor[metav1.MicroTime]():   "u",
	reflect.TypeFor[resource.Quantity]():  "q",
	reflect.TypeFor[intstr.IntOrString](): "o",
}

func main() {
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme.Scheme))
	utilruntime.Must(apiregistrationv1.AddToScheme(scheme.Scheme))
	kinds := scheme.Scheme.AllKnownTypes()
	own := reflect.TypeFor[metav1.ObjectMeta]().PkgPath()
	maps.DeleteFunc(kinds, func(kind schema.GroupVersionKind, t reflect.Type) bool {
		isStable := kind.Version == "v1" || kind.Version == "v2"
		return !isStable || t.PkgPath() == own || strings.HasSuffix(kind.Kind, "List")
	})
	if len(os.Args) > 1 && os.Args[1] == "examples" {
		printExamples(scheme.Scheme, kinds)
		return
	}
	found := messages{fields: map[string]map[string]fields{}, sections: map[string]string{own: "meta.k8s.io/v1"}}
	for kind, t := range kinds {
		found.sections[t.PkgPath()] = kind.GroupVersion().String()
	}
	for _, t := range kinds {
		found.add("", t)
	}
	found.add("", reflect.TypeFor[metav1.DeleteOptions]())
	found.add("", reflect.TypeFor[runtime.TypeMeta]())
	found.print()
}

// fields are names and forms by number, see fields.rs of local-cluster.
type fields map[int][2]string

type messages struct {
	fields map[string]map[string]fields
	// By Go package: the API version or the package's name.
	sections map[string]string
}

// add adds a message with all that it refers to and returns the reference to it from a section.
func (m messages) add(from string, t reflect.Type) string {
	section, isVersion := m.sections[t.PkgPath()]
	if !isVersion {
		section = path.Base(t.PkgPath())
	}
	if m.fields[section] == nil {
		m.fields[section] = map[string]fields{}
	}
	if _, known := m.fields[section][t.Name()]; !known {
		own := fields{}
		m.fields[section][t.Name()] = own
		if t.Kind() == reflect.Slice {
			own[1] = [2]string{"items", "[]" + m.form(section, t.Elem())}
		} else {
			m.addFields(own, section, t)
		}
	}
	if section == from {
		return t.Name()
	}
	return section + "." + t.Name()
}

func (m messages) addFields(own fields, section string, t reflect.Type) {
	for field := range t.Fields() {
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue
		}
		number, err := strconv.Atoi(tag[1])
		utilruntime.Must(err)
		form := m.form(section, field.Type)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		isPlain := !strings.ContainsAny(form[:1], "*[{")
		isStruct := field.Type.Kind() == reflect.Struct
		switch {
		case isUnion(t):
			name = field.Name
			if form == "b" {
				form = "!b"
			} else if form == "y" {
				form = "*r"
			}
		case strings.Contains(options, "inline"):
			name, form = "", "^"+form
		case isPlain && isStruct && !strings.Contains(options, "omitzero"):
			form = "!" + form
		case !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"):
			form = "!" + form
		}
		own[number] = [2]string{name, form}
	}
}

// isUnion: a message, or a list with its own message, that is one of its fields in JSON.
func isUnion(t reflect.Type) bool {
	isMessage := reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ Marshal() ([]byte, error) }]())
	return isMessage && (t.Kind() == reflect.Slice || t.Implements(reflect.TypeFor[json.Marshaler]()))
}

func (m messages) form(section string, t reflect.Type) string {
	if letter := letters[t]; letter != "" {
		return letter
	}
	if isUnion(t) {
		return "|" + m.add(section, t)
	}
	switch t.Kind() {
	case reflect.String:
		return "s"
	case reflect.Int32, reflect.Int64:
		return "i"
	case reflect.Bool:
		return "b"
	case reflect.Float64:
		return "f"
	case reflect.Pointer:
		return "*" + m.form(section, t.Elem())
	case reflect.Map:
		return "{}" + m.form(section, t.Elem())
	case reflect.Struct:
		return m.add(section, t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		return "[]" + m.form(section, t.Elem())
	}
	panic("no form for " + t.String())
}

// print writes JSON with a message a line.
func (m messages) print() {
	var sections []string
	for _, section := range slices.Sorted(maps.Keys(m.fields)) {
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(m.fields[section])) {
			line, err := json.Marshal(m.fields[section][name])
			utilruntime.Must(err)
			lines = append(lines, fmt.Sprintf("%q:%s", name, line))
		}
		sections = append(sections, fmt.Sprintf("%q: {\n%s\n}", section, strings.Join(lines, ",\n")))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(sections, ",\n"))
}
