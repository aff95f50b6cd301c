// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a scene sent as the bytes of a bundle (docs/bundle.md)?
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "carom/bundle.h"
#include "carom/scene.h"
#include "server/base/memory_account.h"
#include "server/scenes/scene_call.h"

namespace carom::server {

// The bytes of a bundle that is being sent, chunk by chunk, and the charge of their memory.
class OutgoingBundle {
 public:
  OutgoingBundle() = default;  // no bytes

  // Returns the bundle of a scene, whose memory is added to `charge`, which is 0. Takes
  // milliseconds a megabyte, so it must not run on the event loop.
  static absl::StatusOr<OutgoingBundle> Create(const Scene& scene, BundleIndex index,
                                               MemoryCharge charge) {
    const absl::Status status = charge.Add(BundleSize(scene, index));
    if (!status.ok()) return status;
    OutgoingBundle made;
    made.bytes_ = WriteBundle(scene, index);
    made.charge_ = std::move(charge);
    return made;
  }

  // Returns the bytes of the next chunk.
  std::string Next() {
    std::string chunk = bytes_.substr(next_, kSceneChunkBytes);
    next_ += chunk.size();
    return chunk;
  }
  bool is_sent() const { return next_ == bytes_.size(); }

 private:
  std::string bytes_;
  MemoryCharge charge_;
  size_t next_ = 0;
};

}  // namespace carom::server
