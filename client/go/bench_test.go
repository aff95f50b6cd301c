// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"math/rand"
	"testing"

	caromv1 "carom/v1"

	"google.golang.org/protobuf/proto"
)

const benchItems = 4096

func benchFrame() *Frame {
	random := rand.New(rand.NewSource(1))
	frame := new(Frame)
	group := frame.Group("scenes/arena")
	for i := 0; i < benchItems; i++ {
		group.Segments.Add(random.Float64(), random.Float64(), random.Float64(), random.Float64())
	}
	return frame
}

// benchAnswer is the answer to benchFrame: a hit for each segment, with the columns of a detail.
func benchAnswer(detail CastDetail) []byte {
	random := rand.New(rand.NewSource(2))
	hits := new(caromv1.CastAnswers)
	for i := 0; i < benchItems; i++ {
		hits.Counts = append(hits.Counts, 1)
		hits.PolygonId = append(hits.PolygonId, uint64(random.Intn(100000)))
		hits.Fraction = append(hits.Fraction, random.Float64())
		hits.StartsInside = append(hits.StartsInside, false)
		hits.EndsInside = append(hits.EndsInside, random.Intn(2) == 0)
		if detail == CastDetailFraction {
			continue
		}
		hits.PointX, hits.PointY = append(hits.PointX, random.Float64()), append(hits.PointY, random.Float64())
		hits.NormalX, hits.NormalY = append(hits.NormalX, random.Float64()), append(hits.NormalY, random.Float64())
		if detail == CastDetailNormal {
			continue
		}
		hits.Ring, hits.Edge = append(hits.Ring, 0), append(hits.Edge, uint32(random.Intn(12)))
		hits.Feature = append(hits.Feature, caromv1.Feature_FEATURE_EDGE)
		if detail == CastDetailEdge {
			continue
		}
		hits.ExitFraction = append(hits.ExitFraction, random.Float64())
		hits.HasExitEdge = append(hits.HasExitEdge, true)
		hits.ExitRing, hits.ExitEdge = append(hits.ExitRing, 0), append(hits.ExitEdge, uint32(random.Intn(12)))
		hits.ExitNormalX, hits.ExitNormalY = append(hits.ExitNormalX, random.Float64()), append(hits.ExitNormalY, random.Float64())
	}
	data, err := proto.Marshal(&caromv1.FrameAnswer{Groups: []*caromv1.GroupAnswer{{Version: 1, Segments: hits}}})
	if err != nil {
		panic(err)
	}
	return data
}

// BenchmarkSegments encodes a frame of 4,096 segments and decodes its answer; ns/query is for both.
// docs/adr/0041-go.md has figures.
func BenchmarkSegments(b *testing.B) {
	for _, each := range []struct {
		name   string
		detail CastDetail
	}{{"fraction", CastDetailFraction}, {"normal", CastDetailNormal}, {"edge", CastDetailEdge}, {"exit", CastDetailExit}} {
		b.Run(each.name, func(b *testing.B) { benchSegments(b, each.detail) })
	}
}

func benchSegments(b *testing.B, detail CastDetail) {
	frame, data := benchFrame(), benchAnswer(detail)
	var w writer
	var questions asked
	var d decoder
	var answer FrameAnswer
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if err := frame.encode(&w, nil, &questions); err != nil {
			b.Fatal(err)
		}
		if err := d.decode(data, &questions, &answer); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchItems, "ns/query")
}

// BenchmarkProtobuf is the same work with the messages of protoc-gen-go.
func BenchmarkProtobuf(b *testing.B) {
	frame, data := benchFrame(), benchAnswer(CastDetailExit)
	var w writer
	var questions asked
	if err := frame.encode(&w, nil, &questions); err != nil {
		b.Fatal(err)
	}
	request := new(caromv1.EvaluateRequest)
	if err := proto.Unmarshal(w.bytes(), request); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := proto.Marshal(request); err != nil {
			b.Fatal(err)
		}
		if err := proto.Unmarshal(data, new(caromv1.FrameAnswer)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchItems, "ns/query")
}

// A frame whose memory is kept is encoded and decoded without any allocation.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	frame, data := benchFrame(), benchAnswer(CastDetailExit)
	var w writer
	var questions asked
	var d decoder
	var answer FrameAnswer
	tick := func() {
		frame.Reset()
		group := frame.Group("scenes/arena")
		for i := 0; i < benchItems; i++ {
			group.Segments.Add(1, 2, 3, 4)
		}
		if err := frame.encode(&w, nil, &questions); err != nil {
			t.Fatal(err)
		}
		if err := d.decode(data, &questions, &answer); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < benchItems; i++ {
			for _, hit := range answer.Group(0).Segments.Hits(i) {
				if hit.Fraction > 1 {
					t.Fatal("a fraction is above 1")
				}
			}
		}
	}
	if allocations := testing.AllocsPerRun(20, tick); allocations != 0 {
		t.Errorf("a tick makes %v allocations", allocations)
	}
}
