package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// printExamples prints three objects of each kind, one a line: empty, with everything set to zero values, and with everything
// set to other values.
func printExamples(scheme *runtime.Scheme, kinds map[schema.GroupVersionKind]reflect.Type) {
	encoder := protobuf.NewSerializer(scheme, scheme)
	for kind, t := range kinds {
		for _, filler := range []*filler{nil, {isZero: true}, {}} {
			value := reflect.New(t)
			object := value.Interface().(runtime.Object)
			if filler != nil {
				filler.fill(value.Elem(), 0)
			}
			object.GetObjectKind().SetGroupVersionKind(kind)
			var encoded bytes.Buffer
			utilruntime.Must(encoder.Encode(object, &encoded))
			text, err := json.Marshal(object)
			utilruntime.Must(err)
			fmt.Printf("[%q,%s]\n", base64.StdEncoding.EncodeToString(encoded.Bytes()), text)
		}
	}
}

// filler sets all that can be nil; other values only if they are not to be zero.
type filler struct {
	isZero bool
	filled int64
}

// Deeper values stay nil: schemas contain schemas.
const maxDepth = 14

func (f *filler) fill(value reflect.Value, depth int) {
	f.filled++
	if depth > maxDepth || !f.isZero && f.special(value) {
		return
	}
	t := value.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		value.Set(reflect.New(t.Elem()))
		f.fill(value.Elem(), depth+1)
		if text, _ := json.Marshal(value.Interface()); string(text) == "null" {
			// Such as a zero time, which JSON does not distinguish from none.
			value.SetZero()
		}
	case t.Kind() == reflect.Slice:
		value.Set(reflect.MakeSlice(t, 1, 1))
		f.fill(value.Index(0), depth+1)
	case t.Kind() == reflect.Map:
		item := reflect.New(t.Elem()).Elem()
		f.fill(item, depth+1)
		value.Set(reflect.MakeMap(t))
		value.SetMapIndex(reflect.ValueOf("key").Convert(t.Key()), item)
	case t.Kind() == reflect.Struct:
		for i := range value.NumField() {
			tag := t.Field(i).Tag
			if tag.Get("protobuf") != "" && tag.Get("json") != "-" {
				f.fill(value.Field(i), depth+1)
			}
		}
	case f.isZero:
	case t.Kind() == reflect.Bool:
		value.SetBool(true)
	case t.Kind() == reflect.String:
		value.SetString(fmt.Sprint("text ", f.filled))
	case value.CanInt():
		value.SetInt(f.filled%7 - 3)
	case value.CanUint():
		value.SetUint(uint64(f.filled % 256))
	case value.CanFloat():
		value.SetFloat(float64(f.filled) / 2)
	}
}

// special sets a value whose fields cannot be set one by one.
func (f *filler) special(value reflect.Value) bool {
	moment := time.Unix(1_700_000_000+f.filled, 123_456_789).UTC()
	switch to := value.Addr().Interface().(type) {
	case *metav1.Time:
		to.Time = moment.Truncate(time.Second)
	case *metav1.MicroTime:
		to.Time = moment
	case *resource.Quantity:
		*to = *resource.NewMilliQuantity(f.filled, resource.DecimalSI)
	case *intstr.IntOrString:
		*to = intstr.FromInt32(-1)
		if f.filled%2 == 0 {
			*to = intstr.FromString("25%")
		}
	default:
		raw := reflect.Indirect(value)
		if raw.Kind() != reflect.Struct || !raw.FieldByName("Raw").IsValid() {
			return false
		}
		raw.FieldByName("Raw").SetBytes([]byte(`{"a":[1,null]}`))
	}
	return true
}
