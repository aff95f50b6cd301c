// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes definitions of trackers (moving shapes that the server remembers between
// frames). Moves of trackers are a kind of query (questions.cc, answers.cc).

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "wire/columns.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/parts.h"

namespace carom::wire {

absl::Status DecodeTrackers(const RepeatedPtrField<v1::TrackerDefinitions>& messages,
                            DecodedTrackers& out) {
  out.shapes.clear();
  out.shapes.resize(static_cast<size_t>(messages.size()));
  out.definitions.clear();
  ViolationList violation_list;
  for (size_t i = 0; i < out.shapes.size(); ++i) {
    const v1::TrackerDefinitions& message = messages[static_cast<int>(i)];
    const std::string parent = absl::StrCat("trackers[", i, "]");
    DecodeEach(message.shapes(), ListPath{parent, ".shapes"}, DecodeShape, out.shapes[i],
               violation_list);
    out.definitions.push_back(
        {.shapes = out.shapes[i],
         .shape = View(message.shape()),
         .tracker = View(message.tracker()),
         .first_tracker = message.first_tracker(),
         .options = {.mask = message.has_mask() ? message.mask() : kEveryCategory,
                     .within = message.within()}});
  }
  return violation_list.empty() ? absl::OkStatus() : violation_list.status();
}

absl::StatusOr<Coherence> DecodeCoherence(int wire) {
  Coherence coherence;
  ViolationList violation_list;
  ReadEnum(wire, "", "coherence", coherence, violation_list);
  if (!violation_list.empty()) return violation_list.status();
  return coherence;
}

void EncodeTrackers(const TrackerDefinitions& definitions, v1::TrackerDefinitions& message) {
  message.Clear();
  for (const Shape& shape : definitions.shapes) EncodeShape(shape, *message.add_shapes());
  CopyColumn(definitions.shape, message.mutable_shape());
  CopyColumn(definitions.tracker, message.mutable_tracker());
  message.set_first_tracker(definitions.first_tracker);
  message.set_within(definitions.options.within);
  if (definitions.options.mask != kEveryCategory) message.set_mask(definitions.options.mask);
}

v1::Coherence EncodeCoherence(Coherence coherence) {
  return static_cast<v1::Coherence>(EnumToWire(coherence));
}

}  // namespace carom::wire
