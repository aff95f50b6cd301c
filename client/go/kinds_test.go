// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// The values of every kind of question are those of the command line, which has them from the library:
// the same doubles, of `carom eval`, and of `carom explain` for the kinds that eval does not have.

type object = map[string]any

// A question is a line of the command line, the same in a group, and what the answer says by the
// members of the line that answers it.
type question struct {
	line   object
	bodies bool // of lineOfBodies
	ask    func(*Frame, *Group)
	read   func(*GroupAnswer) object
}

type point = [2]float64

// randomScene returns stars and boxes, some of them hollow or with a hole.
func randomScene(random *rand.Rand, n int) []Polygon {
	var made []Polygon
	for i := 0; i < n; i++ {
		x, y := 100*random.Float64()-50, 100*random.Float64()-50
		polygon := Polygon{ID: uint64(3*i + 1), Rings: []Ring{star(random, x, y, 5)}, FillRule: FillRuleEvenOdd, Solidity: SoliditySolid}
		if i%4 == 1 {
			polygon.Rings = append(polygon.Rings, star(random, x, y, 1))
		}
		if i%5 == 2 {
			polygon.Solidity = SolidityBoundary
		}
		made = append(made, polygon)
	}
	return made
}

func star(random *rand.Rand, x, y, radius float64) Ring {
	var made Ring
	n := 3 + random.Intn(8)
	for i := 0; i < n; i++ {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		r := radius * (0.3 + random.Float64())
		made.X, made.Y = append(made.X, x+r*cos), append(made.Y, y+r*sin)
	}
	return made
}

func ringsOf(rings []Ring) (made [][]point) {
	for _, ring := range rings {
		var points []point
		for i := range ring.X {
			points = append(points, point{ring.X[i], ring.Y[i]})
		}
		made = append(made, points)
	}
	return made
}

func mapOf(polygons []Polygon) object {
	var made []object
	for _, polygon := range polygons {
		made = append(made, object{"id": polygon.ID, "rings": ringsOf(polygon.Rings),
			"solidity": map[Solidity]string{SoliditySolid: "solid", SolidityBoundary: "boundary"}[polygon.Solidity]})
	}
	return object{"op": "scene", "polygons": made}
}

// lineOfBodies are two discs, of which the first one belongs to owner 5; addBodies places the same.
var lineOfBodies = object{"op": "bodies", "shapes": []object{{"circle": 2}}, "at": [][]float64{{0, 1, 1, 1, 0, 5}, {0, 3.5, 1}}}

func addBodies(group *Group) {
	shape := group.Bodies.AddShape(Circle(2))
	group.Bodies.AddColumns([]uint32{shape, shape}, []float64{1, 3.5}, []float64{1, 1})
	group.Bodies.Owner = []uint32{5, 0}
}

func idList[T any](rows []T, id func(T) (uint64, bool)) []any {
	made := []any{}
	for _, row := range rows {
		if id, is := id(row); is {
			made = append(made, id)
		}
	}
	return made
}

func nullOr(id uint64, is bool) any {
	if is {
		return id
	}
	return nil
}

// plain returns a value as JSON has it.
func plain(t testing.TB, value any) (made object) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// eval runs `carom eval`, and returns the answers that are objects.
func eval(t testing.TB, lines []object) (answers []object) {
	t.Helper()
	var in bytes.Buffer
	for _, line := range lines {
		data, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(data, '\n'))
	}
	command := exec.Command(program(t, "CAROM_BINARY"), "eval")
	command.Stdin, command.Stderr = &in, os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var answer object
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	return answers
}

// checkQuestions asks by a call and by a stream, and compares the answers with those of the command
// line.
func checkQuestions(t *testing.T, polygons []Polygon, questions []question, wanted []object) {
	t.Helper()
	if len(wanted) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(wanted), len(questions))
	}
	client := dial(t, startServer(t).address)
	if _, err := client.ImportScene(testContext(t), "scenes/map", polygons, true); err != nil {
		t.Fatal(err)
	}
	stream := open(t, client, StreamOptions{})
	frame := new(Frame)
	for _, each := range questions {
		group := frame.Group("scenes/map")
		if each.bodies {
			addBodies(group)
		}
		each.ask(frame, group)
	}
	one, err := client.Evaluate(testContext(t), frame)
	if err != nil {
		t.Fatal(err)
	}
	two, err := stream.Do(testContext(t), frame)
	if err != nil {
		t.Fatal(err)
	}
	for i, each := range questions {
		for _, answer := range []*FrameAnswer{one, two} {
			if err := answer.Group(i).Err(); err != nil {
				t.Errorf("%v: %v", each.line, err)
				continue
			}
			for member, got := range plain(t, each.read(answer.Group(i))) {
				if want := wanted[i][member]; !reflect.DeepEqual(got, want) {
					t.Errorf("%v: %s is %v, not %v", each.line, member, got, want)
				}
			}
		}
	}
}

func TestValuesAreThoseOfEval(t *testing.T) {
	random := rand.New(rand.NewSource(11))
	polygons := randomScene(random, 40)
	var questions []question
	for i := 0; i < repeats(12, 60); i++ {
		questions = append(questions, evalQuestions(random, i)...)
	}
	lines, has := []object{mapOf(polygons)}, false
	for _, each := range questions {
		if each.bodies != has {
			if has = each.bodies; has {
				lines = append(lines, lineOfBodies)
			} else {
				lines = append(lines, object{"op": "bodies", "shapes": []object{}, "at": []any{}})
			}
		}
		if each.line["op"] == "move" {
			lines = append(lines, object{"op": "track", "tracker": each.line["tracker"], "rings": each.line["rings"]})
			each.line = object{"op": "move", "tracker": each.line["tracker"], "x": each.line["x"], "y": each.line["y"]}
		}
		lines = append(lines, each.line)
	}
	checkQuestions(t, polygons, questions, eval(t, lines))
}

func TestValuesAreThoseOfExplain(t *testing.T) {
	random := rand.New(rand.NewSource(12))
	polygons := randomScene(random, 40)
	file := filepath.Join(t.TempDir(), "map.json")
	text, err := json.Marshal(object{"polygons": mapOf(polygons)["polygons"]})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var questions []question
	var wanted []object
	for i := 0; i < repeats(2, 20); i++ {
		questions = append(questions, explainQuestions(random)...)
	}
	for _, each := range questions {
		arguments := []string{"explain", "--local", file, "--json"}
		lines := []object{each.line}
		if each.bodies {
			lines = []object{lineOfBodies, each.line}
		}
		for _, line := range lines {
			data, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			arguments = append(arguments, string(data))
		}
		command := exec.Command(program(t, "CAROM_BINARY"), arguments...)
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil {
			t.Fatal(each.line, err)
		}
		wanted = append(wanted, explained(t, out))
	}
	checkQuestions(t, polygons, questions, wanted)
}

// explained returns what an explanation says of an answer: of each stage the polygons, and of the first
// one the numbers.
func explained(t testing.TB, data []byte) object {
	t.Helper()
	var found struct {
		Answer string
		Stages []struct {
			Kept   []any
			Point  any
			Normal any
			Exit   any
			Found  string
		}
	}
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	first := found.Stages[0]
	made := object{"answer": found.Answer, "kept": first.Kept, "point": first.Point, "normal": first.Normal, "exit": first.Exit}
	var id uint64
	var word string
	var key float64
	if n, _ := fmt.Sscanf(first.Found, "polygon %d, %s %g", &id, &word, &key); n == 3 {
		made["key"] = key
	}
	var beams, ends any
	for _, stage := range found.Stages {
		list, _ := beams.([]any)
		beams = append(list, fmt.Sprint(stage.Kept))
	}
	var x, y float64
	if n, _ := fmt.Sscanf(found.Answer, "ends at (%g, %g)", &x, &y); n == 2 {
		ends = []any{x, y}
	}
	made["beams"], made["ends"] = beams, ends
	return made
}
