// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/session.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/rpc_status.h"
#include "server/scene_name.h"
#include "wire/decode.h"

namespace carom::server {

absl::Status SceneHandles::Check(const Bindings& bindings) const {
  if (bindings.empty()) return absl::OkStatus();
  Refusal refusal;
  absl::flat_hash_set<uint64_t> bound;
  size_t total = names_.size();
  for (int i = 0; i < bindings.size(); ++i) {
    const v1::SceneBinding& binding = bindings[i];
    if (!bound.insert(binding.handle()).second) {
      refusal.Add(absl::StrCat("bindings[", i, "].handle"), "must not be bound twice in a frame");
    } else if (!names_.contains(binding.handle())) {  // rebinding takes no room
      ++total;
    }
    const absl::Status name =
        CheckSceneName(absl::StrCat("bindings[", i, "].scene"), binding.scene());
    for (const Violation& violation : Violations(name)) {
      refusal.Add(violation.field, violation.description);
    }
  }
  if (!refusal.empty()) return refusal.status();
  if (total <= kMaxHandles) return absl::OkStatus();
  return OverLimit("bindings", kMaxHandles, "handles a stream");
}

void SceneHandles::Bind(const Bindings& bindings) {
  for (const v1::SceneBinding& binding : bindings) names_[binding.handle()] = binding.scene();
}

const std::string* SceneHandles::Find(uint64_t handle) const {
  const auto it = names_.find(handle);
  return it == names_.end() ? nullptr : &it->second;
}

absl::Status Session::Define(const v1::Frame& frame) {
  // Everything is checked before anything is taken over.
  absl::Status status = handles.Check(frame.bindings());
  if (!status.ok()) return status;
  if (frame.trackers_size() + frame.removed_trackers_size() > 0) {
    wire::DecodedTrackers decoded;
    status = wire::DecodeTrackers(frame.trackers(), decoded);
    if (!status.ok()) return status;
    const std::span<const uint32_t> removed{frame.removed_trackers().data(),
                                            static_cast<size_t>(frame.removed_trackers_size())};
    // The last check, which defines where it succeeds.
    status = trackers.Define(removed, decoded.definitions);
    if (!status.ok()) return status;
  }
  handles.Bind(frame.bindings());
  trackers.BeginFrame();
  return absl::OkStatus();
}

}  // namespace carom::server
