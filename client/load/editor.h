// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Edits the scene while it is asked: one polygon a commit, at a steady rate.
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

struct EditFigures {
  uint64_t commits = 0;
  absl::Status status;   // of the commit that ended the editing; OK: stopped by `Finish`
  Histogram latency_ns;  // of a commit, from its scheduled time
};

// The scene that is asked and edited; all that is referred to outlives its users.
struct LoadScene {
  Client& client;
  const std::string& name;
  const Map& map;  // what it was made of
};

// Moves a random polygon of the map to a place near its own, `options.edits_hz` > 0 times a second,
// on a thread of its own, and makes each version known. Ends at the first error.
class Editor {
 public:
  // `version` is the current one; options and versions outlive the editor.
  Editor(const LoadScene& target, const LoadOptions& options, Scene::Ptr version,
         SceneVersions& versions);
  ~Editor() { Finish(); }

  // Stops after the commit that is running; once.
  const EditFigures& Finish();

 private:
  void Loop();
  absl::Status Commit(uint64_t index);

  const LoadScene target_;
  const LoadOptions& options_;
  Scene::Ptr scene_;
  SceneVersions& versions_;
  EditFigures figures_;  // of the thread, until it is joined
  std::atomic<bool> is_stopped_ = false;
  std::thread thread_;
};

}  // namespace carom::load
