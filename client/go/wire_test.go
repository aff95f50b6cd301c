// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The oracle of the codec is the protobuf library: questions are copied into messages by the names
// of their fields, and the bytes of both must be equal.

// goName is the name of the Go field of a field of a message.
func goName(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts {
		switch part {
		case "id", "ax", "ay", "bx", "by", "dx", "dy", "vx", "vy":
			parts[i] = strings.ToUpper(part)
		default:
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

var numbers = []float64{0, math.Copysign(0, -1), 1, -1.5, math.Pi, 1 << 53, math.Inf(1), math.NaN(), 5e-324}

// fill gives each field of a struct of questions a random value, and each column n values.
func fill(random *rand.Rand, q reflect.Value, n int) {
	for i := 0; i < q.NumField(); i++ {
		member := q.Field(i)
		if random.Intn(8) == 0 && member.Kind() != reflect.Slice && member.Kind() != reflect.Struct {
			continue
		}
		switch value := member.Addr().Interface().(type) {
		case *[]float64:
			for len(*value) < n {
				*value = append(*value, numbers[random.Intn(len(numbers))]*float64(1+random.Intn(3)))
			}
		case *[]uint64:
			for len(*value) < n {
				*value = append(*value, random.Uint64()>>random.Intn(64))
			}
		case *[]uint32:
			for len(*value) < n {
				*value = append(*value, random.Uint32()>>random.Intn(32))
			}
		case *[]Shape:
			*value = append(*value, PolygonShape(randomPolygon(random)))
			if q.Type() != reflect.TypeOf(PolygonOverlaps{}) {
				*value = append(*value, CapsuleShape(1, 2, 0, 4, random.Float64()), Point())
			}
		case *PlacedShapes:
			fill(random, member, n)
		case *float64:
			*value = numbers[random.Intn(len(numbers))]
		case *uint64:
			*value = random.Uint64() >> random.Intn(64)
		case *uint32:
			*value = random.Uint32() >> random.Intn(32)
		case *bool:
			*value = random.Intn(2) == 0
		default: // an enumeration
			member.SetInt(int64(random.Intn(7) - 1))
		}
	}
}

func randomPolygon(random *rand.Rand) Polygon {
	made := Polygon{ID: random.Uint64() >> random.Intn(64), FillRule: FillRule(random.Intn(3)),
		Solidity: Solidity(random.Intn(3)), Category: uint64(random.Intn(3)), Hidden: random.Intn(5) == 0}
	for i := random.Intn(3); i >= 0; i-- {
		ring := Ring{Open: random.Intn(3) == 0}
		for j := random.Intn(5); j > 0; j-- {
			ring.X, ring.Y = append(ring.X, random.NormFloat64()), append(ring.Y, numbers[random.Intn(5)])
		}
		made.Rings = append(made.Rings, ring)
	}
	if random.Intn(2) == 0 {
		made.UserData = []byte("data")
	}
	return made
}

func message(t testing.TB, data []byte, into proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// copyInto copies a struct of questions into its message.
func copyInto(t testing.TB, q reflect.Value, m protoreflect.Message) {
	t.Helper()
	all := m.Descriptor().Fields()
	for i := 0; i < all.Len(); i++ {
		field := all.Get(i)
		if field.Name() == "floats" {
			continue
		}
		member := q.FieldByName(goName(string(field.Name())))
		if !member.IsValid() {
			t.Fatalf("%v has no field %s", q.Type(), goName(string(field.Name())))
		}
		switch value := member.Interface().(type) {
		case []Shape:
			list := m.Mutable(field).List()
			for _, shape := range value {
				var made caromv1.Shape
				message(t, shape.data, &made)
				if field.Message().Name() == "Polygon" {
					list.Append(protoreflect.ValueOfMessage(made.GetPolygon().ProtoReflect()))
				} else {
					list.Append(protoreflect.ValueOfMessage(made.ProtoReflect()))
				}
			}
		case []float64, []uint64, []uint32:
			for j := 0; j < member.Len(); j++ {
				m.Mutable(field).List().Append(protoreflect.ValueOf(member.Index(j).Interface()))
			}
		case PlacedShapes:
			copyInto(t, member, m.Mutable(field).Message())
		case float64, uint32, bool:
			m.Set(field, protoreflect.ValueOf(value))
		case uint64:
			if value != 0 {
				m.Set(field, protoreflect.ValueOf(value))
			}
		default:
			m.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(member.Int())))
		}
	}
}

// frames makes a random frame, and its message.
func frames(t testing.TB, random *rand.Rand) (*Frame, *caromv1.Frame) {
	made := &Frame{Seq: random.Uint64() >> random.Intn(64), Budget: time.Duration(random.Intn(1000)) * time.Microsecond,
		Coherence: Coherence(random.Intn(3)), Supersede: random.Intn(2) == 0}
	wanted := &caromv1.Frame{Seq: made.Seq, BudgetUs: uint64(made.Budget.Microseconds()),
		Coherence: caromv1.Coherence(made.Coherence), Supersede: made.Supersede}
	for i := random.Intn(3); i > 0; i-- {
		made.RemoveTrackers(uint32(i), 1<<20)
		wanted.RemovedTrackers = append(wanted.RemovedTrackers, uint32(i), 1<<20)
		defined, message := made.DefineTrackers(), new(caromv1.TrackerDefinitions)
		fill(random, reflect.ValueOf(defined).Elem(), random.Intn(4))
		if len(defined.Shape) != len(defined.Tracker) {
			defined.Tracker = nil
		}
		if len(defined.Tracker) == 0 {
			defined.Tracker = nil
		}
		if defined.Len() != len(defined.Tracker) {
			defined.Shape, defined.Tracker = nil, nil
		}
		copyInto(t, reflect.ValueOf(*defined), message.ProtoReflect())
		wanted.Trackers = append(wanted.Trackers, message)
	}
	for i := random.Intn(4); i > 0; i-- {
		wanted.Groups = append(wanted.Groups, addGroup(t, random, made))
	}
	return made, wanted
}

var sceneNames = []string{"scenes/one", "scenes/two", "scenes/three", "scenes/four", "no scene"}

func addGroup(t testing.TB, random *rand.Rand, frame *Frame) *caromv1.Group {
	scene := sceneNames[random.Intn(len(sceneNames))]
	group := frame.Group(scene)
	group.MinVersion, group.Version = uint64(random.Intn(2)), uint64(random.Intn(200))
	made := &caromv1.Group{Target: &caromv1.Group_Scene{Scene: scene}, MinVersion: group.MinVersion, Version: group.Version}
	if random.Intn(2) == 0 {
		group.Edits.ID, group.Edits.BaseVersion = "id", 7
		polygon := randomPolygon(random)
		group.Edits.Add(polygon)
		group.Edits.Replace(polygon)
		group.Edits.Remove(uint64(random.Intn(2)))
		var w writer
		polygon.put(&w)
		var message1, message2 caromv1.Polygon
		message(t, w.bytes(), &message1)
		message(t, w.bytes(), &message2)
		made.Edits = &caromv1.GroupEdits{EditId: "id", BaseVersion: 7, Edits: []*caromv1.Edit{
			{Edit: &caromv1.Edit_Add{Add: &message1}}, {Edit: &caromv1.Edit_Replace{Replace: &message2}},
			{Edit: &caromv1.Edit_Remove{Remove: group.Edits.list[2].id}}}}
	}
	if random.Intn(3) == 0 {
		set, tick := uint32(random.Intn(2)), uint64(random.Intn(300))
		group.AskBodySet(set)
		group.AskVersionAtTick(tick)
		group.BodyRotation = BodyRotationLinear
		made.BodySet, made.VersionAtTick, made.BodySetRotation = &set, &tick, caromv1.BodyRotation_BODY_ROTATION_LINEAR
	}
	questions := reflect.ValueOf(&group.Questions).Elem()
	for i := 0; i < questions.NumField(); i++ {
		if random.Intn(3) != 0 {
			continue
		}
		member := questions.Field(i)
		fill(random, member, 1+random.Intn(5))
		if slides, ok := member.Addr().Interface().(*Slides); ok {
			slides.Pushes = nil
		}
		field := made.ProtoReflect().Descriptor().Fields().Get(0)
		for j := 0; j < made.ProtoReflect().Descriptor().Fields().Len(); j++ {
			if each := made.ProtoReflect().Descriptor().Fields().Get(j); goName(string(each.Name())) == questions.Type().Field(i).Name {
				field = each
			}
		}
		copyInto(t, member, made.ProtoReflect().Mutable(field).Message())
	}
	if random.Intn(2) == 0 {
		n := 1 + random.Intn(3)
		fill(random, reflect.ValueOf(&group.Bodies.Placed).Elem(), n)
		group.Bodies.Owner = make([]uint32, n)
		made.Bodies = new(caromv1.Bodies)
		made.Bodies.Placed, made.Bodies.Owner = new(caromv1.PlacedShapes), make([]uint32, n)
		copyInto(t, reflect.ValueOf(group.Bodies.Placed), made.Bodies.Placed.ProtoReflect())
	}
	return made
}

// randomNaming makes the handles of a stream that has answered frames, and the handles and bindings of
// the message of the next frame. full: there are no further handles.
func randomNaming(random *rand.Rand, message *caromv1.Frame) (made *naming, full bool) {
	made = &naming{confirmed: map[string]uint64{}, chosen: map[string]uint64{}}
	full = random.Intn(4) == 0
	for i := 0; i < mostBindings && full; i++ {
		made.chosen[fmt.Sprintf("scenes/s%d", i)] = uint64(i + 1)
	}
	for _, scene := range sceneNames[:random.Intn(3)] { // those of answered frames, and of frames without answers
		handle := uint64(len(made.chosen) + 1)
		if made.chosen[scene] = handle; random.Intn(2) == 0 {
			made.confirmed[scene] = handle
		}
	}
	bound := map[string]uint64{}
	next := uint64(len(made.chosen))
	for _, group := range message.Groups {
		scene := group.GetScene()
		handle, known := made.chosen[scene]
		if !known {
			handle, known = bound[scene]
		}
		if !known && !full && scene != "no scene" {
			next++
			handle, known = next, true
		}
		if !known {
			continue // the group has the name of its scene
		}
		if _, confirmed := made.confirmed[scene]; !confirmed && bound[scene] == 0 {
			bound[scene] = handle
			message.Bindings = append(message.Bindings, &caromv1.SceneBinding{Handle: handle, Scene: scene})
		}
		group.Target = &caromv1.Group_SceneHandle{SceneHandle: handle}
	}
	return made, full
}

func checkFrame(t *testing.T, seed int64) {
	random := rand.New(rand.NewSource(seed))
	made, wanted := frames(t, random)
	checkBytes(t, seed, made, nil, wanted)
	// The same frame on a stream, where scenes have handles.
	naming, full := randomNaming(random, wanted)
	handles := len(naming.chosen)
	questions := checkBytes(t, seed, made, naming, wanted)
	if full && len(naming.chosen) != handles {
		t.Fatalf("seed %d: %d handles", seed, len(naming.chosen))
	}
	var bound []binding
	for _, each := range wanted.Bindings {
		bound = append(bound, binding{each.Scene, each.Handle})
	}
	if !reflect.DeepEqual(naming.bound, bound) {
		t.Fatalf("seed %d: the frame binds %v, not %v", seed, naming.bound, bound)
	}
	for i, group := range made.groups[:made.used] {
		if asked := &questions.groups[i]; asked.scene != group.Scene || asked.counts != group.count() || len(asked.edits) != group.Edits.Len() {
			t.Fatalf("seed %d: group %d is asked as %+v", seed, i, asked)
		}
	}
}

func checkBytes(t *testing.T, seed int64, made *Frame, naming *naming, wanted *caromv1.Frame) *asked {
	t.Helper()
	var w writer
	questions := new(asked)
	if err := made.encode(&w, naming, questions); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	data := marshal(t, &caromv1.StreamRequest{Frame: wanted})
	if !bytes.Equal(data, w.bytes()) {
		at := 0
		for at < min(len(data), len(w.bytes())) && data[at] == w.bytes()[at] {
			at++
		}
		t.Fatalf("seed %d: the frame differs from what proto.Marshal writes at byte %d of %d:\n%x\n%x", seed, at, len(data),
			w.bytes()[at:], data[at:])
	}
	return questions
}

func TestFramesHaveTheBytesOfProtobuf(t *testing.T) {
	seeds := int64(2000)
	if testing.Short() {
		seeds = 100
	}
	for seed := int64(0); seed < seeds; seed++ {
		checkFrame(t, seed)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(checkFrame)
}
