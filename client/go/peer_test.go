// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	caromv1 "carom/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// startPeer starts a server whose streams are answered by a function of the test.
func startPeer(t *testing.T, handle func(grpc.ServerStream) error) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(wireCodec{}),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error { return handle(stream) }))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// startCalls starts a server whose streams are a function of the number of the call, from 0 on.
func startCalls(t *testing.T, handle func(call int64, stream grpc.ServerStream) error) (client *Client, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	address := startPeer(t, func(stream grpc.ServerStream) error { return handle(calls.Add(1)-1, stream) })
	return dial(t, address), calls
}

// read reads a frame, and returns the answer that fits it.
func read(stream grpc.ServerStream) (*caromv1.FrameAnswer, error) {
	request := new(caromv1.StreamRequest)
	if err := stream.RecvMsg(request); err != nil {
		return nil, err
	}
	answer := &caromv1.FrameAnswer{Seq: request.GetFrame().GetSeq()}
	for range request.GetFrame().GetGroups() {
		answer.Groups = append(answer.Groups, &caromv1.GroupAnswer{Version: 1})
	}
	return answer, nil
}

// echo answers all frames.
func echo(stream grpc.ServerStream) error {
	for {
		answer, err := read(stream)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := send(stream, answer); err != nil {
			return err
		}
	}
}

func send(stream grpc.ServerStream, answer *caromv1.FrameAnswer) error {
	return stream.SendMsg(&caromv1.StreamResponse{Answer: answer})
}

// A server that breaks the protocol ends the stream with Internal, and each frame with this error.
func TestServersThatBreakTheProtocol(t *testing.T) {
	group := &caromv1.GroupAnswer{Segments: &caromv1.CastAnswers{Counts: []uint32{1, 1}, PolygonId: []uint64{1, 2}}}
	status0 := &caromv1.FrameAnswer{Seq: 9, Status: &caromv1.Status{Message: "a status without a code"}}
	for name, answer := range map[string]*caromv1.FrameAnswer{
		"another seq": {Seq: 8}, "no group": {Seq: 9}, "columns that do not fit": {Seq: 9, Groups: []*caromv1.GroupAnswer{group}},
		"too many groups": {Seq: 9, Groups: []*caromv1.GroupAnswer{{}, {}}}, "a status without a code": status0,
	} {
		address := startPeer(t, func(stream grpc.ServerStream) error {
			if err := stream.RecvMsg(new(payload)); err != nil {
				return err
			}
			_ = send(stream, answer)
			return stream.RecvMsg(new(payload))
		})
		stream := open(t, dial(t, address), StreamOptions{})
		frame := new(Frame)
		bullets(frame, "scenes/arena", 2)
		frame.Seq = 9
		if _, err := stream.Do(testContext(t), frame); !errors.Is(err, Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	client, calls := startCalls(t, func(_ int64, stream grpc.ServerStream) error {
		answer, _ := read(stream)
		_ = send(stream, answer)
		_ = send(stream, answer)
		return echo(stream)
	})
	stream := open(t, client, StreamOptions{})
	if _, err := stream.Do(testContext(t), new(Frame)); err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(testContext(t)); !errors.Is(err, Internal) || calls.Load() != 1 {
		t.Errorf("an answer too many: %v, %d calls", err, calls.Load())
	}
	for name, data := range map[string][]byte{"garbage": {0xff, 0xff, 0xff}, "a length beyond the end": {0x0a, 0x7f, 1}} {
		address := startPeer(t, func(stream grpc.ServerStream) error {
			_ = stream.SendMsg(&payload{data}) // before any frame
			return stream.RecvMsg(new(payload))
		})
		stream := open(t, dial(t, address), StreamOptions{})
		if _, err := stream.Recv(testContext(t)); !errors.Is(err, Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After each call that breaks, the next one begins with the definitions of answered frames, in
// frames with the seq 0, and then has the frames without answers, in their order.
func TestReplay(t *testing.T) {
	var calls atomic.Int64
	var mu sync.Mutex
	var seen [][]*caromv1.Frame
	address := startPeer(t, func(stream grpc.ServerStream) error {
		call := calls.Add(1)
		mu.Lock()
		seen = append(seen, nil)
		mu.Unlock()
		for {
			request := new(caromv1.StreamRequest)
			if err := stream.RecvMsg(request); err != nil {
				return err
			}
			mu.Lock()
			seen[call-1] = append(seen[call-1], request.GetFrame())
			mu.Unlock()
			if call < 3 && request.GetFrame().GetSeq() == uint64(call)*2 {
				return status.Error(codes.Unavailable, "the server stops")
			}
			answer := &caromv1.FrameAnswer{Seq: request.GetFrame().GetSeq()}
			for range request.GetFrame().GetGroups() {
				answer.Groups = append(answer.Groups, &caromv1.GroupAnswer{Version: 1})
			}
			if err := send(stream, answer); err != nil {
				return err
			}
		}
	})
	stream := open(t, dial(t, address), StreamOptions{})
	frame := new(Frame)
	for seq := uint64(1); seq <= 5; seq++ {
		frame.Reset()
		frame.Seq = seq
		frame.Group("scenes/arena")
		if seq == 1 {
			frame.DefineTrackers().Add(7, frame.DefineTrackers().AddShape(Circle(1)))
			frame.trackers[0].Shapes = frame.trackers[1].Shapes
			frame.trackers[1].Shapes = nil
		}
		if seq == 3 {
			frame.RemoveTrackers(7)
		}
		if _, err := stream.Do(testContext(t), frame); err != nil {
			t.Fatal(seq, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 3 || stream.Reconnects() != 2 {
		t.Fatalf("%d calls, %d reconnects", len(seen), stream.Reconnects())
	}
	first := seen[0][0]
	if len(first.GetBindings()) != 1 || first.GetBindings()[0].GetScene() != "scenes/arena" || len(seen[0][1].GetBindings()) != 0 {
		t.Errorf("the first frame binds %v, the second %v", first.GetBindings(), seen[0][1].GetBindings())
	}
	// The second call: bindings, trackers, then frame 2. The third: bindings alone, and frame 4.
	second, third := seen[1], seen[2]
	if len(second) < 3 || second[0].GetSeq() != 0 || !proto.Equal(second[0].GetBindings()[0], first.GetBindings()[0]) ||
		second[1].GetTrackers()[0].GetTracker()[0] != 7 || second[2].GetSeq() != 2 {
		t.Errorf("the second call has %v", second)
	}
	if len(third) < 2 || len(third[0].GetBindings()) != 1 || third[1].GetSeq() != 4 {
		t.Errorf("the third call has %v", third)
	}
}

// Frames that a server has read and not answered are at most as many as it allows.
func TestLimitsThatAreToldAreKept(t *testing.T) {
	const most, frames = 3, 24
	var waiting, greatest atomic.Int64
	client, _ := startCalls(t, func(_ int64, stream grpc.ServerStream) error {
		answers := make(chan *caromv1.FrameAnswer, frames)
		go func() {
			defer close(answers)
			for {
				answer, err := read(stream)
				if err != nil {
					return
				}
				if ahead := waiting.Add(1); ahead > greatest.Load() {
					greatest.Store(ahead)
				}
				answers <- answer
			}
		}()
		limits := &caromv1.StreamLimits{MaxFramesInFlight: most, MaxFrameBytes: 4096, MaxQueriesPerFrame: 77}
		for answer := range answers {
			time.Sleep(2 * time.Millisecond)
			waiting.Add(-1)
			if err := stream.SendMsg(&caromv1.StreamResponse{Answer: answer, Limits: limits}); err != nil {
				return err
			}
			limits = nil
		}
		return nil
	})
	stream := open(t, client, StreamOptions{InFlight: 10})
	for seq := uint64(0); seq < frames; seq++ {
		if err := stream.Send(testContext(t), &Frame{Seq: seq}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Finish(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := greatest.Load(); got < 2 || got > most {
		t.Errorf("%d frames were in flight", got)
	}
	if got := stream.Limits(); got != (StreamLimits{FramesInFlight: most, FrameBytes: 4096, Queries: 77}) {
		t.Errorf("%+v", got)
	}
}

func retryInfo(t *testing.T, code codes.Code, delay time.Duration) error {
	t.Helper()
	made, err := status.New(code, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
	if err != nil {
		t.Fatal(err)
	}
	return made.Err()
}

// A server that is full asks for time; the frame goes to the next call, no sooner.
func TestADelayThatIsAskedForIsWaitedFor(t *testing.T) {
	const delay = 200 * time.Millisecond
	var refused atomic.Int64 // when, in nanoseconds
	client, calls := startCalls(t, func(call int64, stream grpc.ServerStream) error {
		if call > 0 {
			if waited := time.Duration(time.Now().UnixNano() - refused.Load()); waited < delay {
				t.Errorf("the next call begins after %v", waited)
			}
			return echo(stream)
		}
		refused.Store(time.Now().UnixNano())
		return retryInfo(t, codes.ResourceExhausted, delay)
	})
	answer, err := open(t, client, StreamOptions{}).Do(testContext(t), &Frame{Seq: 5})
	if err != nil || answer.Seq != 5 || calls.Load() != 2 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
	// The stream ends at once, with the delay in its error, if the delay is longer than the time to reconnect.
	client, calls = startCalls(t, func(int64, grpc.ServerStream) error { return retryInfo(t, codes.Unavailable, time.Hour) })
	var failed *Error
	_, err = open(t, client, StreamOptions{Reconnect: time.Minute}).Do(testContext(t), new(Frame))
	if !errors.As(err, &failed) || failed.Code != Unavailable || failed.RetryDelay != time.Hour || calls.Load() != 1 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
}

// Which statuses of a call end the stream.
func TestStatusesThatMayPass(t *testing.T) {
	for code, reconnects := range map[codes.Code]bool{
		codes.OK: true, codes.Unavailable: true, codes.Aborted: true, codes.Canceled: true, codes.Internal: true,
		codes.Unknown: true, codes.InvalidArgument: false, codes.Unimplemented: false, codes.ResourceExhausted: false,
		codes.PermissionDenied: false, codes.Unauthenticated: false, codes.FailedPrecondition: false,
	} {
		client, calls := startCalls(t, func(call int64, stream grpc.ServerStream) error {
			if call > 0 {
				return echo(stream)
			}
			if _, err := read(stream); err != nil {
				return err
			}
			return status.Error(code, "x")
		})
		stream := open(t, client, StreamOptions{})
		_, err := stream.Do(testContext(t), &Frame{Seq: 1})
		if reconnects && (err != nil || calls.Load() != 2 || stream.Reconnects() != 1) ||
			!reconnects && (!errors.Is(err, Code(code)) || calls.Load() != 1 || stream.Reconnects() != 0) {
			t.Errorf("%v: %v, %d calls, %d reconnects", code, err, calls.Load(), stream.Reconnects())
		}
	}
}

// A stream whose every frame is answered needs no other call to end.
func TestABreakAfterTheLastAnswerIsNoLoss(t *testing.T) {
	client, calls := startCalls(t, func(_ int64, stream grpc.ServerStream) error {
		_ = echo(stream)
		return status.Error(codes.Unavailable, "gone")
	})
	stream := open(t, client, StreamOptions{})
	if err := stream.Send(testContext(t), &Frame{Seq: 1}); err != nil {
		t.Fatal(err)
	}
	if err := stream.Finish(testContext(t)); err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(testContext(t)); err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(testContext(t)); err != io.EOF || calls.Load() != 1 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
}

// The second call refuses the handle that the first one took.
func TestASessionThatIsRefusedEndsTheStream(t *testing.T) {
	client, calls := startCalls(t, func(call int64, stream grpc.ServerStream) error {
		answer, err := read(stream)
		if err != nil {
			return err
		}
		if call > 0 {
			answer = &caromv1.FrameAnswer{Seq: answer.Seq, Status: &caromv1.Status{Code: 3, Message: "no"}}
		}
		_ = send(stream, answer)
		_, _ = read(stream)
		return status.Error(codes.Unavailable, "gone")
	})
	stream := open(t, client, StreamOptions{})
	frame := &Frame{Seq: 1}
	frame.Group("scenes/arena")
	if _, err := stream.Do(testContext(t), frame); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Do(testContext(t), frame); !errors.Is(err, InvalidArgument) || calls.Load() != 2 {
		t.Errorf("%v, %d calls", err, calls.Load())
	}
}

// A frame that kills its servers ends in time, though each of them takes what is replayed.
func TestAFrameThatKillsItsServersEndsInTime(t *testing.T) {
	client, calls := startCalls(t, func(_ int64, stream grpc.ServerStream) error {
		if answer, err := read(stream); err == nil {
			_ = send(stream, answer)
		}
		_, _ = read(stream)
		return status.Error(codes.Unavailable, "the frame kills the server")
	})
	stream := open(t, client, StreamOptions{Reconnect: 3 * time.Second})
	frame := &Frame{Seq: 1}
	frame.Group("scenes/arena")
	if _, err := stream.Do(testContext(t), frame); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if _, err := stream.Do(testContext(t), frame); !errors.Is(err, Unavailable) {
		t.Error(err)
	}
	if calls.Load() < 3 || calls.Load() > 20 || time.Since(begun) > soon {
		t.Errorf("%d calls in %v", calls.Load(), time.Since(begun))
	}
}

// One of each of three kinds is asked; an answer that a server spoils is no answer.
func TestAnswersThatDoNotFitEndTheStream(t *testing.T) {
	ask := func(spoil func(*caromv1.FrameAnswer, *caromv1.GroupAnswer)) error {
		client, calls := startCalls(t, func(_ int64, stream grpc.ServerStream) error {
			answer, err := read(stream)
			if err != nil {
				return err
			}
			group := answer.Groups[0]
			group.Segments = &caromv1.CastAnswers{Counts: []uint32{0}}
			group.Sights = &caromv1.SightAnswers{Visible: []bool{true}}
			group.Moves = &caromv1.MoveAnswers{Clear: []uint64{1}}
			spoil(answer, group)
			_ = send(stream, answer)
			return echo(stream)
		})
		frame := &Frame{Seq: 9}
		group := frame.Group("scenes/arena")
		group.Segments.Add(1, 1, 1, 1)
		group.Sights.Add(1, 1, 1, 1)
		group.Moves.Add(0, 1, 1)
		answer, err := open(t, client, StreamOptions{}).Do(testContext(t), frame)
		if calls.Load() != 1 || err == nil && !answer.Skipped && answer.Len() != 1 {
			t.Errorf("%d calls, %d groups", calls.Load(), answer.Len())
		}
		return err
	}
	for name, spoil := range map[string]func(*caromv1.FrameAnswer, *caromv1.GroupAnswer){
		"nothing":    func(*caromv1.FrameAnswer, *caromv1.GroupAnswer) {},
		"superseded": func(a *caromv1.FrameAnswer, _ *caromv1.GroupAnswer) { a.Groups, a.Skipped = nil, true },
	} {
		if err := ask(spoil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(*caromv1.FrameAnswer, *caromv1.GroupAnswer){
		"superseded, with groups": func(a *caromv1.FrameAnswer, _ *caromv1.GroupAnswer) { a.Skipped = true },
		"refused, with groups":    func(a *caromv1.FrameAnswer, _ *caromv1.GroupAnswer) { a.Status = &caromv1.Status{Code: 3} },
		"no segments":             func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Segments = nil },
		"a segment too many":      func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Segments.Counts = []uint32{0, 0} },
		"a ray too many": func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) {
			g.Rays = &caromv1.CastAnswers{Counts: []uint32{0}}
		},
		"no sight":                  func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Sights.Visible = nil },
		"no moves":                  func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Moves = nil },
		"a move too many":           func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Moves.Clear[0] = 3 },
		"a truncated item too many": func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Segments.Truncated = []uint32{1} },
		"an error too many": func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) {
			g.Sights.Errors = []*caromv1.ItemError{{Index: 1, Code: 3}}
		},
		"an error without a code": func(_ *caromv1.FrameAnswer, g *caromv1.GroupAnswer) { g.Sights.Errors = []*caromv1.ItemError{{}} },
	} {
		if err := ask(spoil); !errors.Is(err, Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
