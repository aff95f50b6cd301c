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
  absl::Status status;   // of the commit that ended the editing; OK: it was told to stop
  Histogram latency_ns;  // of a commit, from its scheduled time
};

// Moves a random polygon of the map to a place near its own, `options.edits_hz` > 0 times a second,
// on a thread of its own, and makes each version known. Ends at the first error.
class Editor {
 public:
  // `scene` is the current version; all that is referred to outlives the editor.
  Editor(Client& client, const std::string& name, const LoadOptions& options, const Map& map,
         Scene::Ptr scene, SceneVersions& versions);
  ~Editor() { Finish(); }

  // Stops after the commit under way; once.
  const EditFigures& Finish();

 private:
  void Loop();
  absl::Status Commit(uint64_t index);

  Client& client_;
  const std::string& name_;
  const LoadOptions& options_;
  const Map& map_;
  Scene::Ptr scene_;
  SceneVersions& versions_;
  EditFigures figures_;  // of the thread, until it is joined
  std::atomic<bool> is_stopped_ = false;
  std::thread thread_;
};

}  // namespace carom::load
