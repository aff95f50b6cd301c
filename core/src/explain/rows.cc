// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons and bodies does the answer to an elementary question name?

#include "carom/group_kinds.h"
#include "explain/question.h"

namespace carom::internal {
namespace {

void AppendRows(const CastAnswers& answers, std::vector<FoundRow>& out) {
  for (const CastHit& hit : answers.hits) {
    FoundRow& row = out.emplace_back(FoundRow{hit.polygon_id, hit.is_body, hit.fraction});
    if (hit.feature != Feature::kNone) row.edge = hit.edge;
    row.point = hit.point;
    row.normal = hit.normal;
    row.exit = hit.exit_fraction;
  }
}

void AppendRows(const ArcAnswers& answers, std::vector<FoundRow>& out) {
  for (const ArcHit& hit : answers.hits) {
    FoundRow& row = out.emplace_back(FoundRow{hit.polygon_id, hit.is_body, hit.time});
    if (hit.has_edge) row.edge = hit.edge;
    row.point = hit.point;
    row.normal = hit.normal;
  }
}

void AppendRows(const SweepAnswers& answers, std::vector<FoundRow>& out) {
  for (const SweepHit& hit : answers.hits) {
    FoundRow& row = out.emplace_back(FoundRow{hit.polygon_id, hit.is_body, hit.fraction});
    if (hit.has_edge) row.edge = hit.edge;
    row.point = hit.point;
    row.normal = hit.normal;
  }
}

void AppendRows(const RotatingSweepAnswers& answers, std::vector<FoundRow>& out) {
  for (const RotatingSweepHit& hit : answers.hits) {
    out.push_back(FoundRow{hit.polygon_id, false, hit.high});
  }
}

// Appends a row for each entry of `polygon_ids`.
template <class Answers>
void AppendIds(const Answers& answers, std::vector<FoundRow>& out) {
  for (size_t i = 0; i < answers.polygon_ids.size(); ++i) {
    out.push_back(
        FoundRow{answers.polygon_ids[i], !answers.is_body.empty() && answers.is_body[i] != 0});
  }
}

void AppendRows(const LocateAnswers& answers, std::vector<FoundRow>& out) {
  AppendIds(answers, out);
}

void AppendRows(const OverlapAnswers& answers, std::vector<FoundRow>& out) {
  AppendIds(answers, out);
  if (out.size() == 1 && !answers.edges.empty()) out[0].edge = answers.edges[0];
}

void AppendRows(const DistanceAnswers& answers, std::vector<FoundRow>& out) {
  AppendIds(answers, out);
  for (size_t i = 0; i < answers.rows.size(); ++i) {
    out[i].key = answers.rows[i].distance;
    if (answers.rows[i].has_edge) out[i].edge = answers.rows[i].edge;
    out[i].point = answers.rows[i].point;
  }
}

void AppendRows(const ContactAnswers& answers, std::vector<FoundRow>& out) {
  AppendIds(answers, out);
  for (size_t i = 0; i < answers.contacts.size(); ++i) {
    const Contact& contact = answers.contacts[i];
    out[i].key = contact.depth;
    if (contact.point_count > 0) out[i].point = contact.points[0].point;
    out[i].normal = contact.normal;
  }
}

// Kinds that are no elementary questions.
template <class Answers>
void AppendRows(const Answers&, std::vector<FoundRow>&) {}

}  // namespace

std::vector<FoundRow> RowsOf(const Group& group, const GroupAnswers& answers) {
  std::vector<FoundRow> rows;
  ForEachKind([&](const auto& kind) {
    if ((group.*kind.columns).size() != 0) AppendRows(answers.*kind.answers, rows);
  });
  return rows;
}

}  // namespace carom::internal
