// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/answer_check.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace carom {
namespace {

// Whether a column of answers has an entry for each of so many items.
template <typename Column>
bool Has(const Column& column, int items) {
  return column.size() == static_cast<size_t>(items);
}

// Columns that come as floats are absent as doubles.
int Items(const v1::SegmentCasts& asked) { return asked.ax_size() + asked.floats().ax_size(); }
int Items(const v1::TrackerMoves& asked) { return asked.x_size() + asked.floats().x_size(); }

bool FitMoves(const v1::TrackerMoves& asked, const MoveAnswers& answers) {
  size_t items = answers.counts.size();
  for (const uint64_t word : answers.clear) items += static_cast<size_t>(std::popcount(word));
  const size_t sweeps = asked.from_x_size() == 0 ? 0 : answers.counts.size();
  const size_t edges = asked.detail() == v1::OVERLAP_DETAIL_EDGES ? answers.polygon_ids.size() : 0;
  return items == static_cast<size_t>(Items(asked)) && answers.clear.size() == (items + 63) / 64 &&
         answers.first_touches.size() == sweeps && answers.edge_counts.size() == edges;
}

bool Fit(const v1::Group& asked, const GroupAnswers& answers) {
  return Has(answers.segments.counts, Items(asked.segments())) &&
         Has(answers.points.counts, asked.points().x_size()) &&
         Has(answers.circles.counts, asked.circles().x_size()) &&
         Has(answers.polygons.counts, asked.polygons().x_size()) &&
         Has(answers.rays.counts, asked.rays().x_size()) &&
         Has(answers.capsules.counts, asked.capsules().ax_size()) &&
         Has(answers.boxes.counts, asked.boxes().min_x_size()) &&
         Has(answers.distances.counts, asked.distances().movers().x_size()) &&
         Has(answers.contacts.counts, asked.contacts().movers().x_size()) &&
         Has(answers.depenetrations.positions, asked.depenetrations().movers().x_size()) &&
         Has(answers.sweeps.counts, asked.sweeps().movers().x_size()) &&
         Has(answers.rotating_sweeps.counts, asked.rotating_sweeps().movers().x_size()) &&
         Has(answers.arcs.counts, asked.arcs().x_size()) &&
         Has(answers.sights.visible, asked.sights().ax_size()) &&
         Has(answers.fans.counts, asked.fans().x_size()) && FitMoves(asked.moves(), answers.moves);
}

}  // namespace

absl::Status CheckFrameAnswer(const v1::Frame& asked, const FrameAnswer& answer) {
  if (answer.seq != asked.seq()) return absl::InternalError("an answer of another frame");
  const bool has_groups = answer.status.ok() && !answer.skipped;
  bool fits = Has(answer.groups, has_groups ? asked.groups_size() : 0);
  for (size_t i = 0; i < answer.groups.size() && fits; ++i) {
    const GroupResult& result = answer.groups[i];
    fits = !result.status.ok() || Fit(asked.groups(static_cast<int>(i)), result.answers);
  }
  return fits ? absl::OkStatus() : absl::InternalError("the answers do not fit the questions");
}

}  // namespace carom
