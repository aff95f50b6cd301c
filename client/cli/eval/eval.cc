// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/eval.h"

#include <algorithm>
#include <filesystem>
#include <istream>
#include <optional>
#include <ostream>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/cli/eval/answer_line.h"
#include "client/cli/eval/query_batch.h"
#include "client/cli/eval/query_line.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

// As soon as this many queries are pending (read and not answered), or queries with this many
// vertices, the evaluator answers them, as one frame (message). At 16 bytes per vertex such a frame
// has about 1 MiB, a quarter of a server's default message limit.
constexpr size_t kMaxQueries = 512;
constexpr size_t kMaxPendingVertices = 65536;

// Returns an error about the member `member` of a JSON line, with the code of `status`. The message
// of `status` becomes the description.
absl::Status MemberError(const char* member, const absl::Status& status) {
  return Refused(status.code(), member, status.message());
}

// The content by which a line replaces the scene: polygons from JSON, or a whole scene from a
// bundle.
using NewScene = std::variant<std::vector<Polygon>, Scene::Ptr>;

// Reads the scene files that lines {"op":"load",…} name. Keeps the last file in Carom's own form in
// memory, because consecutive lines often load scenes from one file.
class SceneFiles {
 public:
  explicit SceneFiles(const EvalOptions& options) : options_(options), root_(options.root) {}

  // Returns the scene that `line` names. Errors name the member "file" or "id".
  absl::StatusOr<NewScene> Load(const LoadLine& line) {
    const std::filesystem::path path(line.file);
    if (path.is_absolute() || std::ranges::find(path, "..") != path.end()) {
      return InvalidField("file", "must be a relative path without \"..\"");
    }
    const std::string file = (root_ / path).string();
    if (options_.reads_all) return LoadMap(file, line.id);
    const absl::Status opened = Open(file);
    if (absl::IsInvalidArgument(opened) && options_.read_map) return LoadMap(file, line.id);
    if (!opened.ok()) return MemberError("file", opened);
    const std::optional<size_t> index = file_->Find(line.id);
    if (!index) {
      return Refused(absl::StatusCode::kNotFound, "id", "the file has no scene of this id");
    }
    if (file_->bundle() != nullptr) return file_->bundle();
    absl::StatusOr<std::vector<Polygon>> polygons = file_->polygons(*index);
    if (!polygons.ok()) return MemberError("id", polygons.status());
    return *std::move(polygons);
  }

 private:
  // Reads the file `name` into `file_`, unless `file_` already has the file of this name.
  absl::Status Open(const std::string& name) {
    if (file_ && name == name_) return absl::OkStatus();
    absl::StatusOr<SceneFile> file = SceneFile::Read(name);
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    name_ = name;
    return absl::OkStatus();
  }

  absl::StatusOr<NewScene> LoadMap(const std::string& file, const std::string& id) const {
    absl::StatusOr<std::vector<Polygon>> polygons = options_.read_map(file, id);
    if (polygons.ok()) return *std::move(polygons);
    std::error_code error;
    const bool lacks_id =
        absl::IsNotFound(polygons.status()) && std::filesystem::exists(file, error);
    return MemberError(lacks_id ? "id" : "file", polygons.status());
  }

  const EvalOptions& options_;
  const std::filesystem::path root_;
  std::string name_;
  std::optional<SceneFile> file_;
};

// A run of `carom eval`. A line replaces the scene, sets the bodies (placed shapes besides the
// scene), defines a tracker (a shape with a name, which later lines move), or is a query or move. A
// query is pending from the time when its line is read until `Flush` has it answered, together with
// other queries in one frame (message). Each function that can fail returns an error only if the
// service failed.
class EvalRun {
 public:
  EvalRun(Evaluator& evaluator, const EvalOptions& options, std::ostream& out)
      : evaluator_(evaluator), files_(options), out_(out) {}

  // Handles a line. Returns false if the line is not JSON.
  absl::StatusOr<bool> HandleLine(std::string_view text) {
    std::optional<Line> line = ParseLine(text);
    if (!line) return false;
    if (!line->content.ok()) {
      pending_.push_back({std::move(line->q), line->content.status()});
    } else if (const auto* track = std::get_if<TrackLine>(&*line->content)) {
      const absl::Status tracked = Track(line->q, *track);
      if (!tracked.ok()) return tracked;
    } else if (const auto* move = std::get_if<NamedMove>(&*line->content)) {
      const auto named = handles_.find(move->tracker);
      if (named == handles_.end()) {
        pending_.push_back(
            {std::move(line->q), InvalidField("tracker", "must be defined by an earlier line")});
      } else {
        pending_.push_back({std::move(line->q), Query(MoveQuery{named->second, move->pose}), {}});
      }
    } else if (auto* query = std::get_if<Query>(&*line->content)) {
      if (line->scope.includes_bodies()) {
        const absl::Status selected = SelectBodies(line->scope.as_of.has_value());
        if (!selected.ok()) return selected;
      }
      const size_t copies =
          uses_history_ ? 0 : CopiesOfBodies(*query, line->scope, groups_with_bodies_);
      vertices_ += VertexCount(*query) + copies * bodies_.cost();
      pending_.push_back({std::move(line->q), std::move(*query), line->scope});
    } else if (auto* bodies = std::get_if<BodiesLine>(&*line->content)) {
      // Answers the pending queries first, because they are about the former bodies.
      const absl::Status flushed = Flush();
      if (!flushed.ok()) return flushed;
      bodies_ = std::move(bodies->bodies);
      has_history_ = false;
    } else if (const auto* poses = std::get_if<PosesLine>(&*line->content)) {
      const absl::Status added = AddPoses(line->q, poses->poses);
      if (!added.ok()) return added;
    } else {
      const absl::Status replaced = ReplaceScene(*line);
      if (!replaced.ok()) return replaced;
    }
    // If the pending queries fill a frame, answers them here. When no input is buffered,
    // `HandleLines` calls `Flush`, too.
    const bool full = pending_.size() >= kMaxQueries || vertices_ >= kMaxPendingVertices;
    const absl::Status flushed = full ? Flush() : absl::OkStatus();
    if (!flushed.ok()) return flushed;
    return true;
  }

  // Answers the pending queries (queries of lines that were read but not answered) in one frame,
  // and prints the answers.
  absl::Status Flush() {
    if (pending_.empty()) return absl::OkStatus();
    const auto lines = uses_history_ ? AnswerLines(pending_, evaluator_.body_history(), evaluator_)
                                     : AnswerLines(pending_, bodies_.columns(), evaluator_);
    if (!lines.ok()) return lines.status();
    for (const std::string& line : *lines) out_ << line << '\n';
    pending_.clear();
    vertices_ = 0;
    groups_with_bodies_ = 0;
    uses_history_ = false;
    has_own_bodies_ = false;
    return absl::OkStatus();
  }

 private:
  // Answers the pending queries first if they consider the bodies of the bodies line and the next
  // query those of a moment, or the other way round. Defines the history of the bodies for their
  // first moment.
  absl::Status SelectBodies(bool has_moment) {
    if (has_own_bodies_ && uses_history_ != has_moment) {
      const absl::Status flushed = Flush();
      if (!flushed.ok()) return flushed;
    }
    uses_history_ = has_moment;
    has_own_bodies_ = true;
    if (!has_moment || has_history_) return absl::OkStatus();
    const absl::Status defined = DefineHistory();
    return defined.ok() || IsRequestError(defined) ? absl::OkStatus() : defined;
  }

  // Where the bodies can have no history, moments are about one without bodies and ticks.
  absl::Status DefineHistory() {
    absl::Status status = evaluator_.DefineBodies(bodies_.definition());
    has_history_ = status.ok();
    if (!status.ok()) evaluator_.DefineBodies({}).IgnoreError();
    return status;
  }

  // Adds a tick to the history of the bodies. Answers the pending queries first, which do not know
  // the tick.
  absl::Status AddPoses(const std::string& q, const PoseTable& poses) {
    absl::Status status = Flush();
    if (!status.ok()) return status;
    if (!has_history_) status = DefineHistory();
    if (!status.ok()) {
      status = Refused(status.code(), "op", "a shape is too large for poses by tick");
    } else {
      status = PoseRowError(evaluator_.AddPoses(poses.columns()));
    }
    if (!status.ok()) pending_.push_back({q, std::move(status)});
    return absl::OkStatus();
  }

  // Defines a tracker (a shape with a name, which later lines move). If a tracker has the name
  // already, answers the pending queries first, because pending moves are moves of the former
  // tracker.
  absl::Status Track(const std::string& q, const TrackLine& line) {
    const auto [named, is_new] =
        handles_.try_emplace(line.tracker, static_cast<uint32_t>(handles_.size()));
    const absl::Status flushed = is_new ? absl::OkStatus() : Flush();
    if (!flushed.ok()) return flushed;
    absl::Status status;
    // The name of a tracker may be any number. The first valid definition with a name gives the
    // name the next handle, for the whole run, so the handles are consecutive.
    if (named->second < Evaluator::kMaxTrackers) {
      status = evaluator_.Track(named->second, line.shape);
      if (!status.ok() && !IsRequestError(status)) return status;
      if (!status.ok()) status = MemberError("rings", status);
    } else {
      status =
          Refused(absl::StatusCode::kResourceExhausted, "tracker",
                  absl::StrCat("must be one of at most ", Evaluator::kMaxTrackers, " trackers"));
    }
    if (status.ok()) return status;
    if (is_new) handles_.erase(named);
    pending_.push_back({q, std::move(status)});
    return absl::OkStatus();
  }

  // Answers the pending queries, which are about the former scene, then replaces the scene and
  // removes the bodies.
  absl::Status ReplaceScene(Line& line) {
    const absl::Status flushed = Flush();
    if (!flushed.ok()) return flushed;
    auto* scene = std::get_if<SceneLine>(&*line.content);
    absl::StatusOr<NewScene> loaded =
        scene ? std::move(scene->polygons) : files_.Load(std::get<LoadLine>(*line.content));
    absl::Status status = loaded.status();
    if (status.ok()) {
      auto* polygons = std::get_if<std::vector<Polygon>>(&*loaded);
      status = polygons != nullptr ? evaluator_.Replace(std::move(*polygons))
                                   : evaluator_.ReplaceBy(std::get<Scene::Ptr>(*loaded));
      if (!status.ok() && !IsRequestError(status)) return status;
      status = scene ? SceneLineError(status) : status.ok() ? status : MemberError("id", status);
    }
    if (status.ok()) {
      bodies_ = {};
      has_history_ = false;
    } else {
      pending_.push_back({std::move(line.q), std::move(status)});
    }
    return absl::OkStatus();
  }

  // Returns `status`, an error about the polygons of a scene line, with a field path within that
  // JSON line: `polygons[i]…` if `status` names such a field, else `polygons`.
  static absl::Status SceneLineError(const absl::Status& status) {
    const std::vector<Violation> violations = Violations(status);
    const bool names_polygons =
        !violations.empty() && absl::StartsWith(violations.front().field, "polygons");
    if (status.ok() || names_polygons) return Prefixed(status, "");
    return MemberError("polygons", status);
  }

  Evaluator& evaluator_;
  SceneFiles files_;
  std::ostream& out_;
  std::vector<Pending> pending_;
  // encoded size of `pending_`, in units of the encoded size of a vertex
  size_t vertices_ = 0;
  // bodies (placed shapes besides the scene) that pending and later queries consider
  BodyTable bodies_;
  // Most queries of `pending_` share a few groups (parts of the frame). Bit g is set if a pending
  // query has put `bodies_` into the shared group g.
  uint32_t groups_with_bodies_ = 0;
  bool has_history_ = false;     // the evaluator has a body set of `bodies_`
  bool uses_history_ = false;    // pending queries consider the body set, in place of `bodies_`
  bool has_own_bodies_ = false;  // a pending query considers bodies
  // handle of each tracker, by the number that names the tracker in the input lines
  absl::flat_hash_map<uint64_t, uint32_t> handles_;
};

// Returns whether `line` has only white space: `HandleLines` ignores such a line.
bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Handles the lines of `in` up to its end, or until `out` cannot be written. Sets `exit_status` to
// 1 if a line is not JSON. Returns an error if the service failed.
absl::Status HandleLines(EvalRun& run, std::istream& in, std::ostream& out, std::ostream& err,
                         int& exit_status) {
  std::string text;
  for (uint64_t number = 1; std::getline(in, text); ++number) {
    if (!IsBlank(text)) {
      const absl::StatusOr<bool> taken = run.HandleLine(text);
      if (!taken.ok()) return taken.status();
      if (!*taken) {
        err << "carom: line " << number << ": not JSON\n";
        exit_status = 1;
      }
    }
    // If no input is buffered, the program that writes the queries may be waiting for answers.
    if (out && in.rdbuf()->in_avail() > 0) continue;
    const absl::Status flushed = run.Flush();
    if (!flushed.ok()) return flushed;
    if (!out.flush()) break;
  }
  return run.Flush();
}

}  // namespace

int RunEval(Evaluator& evaluator, const EvalOptions& options, std::istream& in, std::ostream& out,
            std::ostream& err) {
  int exit_status = 0;
  EvalRun run(evaluator, options, out);
  absl::Status status = HandleLines(run, in, out, err, exit_status);
  // Closes the evaluator also after an error, so that a remote evaluator deletes its scene.
  status.Update(evaluator.Close());
  if (!out.flush()) status.Update(absl::AbortedError("the answers cannot be written"));
  if (status.ok()) return exit_status;
  err << "carom: " << absl::StatusCodeToString(status.code()) << ": " << status.message() << '\n';
  return 1;
}

}  // namespace carom::cli
