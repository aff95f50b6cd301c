// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What `carom load` is asked to do, and whether that can be done.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "carom/cast.h"
#include "carom/client.h"

namespace carom::load {

struct LoadOptions {
  // Where.
  std::string address = "127.0.0.1:7420";
  ClientOptions security;  // its files alone count
  uint32_t streams = 10;
  uint32_t connections = 1;  // each a TCP or Unix connection of its own
  uint32_t threads = 1;      // that take answers; in an open loop each has one beside that sends

  // When. Frames leave at `rate_hz` a stream, whether or not answers came; 0: none leave. With
  // `closed` above 0, so many frames of each stream are in flight in place of that.
  double rate_hz = 60;
  uint32_t closed = 0;
  double duration_s = 10;  // that is measured
  double warmup_s = 1;     // before it
  uint64_t seed = 1;

  // What a frame asks.
  uint32_t bullets = 16;
  uint32_t trackers = 0;  // each moves once a frame
  double length = 0;      // of bullets, world length; 0: half of the map's spacing
  double speed = 0;       // of trackers, world length a second; 0: a tenth of the spacing
  CastDetail detail = CastDetail::kFraction;

  // Where it asks that.
  std::string map;             // a file; empty: a made map
  uint32_t polygons = 100000;  // of a made map
  double edits_hz = 0;         // commits of one polygon a second

  // Of every so many answers of a thread one is compared with the library's; 0: none.
  uint32_t check = 64;
  int64_t server_pid = 0;  // whose CPU time is reported; 0: none
  std::string json, plot;  // files to write; empty: none

  bool is_closed() const { return closed > 0; }
  uint32_t queries_per_frame() const { return bullets + trackers; }
  // Seconds by which trackers move in a frame.
  double tick_s() const { return is_closed() || rate_hz == 0 ? 1.0 / 60 : 1 / rate_hz; }
};

// What no single flag shows: INVALID_ARGUMENT that names the flags.
absl::Status CheckOptions(const LoadOptions& options);

}  // namespace carom::load
