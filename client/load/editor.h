// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Edits the scene of a run at a steady rate while streams query it: one polygon per commit.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "carom/client.h"
#include "carom/scene.h"
#include "client/load/histogram.h"
#include "client/load/map.h"
#include "client/load/options.h"
#include "client/load/versions.h"

namespace carom::load {

// The results of an `Editor`, which commits edits to the scene while streams query it.
struct EditFigures {
  uint64_t commits = 0;
  absl::Status status;   // the error that ended the editing; OK: `Finish` ended it
  Histogram latency_ns;  // latency of commits, from their scheduled times
};

// The scene on the server that a run of `carom load` queries. The objects behind the references
// must outlive the `LoadScene`.
struct LoadScene {
  Client& client;
  const std::string& name;
  const Map& map;  // the polygons with which the scene was imported
};

// Commits an edit `options.edits_hz` times a second (the option must be above 0) on its own thread,
// and adds each version to a `SceneVersions`. An edit moves a random polygon of the map (the
// polygons with which the scene was imported) to a place near its original one. The editor ends at
// the first error.
class Editor {
 public:
  // `version` must be the current version of the scene; `options` and `versions` must outlive the
  // editor.
  Editor(const LoadScene& target, const LoadOptions& options, Scene::Ptr version,
         SceneVersions& versions);
  ~Editor() { Finish(); }

  // Waits for the running commit, stops the thread and returns the results.
  const EditFigures& Finish();

 private:
  void Loop();
  absl::Status Commit(uint64_t index);

  const LoadScene target_;
  const LoadOptions& options_;
  Scene::Ptr scene_;
  SceneVersions& versions_;
  EditFigures figures_;  // used by `thread_` alone until the thread is joined
  std::atomic<bool> is_stopped_ = false;
  std::thread thread_;
};

}  // namespace carom::load
