// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Explanations as text for people.

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "explain/question.h"

namespace carom {
namespace {

struct FateText {
  const char* name;
  const char* description;
};
constexpr std::array<FateText, kCandidateFateCount> kFateTexts = {{
    {"kept", "in the answer"},
    {"mask", "the mask leaves out its category"},
    {"owner", "its owner is ignored"},
    {"box", "its bounding box does not meet the segment"},
    {"hollow", "hollow polygons have no contacts"},
    {"policy", "the inside policy does not report what contains the start"},
    {"touch_only", "the shapes touch at most, and touching does not block"},
    {"apart", "it shares no point with what is asked"},
    {"far", "its exact distance is above the bound"},
    {"later", "another candidate comes before it"},
    {"limit", "the answer ends at its limit of hits before it"},
    {"passed", "it is a soft wall that the line passes"},
}};

}  // namespace

const char* Name(CandidateFate fate) { return kFateTexts[static_cast<size_t>(fate)].name; }
const char* Description(CandidateFate fate) {
  return kFateTexts[static_cast<size_t>(fate)].description;
}

const char* Name(MoveTier tier) {
  constexpr const char* kNames[] = {"quiet", "near", "refresh", "cold"};
  return kNames[static_cast<size_t>(tier)];
}

namespace internal {

std::string Text(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

std::string Text(Vec2 p) { return absl::StrCat("(", Text(p.x), ", ", Text(p.y), ")"); }

std::string Text(const Box& box) { return absl::StrCat(Text(box.min), " to ", Text(box.max)); }

std::string NameOf(bool is_body, uint64_t id) {
  return absl::StrCat(is_body ? "body " : "polygon ", id);
}

std::string OutcomeOf(const Question& question, const std::vector<FoundRow>& rows) {
  constexpr size_t kNamed = 8;
  if (rows.empty()) return "nothing";
  std::string out;
  for (size_t i = 0; i < rows.size() && i < kNamed; ++i) {
    absl::StrAppend(&out, i == 0 ? "" : "; ", NameOf(rows[i].is_body, rows[i].id));
    if (rows[i].key) absl::StrAppend(&out, ", ", question.key, " ", Text(*rows[i].key));
  }
  if (rows.size() > kNamed) absl::StrAppend(&out, "; and ", rows.size() - kNamed, " more");
  return out;
}

namespace {

std::string EdgeText(EdgeRef ref) { return absl::StrCat("(", ref.ring, ", ", ref.edge, ")"); }

// Numbers follow a sign that its filter could not decide, and one of a vertex m of a mover, which
// the text has nowhere else.
std::string SignText(const ExplainedSign& sign) {
  const char* const value = sign.sign > 0 ? "+1" : sign.sign < 0 ? "-1" : "0";
  std::string out =
      absl::StrCat(sign.predicate, " = ", value,
                   sign.by_filter ? " by filter" : ", exact: the filter could not decide");
  if (sign.by_filter && sign.predicate != "Orientation(v, w, m)") return out;
  const auto append = [](std::string* to, double number) { to->append(Text(number)); };
  absl::StrAppend(&out, ", of ", absl::StrJoin(sign.operands, ", ", append));
  return out;
}

void AppendEdge(const ExplainedEdge& edge, std::string& out) {
  absl::StrAppend(&out, "      edge ", EdgeText(edge.ref), " v ", Text(edge.edge.a), " w ",
                  Text(edge.edge.b),
                  !edge.meets   ? ""
                  : *edge.meets ? ": meets"
                                : ": does not meet",
                  "\n");
  for (const ExplainedSign& sign : edge.signs) {
    absl::StrAppend(&out, "        ", SignText(sign), "\n");
  }
}

void AppendCandidate(const ExplainedStage& stage, const ExplainedCandidate& candidate,
                     std::string& out) {
  const bool is_kept = candidate.fate == CandidateFate::kKept;
  absl::StrAppend(&out, "    ", NameOf(candidate.is_body, candidate.id),
                  is_kept ? ": kept" : absl::StrCat(": dropped by ", Name(candidate.fate)), ": ",
                  candidate.why.empty() ? Description(candidate.fate) : candidate.why);
  if (candidate.key) {
    absl::StrAppend(&out, "; alone ", stage.key, " ", Text(*candidate.key));
  }
  if (candidate.edge) absl::StrAppend(&out, " at edge ", EdgeText(*candidate.edge));
  if (candidate.exact_products != 0) {
    absl::StrAppend(&out, "; exact products: ", candidate.exact_products);
  }
  absl::StrAppend(&out, "\n");
  for (const ExplainedEdge& edge : candidate.edges) AppendEdge(edge, out);
  const uint64_t listed = candidate.edges.size();
  if (candidate.near_edges > listed) {
    absl::StrAppend(&out, "      and ", candidate.near_edges - listed, " more edges near\n");
  }
}

void AppendDecision(const ExplainedStage& stage, std::string& out) {
  const ExplainedDecision& d = *stage.decision;
  const bool is_less = d.first_key < d.second_key;
  absl::StrAppend(&out, "    decisive: ", stage.key, " ", Text(d.first_key),
                  is_less ? " < " : " = ", Text(d.second_key), ": ",
                  NameOf(d.first_is_body, d.first_id), " comes before ",
                  NameOf(d.second_is_body, d.second_id));
  if (!is_less && !d.sign) absl::StrAppend(&out, ", by the exact values, or by the ids if equal");
  absl::StrAppend(&out, "\n");
  if (d.sign) absl::StrAppend(&out, "      ", SignText(*d.sign), "\n");
}

void AppendStage(const ExplainedStage& stage, std::string& out) {
  absl::StrAppend(&out, "  ", stage.question, "\n    found: ", stage.outcome);
  if (stage.exit) absl::StrAppend(&out, "; the first passage ends at ", Text(*stage.exit));
  absl::StrAppend(&out, "\n    box ", Text(stage.reach),
                  ", candidates in it: ", stage.candidates.size() + stage.unlisted,
                  ", dropped by their boxes: ", stage.beyond_reach, "\n");
  for (const ExplainedCandidate& candidate : stage.candidates) {
    AppendCandidate(stage, candidate, out);
  }
  if (stage.unlisted != 0) {
    absl::StrAppend(&out, "    and ", stage.unlisted, " more candidates\n");
  }
  if (stage.decision) AppendDecision(stage, out);
}

void AppendMemory(const ExplainedMemory& memory, std::string& out) {
  absl::StrAppend(&out, "  the memory before the move; moves before it: ", memory.moves,
                  "\n    quiet ball: ");
  if (memory.ball_radius2 < 0) {
    absl::StrAppend(&out, "none\n");
  } else {
    absl::StrAppend(&out, "centre ", Text(memory.ball_center), ", squared radius ",
                    Text(memory.ball_radius2), "\n");
  }
  absl::StrAppend(&out, "    influence mask: ");
  if (memory.mask_radius < 0) {
    absl::StrAppend(&out, "none\n");
  } else {
    absl::StrAppend(&out, "made at ", Text(memory.mask_center), ", holds for ",
                    Text(memory.mask_radius), ", has all edges within ", Text(memory.known_radius),
                    "\n    neighbors: ", absl::StrJoin(memory.neighbors, ", "),
                    "\n    touched: ", absl::StrJoin(memory.touched, ", "), "\n");
  }
  absl::StrAppend(&out, "  the move: ", Name(memory.tier), ": ", memory.why,
                  "\n    quiet radius afterwards: ", Text(memory.quiet_radius), "\n");
}

}  // namespace

void WriteText(Explanation& explanation) {
  std::string& out = explanation.text;
  out = absl::StrCat(explanation.kind, ", version ", explanation.version, ": ");
  if (explanation.error) {
    absl::StrAppend(&out, "not answered: ", Name(explanation.error->column), " ",
                    Description(explanation.error->fault), "\n");
    return;
  }
  absl::StrAppend(&out, explanation.answer, "\n");
  if (explanation.memory) AppendMemory(*explanation.memory, out);
  for (const ExplainedStage& stage : explanation.stages) AppendStage(stage, out);
  if (explanation.unlisted_stages != 0) {
    absl::StrAppend(&out, "  and ", explanation.unlisted_stages, " more stages\n");
  }
}

}  // namespace internal
}  // namespace carom
