// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

package carom

import (
	"fmt"
	"testing"
)

// Streams whose connections are cut at any byte, or whose servers stop in turns, have the answers of
// a stream that never broke.

// A script is sent again and again: each time, its connection is cut at another byte, on the way to
// the server or on the way back. The next connection lives.
func TestCutAtEveryByte(t *testing.T) {
	server := startServer(t, "--max-forks", "100000")
	makeScriptScenes(t, server.address)
	direct := dial(t, server.address)
	s := script{seed: 77, frames: 10, fork: "scenes/uncut"}
	proxy := startProxy(t, server.address, neverCut)
	wanted := uncut(t, proxy.address(), s, true)
	offsets, toServer := proxy.toServer.Load()+proxy.toClient.Load(), proxy.toServer.Load()
	count := int64(repeats(40, int(offsets)))
	if testing.Short() {
		count = 15
	}
	cuts, reconnects := int64(0), 0
	for i := int64(0); i < count; i++ {
		offset := 1 + i*offsets/count
		plan := cut{toServer: offset}
		if offset > toServer {
			plan = cut{toClient: offset - toServer}
		}
		once := startProxy(t, server.address, func(number int) cut {
			if number == 0 {
				return plan
			}
			return cut{}
		})
		client := dial(t, once.address())
		s.fork = fmt.Sprintf("scenes/cut%d", i)
		ledger, stream, err := converse(testContext(t), client, s, StreamOptions{InFlight: 1 + int(i)%4}, true, nil)
		if err != nil {
			t.Fatalf("%+v: %v", plan, err)
		}
		checkLedger(t, ledger, wanted, err)
		_ = direct.DeleteScene(testContext(t), s.fork, 0)
		cuts += once.cuts.Load()
		reconnects += stream.Reconnects()
		_ = client.Close()
	}
	if cuts < count*9/10 || reconnects < int(count)/3 {
		t.Errorf("%d runs, %d cuts, %d reconnects: the test is of little use", count, cuts, reconnects)
	}
}
