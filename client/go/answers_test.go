// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The oracle of the decoder is the protobuf library: rows are compared with the columns of messages by
// the names of their fields.

// randomColumns fill a message of answers with columns that fit each other.
type randomColumns struct {
	random                  *rand.Rand
	m                       protoreflect.Message
	items, rows             int
	edges, points, unclear  int
	counts                  []uint32 // by item
	edgeCounts, pointCounts []uint32 // by row
	clear, seen             []uint64
	optional                bool // columns that may be absent are there
	bare                    bool // hits of CAST_MODE_ANY, which have no rows
}

func randomAnswer(random *rand.Rand, m protoreflect.Message, items int) {
	all := m.Descriptor().Fields()
	c := &randomColumns{random: random, m: m, items: items, unclear: items, counts: make([]uint32, items),
		clear: make([]uint64, (items+63)/64), optional: random.Intn(2) == 0}
	isArea := m.Descriptor().Name() == "AreaAnswers" // always has its rows
	c.bare = all.ByName("truncated") != nil && !isArea && random.Intn(5) == 0
	for i := range c.counts {
		c.counts[i] = uint32(random.Intn(3)) << (random.Intn(200) / 199 * 8)
		if c.isMoves() && random.Intn(2) == 0 {
			c.clear[i/64] |= 1 << (i % 64)
			c.counts[i] = 0
			c.unclear--
		}
		if c.bare {
			c.counts[i] = uint32(random.Intn(2))
			continue
		}
		c.rows += int(c.counts[i])
	}
	if c.isSees() {
		c.see(random.Intn(4))
	}
	c.edgeCounts, c.pointCounts = c.small(&c.edges), c.small(&c.points)
	for i := 0; i < all.Len(); i++ {
		c.fill(all.Get(i))
	}
}

func (c *randomColumns) isMoves() bool { return c.m.Descriptor().Name() == "MoveAnswers" }

func (c *randomColumns) isSees() bool { return c.m.Descriptor().Name() == "SeeAnswers" }

// see makes some words of each observer, and counts their bits.
func (c *randomColumns) see(words int) {
	c.seen = make([]uint64, words*c.items)
	clear(c.counts)
	for i := range c.seen {
		c.seen[i] = c.random.Uint64() & c.random.Uint64() << c.random.Intn(64)
		c.counts[i/words] += uint32(bits.OnesCount64(c.seen[i]))
	}
}

// small returns a count for each row, and their sum.
func (c *randomColumns) small(total *int) []uint32 {
	made := make([]uint32, c.rows)
	for i := range made {
		made[i] = uint32(c.random.Intn(3))
		*total += int(made[i])
	}
	return made
}

// someItems returns some of the items, ascending.
func (c *randomColumns) someItems() (made []uint32) {
	for i := c.random.Intn(8); i < c.items && c.random.Intn(3) != 0; i += 1 + c.random.Intn(60) {
		made = append(made, uint32(i))
	}
	return made
}

func (c *randomColumns) fill(field protoreflect.FieldDescriptor) {
	put := func(values []uint32) {
		for _, value := range values {
			c.m.Mutable(field).List().Append(protoreflect.ValueOfUint32(value))
		}
	}
	switch name := string(field.Name()); name {
	case "errors":
		for _, item := range c.someItems() {
			each := &caromv1.ItemError{Index: item, Code: 3, Field: "ax", Message: "must be finite",
				Fault: caromv1.ItemFault(c.random.Intn(9))}
			c.m.Mutable(field).List().Append(protoreflect.ValueOfMessage(each.ProtoReflect()))
		}
	case "truncated", "stuck":
		put(c.someItems())
	case "counts":
		for i, count := range c.counts {
			if !c.isMoves() || c.clear[i/64]>>(i%64)&1 == 0 {
				put([]uint32{count})
			}
		}
	case "clear":
		for _, word := range c.clear {
			c.m.Mutable(field).List().Append(protoreflect.ValueOfUint64(word))
		}
	case "seen":
		for _, word := range c.seen {
			c.m.Mutable(field).List().Append(protoreflect.ValueOfUint64(word))
		}
	case "edge_counts":
		put(c.edgeCounts)
	case "point_counts":
		put(c.pointCounts)
	default:
		for n := c.length(name); n > 0; n-- {
			c.m.Mutable(field).List().Append(randomValue(c.random, field))
		}
	}
}

// length returns how many entries a column has.
func (c *randomColumns) length(name string) int {
	kind := string(c.m.Descriptor().Name())
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	switch {
	case c.m.Descriptor().Fields().ByName("edge_counts") != nil && (name == "ring" || name == "edge"):
		return c.edges
	case kind == "ContactAnswers" && (begins("point_") || strings.HasSuffix(name, "_feature")):
		return c.points
	case c.isMoves() && (begins("first_") || name == "low" || name == "high" || name == "touches"):
		return c.unclear
	case begins("safe_"), name == "quiet_radius", name == "visible", name == "finished", name == "steps", kind == "DepenetrateAnswers",
		c.isSees(),
		kind == "SlideAnswers" && (name == "x" || name == "y" || begins("left_")),
		kind == "AreaAnswers" && (name == "area" || name == "starts_inside"):
		return c.items
	case name == "passed", name == "soft_length":
		if !c.optional {
			return 0
		}
		return c.items
	case begins("exit_"), name == "has_exit_edge", begins("reflection_"), name == "is_body":
		if !c.optional {
			return 0
		}
	}
	return c.rows
}

func randomValue(random *rand.Rand, field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(random.NormFloat64())
	case protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(random.Uint64() >> random.Intn(64))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(random.Uint32() >> random.Intn(32))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(random.Intn(2) == 0)
	default:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(random.Intn(4)))
	}
}

// checkItems compares the numbers of rows, the errors, and which items are truncated or stuck.
func checkItems(t *testing.T, answers reflect.Value, m protoreflect.Message, name string, items int) {
	t.Helper()
	kind := answers.Addr().Interface().(interface {
		Len() int
		Count(int) int
		Err(int) error
		Errs() int
	})
	if kind.Len() != items {
		t.Fatalf("%s: %d items, not %d", name, kind.Len(), items)
	}
	failed := map[int]protoreflect.Message{}
	errs := column1(m, "errors")
	for i := 0; i < errs.Len(); i++ {
		each := errs.Get(i).Message()
		failed[int(each.Interface().(*caromv1.ItemError).GetIndex())] = each
	}
	if kind.Errs() != len(failed) {
		t.Fatalf("%s: %d errors, not %d", name, kind.Errs(), len(failed))
	}
	for i := -1; i <= items; i++ {
		each, is := failed[i]
		err := kind.Err(i)
		if is != (err != nil) {
			t.Fatalf("%s: item %d has the error %v", name, i, err)
		}
		if is {
			wanted, got := each.Interface().(*caromv1.ItemError), asError(err)
			if got.Code != Code(wanted.Code) || got.Field != itemPath(name+"."+wanted.Field, i) || got.Message != wanted.Message ||
				got.Fault != ItemFault(wanted.Fault) {
				t.Fatalf("%s: item %d has the error %+v, not %+v", name, i, got, wanted)
			}
		}
	}
	for column, method := range map[string]string{"truncated": "Truncated", "stuck": "Stuck"} {
		if m.Descriptor().Fields().ByName(protoreflect.Name(column)) == nil {
			continue
		}
		listed := map[int]bool{}
		for i := 0; i < column1(m, column).Len(); i++ {
			listed[int(column1(m, column).Get(i).Uint())] = true
		}
		for i := -1; i <= items; i++ {
			if got := answers.Addr().MethodByName(method).Call([]reflect.Value{reflect.ValueOf(i)})[0].Bool(); got != listed[i] {
				t.Fatalf("%s: %s(%d) is %v", name, method, i, got)
			}
		}
	}
	checkCounts(t, kind.Count, m, name, items)
}

// checkCounts compares the number of rows of each item.
func checkCounts(t *testing.T, count func(int) int, m protoreflect.Message, name string, items int) {
	t.Helper()
	if m.Descriptor().Fields().ByName("counts") == nil {
		return
	}
	counts, next := column1(m, "counts"), 0
	for i := 0; i < items; i++ {
		wanted := 0
		isClear := m.Descriptor().Name() == "MoveAnswers" && column1(m, "clear").Get(i/64).Uint()>>(i%64)&1 != 0
		if !isClear {
			wanted = int(counts.Get(next).Uint())
			next++
		}
		if count(i) != wanted {
			t.Fatalf("%s: item %d has %d rows, not %d", name, i, count(i), wanted)
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

// checkSeen compares who sees whom with the bits of the message.
func checkSeen(t *testing.T, answers *SeeAnswers, m *caromv1.SeeAnswers) {
	t.Helper()
	words, items := 0, len(m.GetCounts())
	if items != 0 {
		words = len(m.Seen) / items
	}
	for i := 0; i < items; i++ {
		var seen []int
		for body := -1; body <= 64*words; body++ {
			wanted := body >= 0 && body < 64*words && m.Seen[i*words+body/64]>>(body%64)&1 != 0
			if wanted {
				seen = append(seen, body)
			}
			if answers.Sees(i, body) != wanted {
				t.Fatalf("observer %d sees body %d: %v", i, body, !wanted)
			}
		}
		if got := answers.AppendSeen([]int{-7}, i); !reflect.DeepEqual(got, append([]int{-7}, seen...)) {
			t.Fatalf("observer %d sees %v, not %v", i, got, seen)
		}
		if got := answers.Words(i); !slices.Equal(got, m.Seen[i*words:(i+1)*words]) {
			t.Fatalf("observer %d has the words %x", i, got)
		}
		if answers.StartsInside(i) != m.StartsInside[i] {
			t.Fatalf("observer %d starts inside: %v", i, !m.StartsInside[i])
		}
	}
	if answers.Sees(0, math.MaxInt) || answers.Sees(0, math.MinInt) {
		t.Fatal("an observer sees a body that does not exist")
	}
	for _, i := range []int{-1, items, math.MaxInt, math.MinInt} {
		if answers.Sees(i, 0) || answers.AppendSeen(nil, i) != nil ||
			answers.Words(i) != nil || answers.StartsInside(i) {
			t.Fatalf("observer %d, which does not exist, sees", i)
		}
	}
}

// makeAnswer makes a random answer, and the questions that it answers.
func makeAnswer(random *rand.Rand) (*caromv1.FrameAnswer, *asked) {
	questions := &asked{seq: 3}
	message := &caromv1.FrameAnswer{Seq: 3}
	kinds := reflect.TypeOf(Answers{})
	for g := random.Intn(3); g >= 0; g-- {
		group := &caromv1.GroupAnswer{Version: random.Uint64() >> 20, EditedVersion: random.Uint64() >> 20}
		var made askedGroup
		for i := 0; i < kinds.NumField(); i++ {
			if random.Intn(3) != 0 {
				continue
			}
			items := 1 + random.Intn(300)*random.Intn(2)
			made.counts[i] = int32(items)
			field := kindField(group.ProtoReflect(), kinds.Field(i).Name)
			randomAnswer(random, group.ProtoReflect().Mutable(field).Message(), items)
		}
		if random.Intn(6) == 0 { // a group that is not answered
			group = &caromv1.GroupAnswer{EditedVersion: group.EditedVersion, Status: &caromv1.Status{Code: 5, Message: "scene: no scene of this name",
				Violations: []*caromv1.FieldViolation{{Field: "scene", Description: "no scene of this name"}}, RetryDelayUs: 7}}
		}
		questions.groups = append(questions.groups, made)
		message.Groups = append(message.Groups, group)
	}
	return message, questions
}

// kindField returns the field of a group for a kind of answers.
func kindField(group protoreflect.Message, kind string) protoreflect.FieldDescriptor {
	all := group.Descriptor().Fields()
	for i := 0; i < all.Len(); i++ {
		if goName(string(all.Get(i).Name())) == kind {
			return all.Get(i)
		}
	}
	return nil
}

func checkAnswer(t *testing.T, seed int64, into *FrameAnswer) {
	random := rand.New(rand.NewSource(seed))
	message, questions := makeAnswer(random)
	data := marshal(t, message)
	var d decoder
	if err := d.decode(data, questions, into); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	kinds := reflect.TypeOf(Answers{})
	for g, wanted := range message.Groups {
		group := into.Group(g)
		if group.Version != wanted.Version || group.EditedVersion != wanted.EditedVersion {
			t.Fatalf("seed %d: another version", seed)
		}
		if wanted.Status != nil {
			checkError(t, "a group that is not answered", group.Err(), NotFound, "scene")
			if failed := asError(group.Err()); failed.RetryDelay != 7*time.Microsecond || failed.Message != "no scene of this name" {
				t.Fatalf("seed %d: %+v", seed, failed)
			}
			continue
		}
		answers := reflect.ValueOf(&group.Answers).Elem()
		for i := 0; i < kinds.NumField(); i++ {
			field := kindField(wanted.ProtoReflect(), kinds.Field(i).Name)
			m := wanted.ProtoReflect().Get(field).Message()
			checkItems(t, answers.Field(i), m, string(field.Name()), int(questions.groups[g].counts[i]))
			checkRows(t, answers.Field(i), m)
			if sees, ok := answers.Field(i).Addr().Interface().(*SeeAnswers); ok {
				checkSeen(t, sees, m.Interface().(*caromv1.SeeAnswers))
			}
		}
	}
	// Bytes that are cut or changed are an error or an answer, and never a panic.
	for i := 0; i < 10 && len(data) > 0; i++ {
		broken := append([]byte(nil), data[:random.Intn(len(data)+1)]...)
		switch random.Intn(4) {
		case 0, 1:
			broken = append([]byte(nil), data...)
			broken[random.Intn(len(broken))] ^= byte(1 << random.Intn(8))
		case 2: // a byte is stuck
			broken = append([]byte(nil), data...)
			from := random.Intn(len(broken))
			stuck := broken[from : from+random.Intn(min(64, len(broken)-from)+1)]
			for j := range stuck {
				stuck[j] = stuck[0]
			}
		}
		touchAll(&d, broken, questions)
	}
}

// touchAll decodes bytes and reads every row.
func touchAll(d *decoder, data []byte, questions *asked) {
	var into FrameAnswer
	if d.decode(data, questions, &into) != nil {
		return
	}
	for g := -1; g <= into.Len(); g++ {
		answers := reflect.ValueOf(&into.Group(g).Answers).Elem()
		for i := 0; i < answers.NumField(); i++ {
			touchKind(answers.Field(i).Addr())
		}
	}
}

// touchKind calls each method of a kind of answers that takes an item, for the first and last ones.
func touchKind(kind reflect.Value) {
	items := kind.Interface().(interface{ Len() int }).Len()
	if sees, ok := kind.Interface().(*SeeAnswers); ok {
		for _, item := range []int{-1, 0, 1, items / 2, items - 1, items} {
			for _, body := range sees.AppendSeen(nil, item) {
				_ = sees.Sees(item, body) && sees.Sees(body, item)
			}
		}
	}
	for i := 0; i < kind.NumMethod(); i++ {
		method := kind.Method(i)
		if method.Type().NumIn() != 1 {
			continue
		}
		for _, item := range []int{-1, 0, 1, items / 2, items - 1, items} {
			for _, result := range method.Call([]reflect.Value{reflect.ValueOf(item)}) {
				if result.Kind() == reflect.Slice {
					for j := 0; j < result.Len(); j++ {
						_ = result.Index(j).Interface()
					}
				}
			}
		}
	}
}

func TestAnswersHaveTheRowsOfProtobuf(t *testing.T) {
	var reused FrameAnswer
	seeds := int64(40)
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
	var failed *Error
	err = new(decoder).decode(data, askedItems("Moves", 1), new(FrameAnswer))
	if !errors.As(err, &failed) || failed.Code != Internal || failed.Field != "groups[0].moves.first_normal_y" {
		t.Errorf("%v", err)
	}
}

// askedItems returns a question of a group of a number of items of one kind.
func askedItems(kind string, items int32) *asked {
	questions := &asked{groups: make([]askedGroup, 1)}
	kinds := reflect.TypeOf(Answers{})
	for i := 0; i < kinds.NumField(); i++ {
		if kinds.Field(i).Name == kind {
			questions.groups[0].counts[i] = items
		}
	}
	return questions
}

// The words of who sees whom are as many for each observer, and have as many bits as its count says.
func TestSeenBitsThatDoNotFit(t *testing.T) {
	inside := []bool{false, true}
	for _, test := range []struct {
		column string
		answer *caromv1.SeeAnswers
	}{
		{"", &caromv1.SeeAnswers{Counts: []uint32{1, 2}, Seen: []uint64{1 << 63, 3}, StartsInside: inside}},
		{"", &caromv1.SeeAnswers{Counts: []uint32{0, 0}, StartsInside: inside}}, // no bodies
		{"seen", &caromv1.SeeAnswers{Counts: []uint32{1, 2}, Seen: []uint64{1, 3, 0}, StartsInside: inside}},
		{"seen", &caromv1.SeeAnswers{Counts: []uint32{1, 2}, Seen: []uint64{1}, StartsInside: inside}},
		{"seen", &caromv1.SeeAnswers{Counts: []uint32{2, 1}, Seen: []uint64{1, 3}, StartsInside: inside}},
		{"seen", &caromv1.SeeAnswers{Counts: []uint32{1, 0}, StartsInside: inside}},
		{"counts", &caromv1.SeeAnswers{Counts: []uint32{1}, Seen: []uint64{1, 0}, StartsInside: inside}},
		{"counts", &caromv1.SeeAnswers{Counts: []uint32{1, 0, 0}, Seen: []uint64{1, 0}, StartsInside: inside}},
		{"starts_inside", &caromv1.SeeAnswers{Counts: []uint32{1, 0}, Seen: []uint64{1, 0}, StartsInside: inside[:1]}},
	} {
		data := marshal(t, &caromv1.FrameAnswer{Groups: []*caromv1.GroupAnswer{{Sees: test.answer}}})
		err := new(decoder).decode(data, askedItems("Sees", 2), new(FrameAnswer))
		if test.column == "" {
			if err != nil {
				t.Errorf("%v: %v", test.answer, err)
			}
			continue
		}
		checkError(t, test.answer.String(), err, Internal, "groups[0].sees."+test.column)
	}
}
