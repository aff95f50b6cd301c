// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Ten questions about a square with a hole and a triangle, with cgo: go run ten_questions.go
package main

// #cgo LDFLAGS: -lcarom
// #include <carom/carom.h>
import "C"
import (
	"fmt"
	"log"
	"math"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

var (
	pin     runtime.Pinner // of what C reads by pointers in structs
	answers *C.carom_answers
	world   = C.carom_world{struct_size: C.sizeof_carom_world}
	status  = C.carom_status{struct_size: C.sizeof_carom_status}
)

func f64(values ...C.double) C.carom_f64_column {
	pin.Pin(&values[0])
	return C.carom_f64_column{data: &values[0], length: C.size_t(len(values))}
}

func u32(values ...C.uint32_t) C.carom_u32_column {
	pin.Pin(&values[0])
	return C.carom_u32_column{data: &values[0], length: C.size_t(len(values))}
}

func check(code C.uint32_t) {
	if code != C.CAROM_OK {
		log.Fatal(C.GoString(&status.message[0]))
	}
}

// batch makes a batch of a question and sets its struct_size, which is the first member.
func batch[Question any](kind C.uint32_t, question Question) C.carom_batch {
	pin.Pin(&question)
	*(*C.uint32_t)(unsafe.Pointer(&question)) = C.uint32_t(unsafe.Sizeof(question))
	return C.carom_batch{kind: kind, question: unsafe.Pointer(&question)}
}

func ask(group ...C.carom_batch) C.uint32_t {
	return C.carom_evaluate(&world, &group[0], C.size_t(len(group)), answers, &status)
}

func read[Answers any](kind C.uint32_t) (out Answers) {
	*(*C.uint32_t)(unsafe.Pointer(&out)) = C.uint32_t(unsafe.Sizeof(out))
	check(C.carom_answers_read(answers, kind, unsafe.Pointer(&out), &status))
	return out
}

// show prints columns of any type.
func show(label string, columns ...any) {
	texts := make([]string, len(columns))
	for i, column := range columns {
		c := reflect.ValueOf(column) // its fields are data, length and stride
		element, data := c.Field(0).Type().Elem(), c.Field(0).UnsafePointer()
		for k := range c.Field(1).Uint() {
			at := unsafe.Add(data, k*c.Field(2).Uint()*uint64(element.Size()))
			value := reflect.NewAt(element, at).Elem().Convert(reflect.TypeFor[float64]())
			texts[i] += fmt.Sprintf(" %.17g", value.Float())
		}
	}
	fmt.Println(label + strings.Join(texts, ","))
}

func main() {
	drawn := C.carom_polygons{struct_size: C.sizeof_carom_polygons,
		ring_count: u32(2, 1), ring_size: u32(4, 4, 3),
		x: f64(0, 4, 4, 0, 1, 3, 3, 1, 6, 9, 6), y: f64(0, 0, 4, 4, 1, 1, 3, 3, 0, 0, 3)}
	disc := C.carom_capsules{struct_size: C.sizeof_carom_capsules,
		ax: f64(0), ay: f64(0), bx: f64(0), by: f64(0), radius: f64(0.5)}
	var set *C.carom_polygon_set
	var shapes *C.carom_shapes
	check(C.carom_polygon_set_create(&drawn, nil, &set, &status))
	defer C.carom_polygon_set_destroy(set)
	check(C.carom_shapes_create(nil, &disc, &shapes, &status))
	defer C.carom_shapes_destroy(shapes)
	var scene *C.carom_scene
	check(C.carom_scene_create(set, 1, nil, &scene, &status))
	defer C.carom_scene_destroy(scene)
	check(C.carom_answers_create(nil, &answers, &status))
	defer C.carom_answers_destroy(answers)
	world.scene = scene

	segment := C.carom_segments{ax: f64(9), ay: f64(3), bx: f64(6), by: f64(1)}
	check(ask(batch(C.CAROM_KIND_SEGMENTS, segment)))
	hits := read[C.carom_cast_answers](C.CAROM_KIND_SEGMENTS)
	show("1 segment:", hits.polygon_id, hits.fraction, hits.normal_x, hits.normal_y)
	group := []C.carom_batch{
		batch(C.CAROM_KIND_SEGMENTS, C.carom_segments{mode: C.CAROM_CAST_MODE_ALL_PASSAGES,
			ax: f64(-1), ay: f64(2), bx: f64(10), by: f64(2)}),
		batch(C.CAROM_KIND_RAYS, C.carom_rays{x: f64(2), y: f64(2), dx: f64(3), dy: f64(1)}),
		batch(C.CAROM_KIND_POINTS, C.carom_points{
			x: f64(0.5, 2, 4, 5), y: f64(0.5, 2, 2, C.double(math.NaN()))}),
		batch(C.CAROM_KIND_CIRCLES, C.carom_circles{x: f64(5), y: f64(2), radius: f64(1)}),
		batch(C.CAROM_KIND_SIGHTS, C.carom_sights{
			ax: f64(5, 5), ay: f64(5, 2), bx: f64(5, 2), by: f64(0, 2)}),
		batch(C.CAROM_KIND_FANS, C.carom_fans{x: f64(5), y: f64(2), angle: f64(-1), step: f64(0.5),
			_range: f64(10), beams: u32(5)}),
		batch(C.CAROM_KIND_SWEEPS, C.carom_sweeps{to_x: f64(7), to_y: f64(0),
			movers: C.carom_placed{shapes: shapes, x: f64(7), y: f64(6)}}),
	}
	check(ask(group...))
	hits = read[C.carom_cast_answers](C.CAROM_KIND_SEGMENTS)
	show("2 passages:", hits.polygon_id, hits.fraction)
	show("3 ray:", read[C.carom_cast_answers](C.CAROM_KIND_RAYS).fraction)
	points := read[C.carom_locate_answers](C.CAROM_KIND_POINTS)
	show("4 points:", points.counts, points.location)
	show("5 disc:", read[C.carom_overlap_answers](C.CAROM_KIND_CIRCLES).touching)
	show("6 sight:", read[C.carom_sight_answers](C.CAROM_KIND_SIGHTS).visible)
	show("7 fan:", read[C.carom_fan_answers](C.CAROM_KIND_FANS).distances)
	show("8 sweep:", read[C.carom_sweep_answers](C.CAROM_KIND_SWEEPS).fraction)
	segment.bx.length = 0
	code := ask(batch(C.CAROM_KIND_SEGMENTS, segment))
	fmt.Printf("9 error: %s %s: %s\n", C.GoString(C.carom_code_name(code)),
		C.GoString(&status.field[0]), C.GoString(&status.message[0]))
	check(ask(group...))
	points = read[C.carom_locate_answers](C.CAROM_KIND_POINTS)
	fmt.Printf("10 item %d: %s %s\ndigest %016x\n", *points.error_index.data,
		C.GoString(C.carom_item_column_name(C.uint32_t(*points.error_column.data))),
		C.GoString(C.carom_item_fault_description(C.uint32_t(*points.error_fault.data))),
		C.carom_answers_digest(answers))
}
