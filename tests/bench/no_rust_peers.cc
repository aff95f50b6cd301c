// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// In the place of box2d.cc and parry.cc where the Rust library was not built.

#include "tests/bench/peer.h"

namespace carom::bench {

std::unique_ptr<ScenePeer> MakeBox2D(const World&, const std::vector<Outline>&) { return nullptr; }
std::unique_ptr<ScenePeer> MakeParry(const World&) { return nullptr; }
std::unique_ptr<ScenePeer> MakeRapier(const World&) { return nullptr; }

}  // namespace carom::bench
