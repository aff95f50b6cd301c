// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	caromv1 "carom/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
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
