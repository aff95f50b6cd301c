// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// BenchmarkRoundTrip measures a frame of bullets from Do to its answer over a Unix socket, over TCP
// on this machine, and as a call of HTTP with protobuf (docs/choosing.md). The ways take turns, so
// that whatever slows the machine down slows all of them.
func BenchmarkRoundTrip(b *testing.B) {
	socket := startServerAt(b, "unix:"+filepath.Join(b.TempDir(), "carom.sock"))
	network, web := startServer(b), startServer(b, "--http-address", "127.0.0.1:0") // equally warm
	arena(b, dial(b, web.address))
	ways := []*way{newWay(b, "unix", socket.address), newWay(b, "tcp", network.address)}
	if page := httpAddress(b, web); page != "" {
		ways = append(ways, &way{name: "http", page: "http://" + page + "/carom.v1.QueryService/Evaluate"})
	}
	for _, items := range []int{1, 256, 4096} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			frame := new(Frame)
			bullets(frame, "scenes/arena", items)
			for _, each := range ways {
				each.times = each.times[:0]
			}
			for i := 0; i < b.N; i++ {
				for j := range ways {
					each := ways[(i+j)%len(ways)]
					begun := time.Now()
					if err := each.ask(context.Background(), frame); err != nil {
						b.Fatal(err)
					}
					each.times = append(each.times, time.Since(begun))
				}
			}
			for _, each := range ways {
				sort.Slice(each.times, func(i, j int) bool { return each.times[i] < each.times[j] })
				b.ReportMetric(float64(each.times[b.N/2].Microseconds()), "us-median-"+each.name)
				b.ReportMetric(float64(each.times[b.N*99/100].Microseconds()), "us-99%-"+each.name)
			}
		})
	}
}

// A way is how a frame gets to a server.
type way struct {
	name   string
	stream *Stream
	page   string
	times  []time.Duration
}

func newWay(b *testing.B, name, address string) *way {
	client, err := Dial(context.Background(), address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	arena(b, client)
	stream, err := client.OpenStream(context.Background(), StreamOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return &way{name: name, stream: stream}
}

func (w *way) ask(ctx context.Context, frame *Frame) error {
	if w.stream != nil {
		answer, err := w.stream.Do(ctx, frame)
		if err != nil {
			return err
		}
		defer answer.Release()
		return answer.Group(0).Err()
	}
	var body writer
	var questions asked
	if err := frame.encode(&body, nil, &questions); err != nil {
		return err
	}
	response, err := http.Post(w.page, "application/proto", bytes.NewReader(body.bytes()))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return new(decoder).response(data, &questions, new(FrameAnswer))
}

// httpAddress is the address of the HTTP port, which the server prints after the other one.
func httpAddress(b *testing.B, server *caromd) string {
	for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(server.folder, "stdout"))
		for _, line := range strings.Split(string(text), "\n") {
			if address, found := strings.CutPrefix(line, "caromd http on "); found {
				return address
			}
		}
	}
	return ""
}
