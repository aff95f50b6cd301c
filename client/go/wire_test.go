// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"encoding/binary"
	"errors"
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

func addGroup(t testing.TB, random *rand.Rand, frame *Frame) *caromv1.Group {
	group := frame.Group("scenes/one")
	group.MinVersion, group.Version = uint64(random.Intn(2)), uint64(random.Intn(200))
	made := &caromv1.Group{Target: &caromv1.Group_Scene{Scene: "scenes/one"}, MinVersion: group.MinVersion, Version: group.Version}
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

func checkFrame(t *testing.T, seed int64) {
	random := rand.New(rand.NewSource(seed))
	made, wanted := frames(t, random)
	var w writer
	var questions asked
	if err := made.encode(&w, nil, &questions); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	data, err := proto.Marshal(&caromv1.StreamRequest{Frame: wanted})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, w.bytes()) {
		at := 0
		for at < min(len(data), len(w.bytes())) && data[at] == w.bytes()[at] {
			at++
		}
		t.Fatalf("seed %d: the frame differs from what proto.Marshal writes at byte %d of %d:\n%x\n%x", seed, at, len(data),
			w.bytes()[at:], data[at:])
	}
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

// --- Answers ---------------------------------------------------------------------------------------

// A random answer has the columns of its message, with as many entries as the counts say.
func randomAnswer(random *rand.Rand, m protoreflect.Message, items int) {
	all := m.Descriptor().Fields()
	rows, unclear, edges, points := 0, items, 0, 0
	counts := make([]uint32, items)
	isMoves, perItem := m.Descriptor().Name() == "MoveAnswers", items
	clear := make([]uint64, (items+63)/64)
	for i := range counts {
		counts[i] = uint32(random.Intn(3)) << (random.Intn(200) / 199 * 8)
		if isMoves && random.Intn(2) == 0 {
			clear[i/64] |= 1 << (i % 64)
			counts[i] = 0
			unclear--
		}
		rows += int(counts[i])
	}
	small := func(n int, total *int) []uint32 {
		made := make([]uint32, n)
		for i := range made {
			made[i] = uint32(random.Intn(3))
			*total += int(made[i])
		}
		return made
	}
	edgeCounts, pointCounts := small(rows, &edges), small(rows, &points)
	hasEdges := all.ByName("edge_counts") != nil
	optional := random.Intn(2) == 0
	for i := 0; i < all.Len(); i++ {
		field := all.Get(i)
		name, n := string(field.Name()), rows
		set := func(values []uint32) {
			for _, value := range values {
				m.Mutable(field).List().Append(protoreflect.ValueOfUint32(value))
			}
		}
		switch {
		case name == "errors" || name == "truncated" || name == "stuck":
			continue
		case name == "counts":
			for i, count := range counts {
				if !isMoves || clear[i/64]>>(i%64)&1 == 0 {
					set([]uint32{count})
				}
			}
			continue
		case name == "clear":
			for _, word := range clear {
				m.Mutable(field).List().Append(protoreflect.ValueOfUint64(word))
			}
			continue
		case name == "edge_counts":
			set(edgeCounts)
			continue
		case name == "point_counts":
			set(pointCounts)
			continue
		case hasEdges && (name == "ring" || name == "edge"):
			n = edges
		case m.Descriptor().Name() == "ContactAnswers" && (strings.HasPrefix(name, "point_") || strings.HasSuffix(name, "_feature")):
			n = points
		case isMoves && (strings.HasPrefix(name, "first_") || name == "low" || name == "high" || name == "touches"):
			n = unclear
		case strings.HasPrefix(name, "safe_") || name == "quiet_radius" || name == "visible" || name == "finished" || name == "steps":
			n = perItem
		case m.Descriptor().Name() == "DepenetrateAnswers", m.Descriptor().Name() == "SlideAnswers" && (name == "x" || name == "y" || strings.HasPrefix(name, "left_")):
			n = perItem
		case strings.HasPrefix(name, "exit_") || name == "has_exit_edge" || strings.HasPrefix(name, "reflection_") || name == "is_body":
			if !optional {
				continue
			}
		}
		for j := 0; j < n; j++ {
			var value protoreflect.Value
			switch field.Kind() {
			case protoreflect.DoubleKind:
				value = protoreflect.ValueOfFloat64(random.NormFloat64())
			case protoreflect.Fixed64Kind:
				value = protoreflect.ValueOfUint64(random.Uint64() >> random.Intn(64))
			case protoreflect.Uint32Kind:
				value = protoreflect.ValueOfUint32(random.Uint32() >> random.Intn(32))
			case protoreflect.BoolKind:
				value = protoreflect.ValueOfBool(random.Intn(2) == 0)
			default:
				value = protoreflect.ValueOfEnum(protoreflect.EnumNumber(random.Intn(4)))
			}
			m.Mutable(field).List().Append(value)
		}
	}
}

// column returns the entries of a column of a message; the member of a row is found by name.
func column1(m protoreflect.Message, name string) protoreflect.List {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name))).List()
}

// memberNames are the columns whose members have other names, by the struct of the rows.
var memberNames = map[string]map[string]string{
	"Exit":       {"Fraction": "exit_fraction", "HasEdge": "has_exit_edge", "Ring": "exit_ring", "Edge": "exit_edge", "NormalX": "exit_normal_x", "NormalY": "exit_normal_y"},
	"Reflection": {"X": "reflection_x", "Y": "reflection_y"}, "Position": {"X": "safe_x", "Y": "safe_y"},
	"FirstTouch":   {"PolygonID": "first_polygon_id", "HasEdge": "first_has_edge", "Ring": "first_ring", "Edge": "first_edge", "NormalX": "first_normal_x", "NormalY": "first_normal_y"},
	"ContactPoint": {"X": "point_x", "Y": "point_y", "Depth": "point_depth"}, "quiet": {"Radius": "quiet_radius"},
}

// checkRows compares all rows of a kind of answers with the columns of its message.
func checkRows(t *testing.T, answers reflect.Value, m protoreflect.Message) {
	t.Helper()
	for i := 0; i < answers.NumField(); i++ {
		rows := answers.Field(i)
		if rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Struct {
			continue
		}
		kind := rows.Type().Elem()
		for j := 0; j < kind.NumField(); j++ {
			name := memberNames[kind.Name()][kind.Field(j).Name]
			if name == "" {
				all := m.Descriptor().Fields()
				for k := 0; k < all.Len(); k++ {
					if goName(string(all.Get(k).Name())) == kind.Field(j).Name {
						name = string(all.Get(k).Name())
					}
				}
			}
			member := kind.Field(j).Name
			if member == "Edges" || member == "Points" {
				counts := column1(m, map[string]string{"Edges": "edge_counts", "Points": "point_counts"}[member])
				for row := 0; row < rows.Len(); row++ {
					if got := rows.Index(row).Field(j).Len(); got != int(counts.Get(row).Uint()) {
						t.Fatalf("%s: row %d has %d %s", m.Descriptor().Name(), row, got, member)
					}
				}
				continue
			}
			wanted := column1(m, name)
			if wanted.Len() != rows.Len() && wanted.Len() != 0 {
				t.Fatalf("%s.%s: %d entries, %d rows", m.Descriptor().Name(), name, wanted.Len(), rows.Len())
			}
			for row := 0; row < rows.Len(); row++ {
				got := rows.Index(row).Field(j)
				same := wanted.Len() == 0 && got.IsZero()
				if wanted.Len() != 0 {
					switch value := wanted.Get(row).Interface().(type) {
					case float64:
						same = math.Float64bits(got.Float()) == math.Float64bits(value)
					case uint64, uint32:
						same = got.Uint() == wanted.Get(row).Uint()
					case bool:
						same = got.Bool() == value
					case protoreflect.EnumNumber:
						same = got.Int() == int64(value)
					}
				}
				if !same {
					t.Fatalf("%s.%s: row %d is %v", m.Descriptor().Name(), name, row, got)
				}
			}
		}
	}
}

func checkAnswer(t *testing.T, seed int64, into *FrameAnswer) {
	random := rand.New(rand.NewSource(seed))
	var questions asked
	message := &caromv1.FrameAnswer{Seq: 3}
	kinds := reflect.TypeOf(Answers{})
	for g := random.Intn(3); g >= 0; g-- {
		group := &caromv1.GroupAnswer{Version: random.Uint64() >> 20}
		var made askedGroup
		for i := 0; i < kinds.NumField(); i++ {
			if random.Intn(3) != 0 {
				continue
			}
			items := 1 + random.Intn(300)*random.Intn(2)
			made.counts[i] = int32(items)
			all := group.ProtoReflect().Descriptor().Fields()
			for j := 0; j < all.Len(); j++ {
				if goName(string(all.Get(j).Name())) == kinds.Field(i).Name {
					randomAnswer(random, group.ProtoReflect().Mutable(all.Get(j)).Message(), items)
				}
			}
		}
		questions.groups = append(questions.groups, made)
		message.Groups = append(message.Groups, group)
	}
	questions.seq = 3
	data, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	var d decoder
	if err := d.decode(data, &questions, into); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for g := range message.Groups {
		group := into.Group(g)
		if group.Version != message.Groups[g].Version {
			t.Fatal("another version")
		}
		answers := reflect.ValueOf(group.Answers)
		for i := 0; i < kinds.NumField(); i++ {
			if got := int32(answers.Field(i).FieldByName("answers").FieldByName("items").Int()); got != questions.groups[g].counts[i] {
				t.Fatalf("seed %d: %s has %d items", seed, kinds.Field(i).Name, got)
			}
			all := message.Groups[g].ProtoReflect()
			for j := 0; j < all.Descriptor().Fields().Len(); j++ {
				if field := all.Descriptor().Fields().Get(j); goName(string(field.Name())) == kinds.Field(i).Name && all.Has(field) {
					checkRows(t, answers.Field(i), all.Get(field).Message())
				}
			}
		}
	}
	// Bytes that are cut or changed are an error or an answer, and never a panic.
	for i := 0; i < 20 && len(data) > 0; i++ {
		broken := append([]byte(nil), data[:random.Intn(len(data)+1)]...)
		if random.Intn(2) == 0 {
			broken = append([]byte(nil), data...)
			broken[random.Intn(len(broken))] ^= byte(1 << random.Intn(8))
		}
		touchAll(&d, broken, &questions)
	}
}

// touchAll decodes bytes and reads every row.
func touchAll(d *decoder, data []byte, questions *asked) {
	var into FrameAnswer
	if d.decode(data, questions, &into) != nil {
		return
	}
	for g := -1; g <= into.Len(); g++ {
		group := into.Group(g)
		for item := -1; item <= group.Segments.Len(); item++ {
			_, _, _ = group.Segments.Hits(item), group.Segments.Exits(item), group.Segments.Err(item)
		}
		for item := -1; item <= group.Moves.Len(); item++ {
			for _, touched := range group.Moves.Polygons(item) {
				_ = len(touched.Edges)
			}
			_, _ = group.Moves.FirstTouch(item)
			_ = group.Moves.Clear(item)
		}
		for item := -1; item <= group.Contacts.Len(); item++ {
			for _, contact := range group.Contacts.Contacts(item) {
				_ = len(contact.Points)
			}
			_ = group.Contacts.Count(item)
		}
	}
}

func TestAnswersHaveTheRowsOfProtobuf(t *testing.T) {
	var reused FrameAnswer
	seeds := int64(60)
	if testing.Short() {
		seeds = 6
	}
	for seed := int64(0); seed < seeds; seed++ {
		checkAnswer(t, seed, &reused)
		checkAnswer(t, seed+1000, new(FrameAnswer))
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) { checkAnswer(t, seed, new(FrameAnswer)) })
}

func FuzzAnswerBytes(f *testing.F) {
	answer, _ := proto.Marshal(&caromv1.FrameAnswer{Groups: []*caromv1.GroupAnswer{{Segments: &caromv1.CastAnswers{
		Counts: []uint32{1, 0}, PolygonId: []uint64{4}, Fraction: []float64{.5}, StartsInside: []bool{true}, EndsInside: []bool{false}}}}})
	f.Add(answer)
	f.Fuzz(func(t *testing.T, data []byte) {
		var questions asked
		questions.groups = make([]askedGroup, 2)
		for g := range questions.groups {
			for i := range questions.groups[g].counts {
				questions.groups[g].counts[i] = int32(len(data) / 64 % 4)
			}
		}
		questions.groups[0].counts[0] = 2
		questions.seq = binary.LittleEndian.Uint64(append(data, make([]byte, 8)...)) % 2
		touchAll(new(decoder), data, &questions)
	})
}

// A server that sends one column of a group which is absent otherwise: seen as an index out of range
// in the loop that fills both normals at once. The columns of a group are absent together.
func TestHalfAGroupOfColumns(t *testing.T) {
	data, err := proto.Marshal(&caromv1.FrameAnswer{Groups: []*caromv1.GroupAnswer{{Moves: &caromv1.MoveAnswers{
		Clear: []uint64{0}, Counts: []uint32{0}, Touches: []bool{true}, FirstPolygonId: []uint64{1}, Low: []float64{0},
		High: []float64{0}, FirstNormalX: []float64{1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	var questions asked
	questions.groups = make([]askedGroup, 1)
	kinds := reflect.TypeOf(Answers{})
	for i := 0; i < kinds.NumField(); i++ {
		if kinds.Field(i).Name == "Moves" {
			questions.groups[0].counts[i] = 1
		}
	}
	var failed *Error
	err = new(decoder).decode(data, &questions, new(FrameAnswer))
	if !errors.As(err, &failed) || failed.Code != Internal || failed.Field != "groups[0].moves.first_normal_y" {
		t.Errorf("%v", err)
	}
}
