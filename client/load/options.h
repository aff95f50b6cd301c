// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What are the options of `carom load`, and which combinations of them are valid?
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "carom/cast.h"
#include "carom/client.h"
#include "carom/polygon.h"

namespace carom::load {

// The options of a run of `carom load`, in which streams send frames (messages with the queries of
// one tick) to a server.
struct LoadOptions {
  // Options about the server and the streams.
  std::string address = "127.0.0.1:7420";
  ClientOptions security;  // only the paths of certificates, keys and tokens are used
  uint32_t streams = 10;
  uint32_t connections = 1;  // separate TCP or Unix connections that the streams share
  // threads that receive answers; in an open loop as many further threads send frames
  uint32_t threads = 1;

  // Options about the rate. In an open loop each stream sends `rate_hz` frames a second, whether or
  // not answers have arrived; 0: no frames. With `closed` above 0 the loop is closed: each stream
  // keeps `closed` frames in flight, and `rate_hz` is not used.
  double rate_hz = 60;
  uint32_t closed = 0;
  double duration_s = 10;  // length of the measured time
  double warmup_s = 1;     // time under load before the measured time
  uint64_t seed = 1;

  // Options about the queries of a frame: bullets (segment casts) and moves of trackers (moving
  // shapes).
  uint32_t bullets = 16;
  uint32_t trackers = 0;  // trackers of each stream, each of which moves once a frame
  double length = 0;      // length of a bullet in world units; 0: half of `Map::spacing`
  double speed = 0;       // speed of a tracker in world units a second; 0: `Map::spacing` / 10
  CastDetail detail = CastDetail::kFraction;

  // Options about the scene that the run queries.
  std::string map;                    // path of a map file; empty: a generated map
  std::vector<Polygon> map_polygons;  // the polygons of the file `map`
  uint32_t polygons = 100000;         // number of polygons of a generated map
  double edits_hz = 0;                // commits a second, each of which edits one polygon

  // One of every `check` answers of a stream is compared with the library's answer; 0: none.
  uint32_t check = 64;
  // Shows how far a part of the run is, such as the import in vertices; null: nothing is shown.
  std::function<void(const char* part, uint64_t done, uint64_t total)> progress = nullptr;
  int64_t server_pid = 0;    // process id of the server, for its CPU time; 0: not reported
  std::string report, plot;  // paths of the report files to write; empty: none

  bool is_closed() const { return closed > 0; }
  uint32_t queries_per_frame() const { return bullets + trackers; }
  // Returns the time in seconds by which a tracker moves from one frame of its stream to the next:
  // 1 / `rate_hz`, or 1 / 60 for a closed loop and for a rate of 0.
  double tick_s() const { return is_closed() || rate_hz == 0 ? 1.0 / 60 : 1 / rate_hz; }
};

// Checks the limits that involve several flags. Returns INVALID_ARGUMENT with the names of the
// flags.
absl::Status CheckOptions(const LoadOptions& options);

}  // namespace carom::load
