// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a Carom server questions over one stream; an example of a client in Go.
//
// usage: client ADDRESS QUESTIONS
//
// QUESTIONS are lines of ../questions.py; the answers are printed as ../expected.py does. The
// package caromv1 is made from the .proto files by protoc-gen-go and protoc-gen-go-grpc.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "carom.invalid/interop/carom/v1"
)

const (
	sceneName = "scenes/interop-go"
	handle    = math.MaxUint64 - 58 // any uint64
	firstSeq  = 1<<60 + 1
	inFlight  = 8 // frames ahead of their answers; a server takes 16 by default
)

// importScene sends the polygons in parts, as a scene above the size of a message must be.
func importScene(ctx context.Context, conn *grpc.ClientConn, polygons []polygon) error {
	call, err := pb.NewSceneServiceClient(conn).ImportScene(ctx)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(polygons, 10) {
		m := &pb.ImportSceneRequest{Name: sceneName, Mode: pb.ImportMode_IMPORT_MODE_REPLACE}
		for _, p := range part {
			m.Polygons = append(m.Polygons, p.message())
		}
		if err := call.Send(m); err != nil {
			break // CloseAndRecv says why
		}
	}
	made, err := call.CloseAndRecv()
	if err == nil && made.Scene.PolygonCount != uint64(len(polygons)) {
		err = errors.New("the scene lacks polygons")
	}
	return err
}

// asked is a frame that waits for its answer.
type asked struct {
	seq   uint64
	keys  []key
	lines []*line
}

func printAnswers(out io.Writer, a asked, answer *pb.FrameAnswer) error {
	if answer.Status != nil || answer.Seq != a.seq || len(answer.Groups) != len(a.keys) {
		return fmt.Errorf("frame %d: unexpected answer", a.seq)
	}
	readers := make(map[key]*groupReader)
	for i, g := range answer.Groups {
		readers[a.keys[i]] = newGroupReader(g)
	}
	for _, l := range a.lines {
		if l.Op != "track" {
			fmt.Fprintln(out, l.Q, readers[l.key()].text(l))
		}
	}
	return nil
}

// send sends frames while `waiting` has room, then closes our side.
func send(stream pb.QueryService_StreamClient, frames [][]*line, waiting chan<- asked) error {
	defer close(waiting)
	for i, lines := range frames {
		frame, keys, err := makeFrame(i, lines)
		if err != nil {
			return err
		}
		waiting <- asked{frame.Seq, keys, lines}
		if err := stream.Send(&pb.StreamRequest{Frame: frame}); err != nil {
			return err
		}
	}
	return stream.CloseSend()
}

func ask(ctx context.Context, conn *grpc.ClientConn, frames [][]*line, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewQueryServiceClient(conn).Stream(ctx)
	if err != nil {
		return err
	}
	waiting := make(chan asked, inFlight-1)
	sent := make(chan error, 1)
	go func() { sent <- send(stream, frames, waiting) }()
	for a := range waiting {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := printAnswers(out, a, response.Answer); err != nil {
			return err
		}
	}
	if err := <-sent; err != nil {
		return err
	}
	if _, err := stream.Recv(); err != io.EOF { // io.EOF is the status OK
		return fmt.Errorf("the stream did not end with OK: %v", err)
	}
	return nil
}

func run(address, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var scene *line
	var frames [][]*line
	for _, one := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		l := &line{}
		if err := json.Unmarshal([]byte(one), l); err != nil {
			return err
		}
		if l.Op == "scene" {
			scene = l
			continue
		}
		if l.Frame == len(frames) {
			frames = append(frames, nil)
		}
		frames[l.Frame] = append(frames[l.Frame], l)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx := context.Background()
	if err := importScene(ctx, conn, scene.Polygons); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	if err := ask(ctx, conn, frames, out); err != nil {
		return err
	}
	return out.Flush()
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
