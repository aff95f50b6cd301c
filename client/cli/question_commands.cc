// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The commands that ask one question: overlap, nearest, sweep, slide, bounce, sight, area and
// track. Each makes a query of `carom eval`, so that its JSON is the line that `carom eval` prints.
#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/sincos.h"
#include "carom/status.h"
#include "carom/svg.h"
#include "client/cli/command.h"
#include "client/cli/eval/answer_line.h"
#include "client/cli/eval/query_batch.h"
#include "client/cli/eval/soft_walls.h"
#include "client/cli/output.h"
#include "client/cli/target.h"

namespace carom::cli {
namespace {

// The shape and the pose of a question on the command line.
struct ShapeFlags {
  double circle = -1;             // radius
  std::vector<double> box;        // width and height
  std::vector<double> capsule;    // ax, ay, bx, by and radius
  std::vector<std::string> ring;  // points "x,y"
  double angle = 0;               // radians
};

struct QuestionOptions {
  Target target;
  OutputOptions output;
  std::string svg;  // file for a picture
  ShapeFlags shape;
  double x = 0, y = 0, to_x = 0, to_y = 0;
  std::string inside;
  double skin = 0;
  uint32_t max_contacts = SlideOptions().max_contacts;
  uint32_t max_bounces = kDefaultBounces;
  uint32_t k = 0;            // of the nearest; 0: those tied at the least distance
  double max_distance = -1;  // of the k nearest; below 0: none
  SoftWalls soft;
  double range = 0;
  std::vector<double> cone;  // radians, from and to
};

// Returns the point in a text such as "3,-1.5".
absl::StatusOr<Vec2> ReadPoint(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  Vec2 point;
  if (parts.size() == 2 && absl::SimpleAtod(parts[0], &point.x) &&
      absl::SimpleAtod(parts[1], &point.y)) {
    return point;
  }
  return Refused(absl::StatusCode::kInvalidArgument, "--polygon",
                 absl::StrCat("'", text, "' is no point such as 3,-1.5"));
}

absl::StatusOr<Polygon> RingOf(std::vector<Vec2> vertices) {
  PolygonSpec spec;
  spec.rings.push_back({std::move(vertices), false});
  return Polygon::Create(std::move(spec));
}

// Returns the shape that the flags describe; a point if there is none.
absl::StatusOr<Shape> ShapeOf(const ShapeFlags& flags) {
  if (flags.circle >= 0) return Shape::Create(Capsule{{{0, 0}, {0, 0}}, flags.circle});
  if (!flags.capsule.empty()) {
    const std::vector<double>& c = flags.capsule;
    return Shape::Create(Capsule{{{c[0], c[1]}, {c[2], c[3]}}, c[4]});
  }
  std::vector<Vec2> vertices;
  if (!flags.box.empty()) {
    const double x = flags.box[0] / 2, y = flags.box[1] / 2;
    vertices = {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
  }
  for (const std::string& text : flags.ring) {
    const absl::StatusOr<Vec2> point = ReadPoint(text);
    if (!point.ok()) return point.status();
    vertices.push_back(*point);
  }
  if (vertices.empty()) vertices.push_back({0, 0});
  const absl::StatusOr<Polygon> polygon = RingOf(std::move(vertices));
  if (!polygon.ok()) return polygon.status();
  return Shape(*polygon);
}

absl::StatusOr<Pose> PoseOf(const QuestionOptions& options) {
  if (!(std::abs(options.shape.angle) <= kMaxAngle)) {
    return Refused(absl::StatusCode::kInvalidArgument, "--angle",
                   "must be a number, at most 2^20 in magnitude");
  }
  const CosSin turned = SinCos(options.shape.angle);
  return Pose{{options.x, options.y}, turned.c, turned.s};
}

// Returns the polygon of the flags at its pose; a circle or capsule is refused.
absl::StatusOr<Polygon> PlacedOf(const QuestionOptions& options) {
  if (options.shape.circle >= 0 || !options.shape.capsule.empty()) {
    return Refused(absl::StatusCode::kInvalidArgument, "--circle",
                   "is no shape for this question: --box or --polygon");
  }
  const absl::StatusOr<Shape> shape = ShapeOf(options.shape);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Pose> pose = PoseOf(options);
  if (!pose.ok()) return pose.status();
  return PlacedPolygon(*shape->polygon(), *pose);
}

absl::StatusOr<Query> OverlapOf(const QuestionOptions& options) {
  if (options.shape.circle >= 0) {
    return CircleQuery{{{options.x, options.y}, options.shape.circle}};
  }
  absl::StatusOr<Polygon> placed = PlacedOf(options);
  if (!placed.ok()) return placed.status();
  return PolygonQuery{*std::move(placed)};
}

absl::StatusOr<Query> NearestOf(const QuestionOptions& options) {
  absl::StatusOr<Polygon> placed = PlacedOf(options);
  if (!placed.ok()) return placed.status();
  if (options.k == 0) {
    if (options.max_distance < 0) return DistanceQuery{*std::move(placed)};
    return Refused(absl::StatusCode::kInvalidArgument, "--max-distance", "needs --k");
  }
  const double bound = options.max_distance < 0 ? HUGE_VAL : options.max_distance;
  return NearestQuery{*std::move(placed), options.k, bound};
}

absl::StatusOr<Query> SweepOf(const QuestionOptions& options) {
  absl::StatusOr<Shape> shape = ShapeOf(options.shape);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Pose> pose = PoseOf(options);
  if (!pose.ok()) return pose.status();
  return PosedSweepQuery{*std::move(shape),
                         *pose,
                         {options.to_x, options.to_y},
                         *SweepPolicyNamed(options.inside),
                         options.skin};
}

absl::StatusOr<Query> SlideOf(const QuestionOptions& options) {
  absl::StatusOr<Shape> shape = ShapeOf(options.shape);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Pose> pose = PoseOf(options);
  if (!pose.ok()) return pose.status();
  SlideQuery query{*std::move(shape), *pose, {{options.to_x, options.to_y}}, {}, options.skin};
  query.options.inside_policy = *SweepPolicyNamed(options.inside);
  query.options.max_contacts = options.max_contacts;
  return query;
}

absl::StatusOr<Query> BounceOf(const QuestionOptions& options) {
  return BounceQuery{{{options.x, options.y}, {options.to_x, options.to_y}}, options.max_bounces};
}

absl::StatusOr<Query> AreaOf(const QuestionOptions& options) {
  AreaQuery query{{options.x, options.y}, options.range};
  if (!options.cone.empty()) query.cone.emplace(options.cone[0], options.cone[1]);
  query.inside = *InsidePolicyNamed(options.inside);
  return query;
}

// Writes a picture of the scene with the questions of the last of `groups` that has some.
absl::Status WritePicture(const QuestionOptions& options, std::span<const Group> groups) {
  const absl::StatusOr<Scene::Ptr> scene = SceneOf(options.target);
  if (!scene.ok()) return scene.status();
  const Group* group = &groups.front();
  for (const Group& each : groups) {
    if (each.query_count() > each.points.x.size()) {
      group = &each;
      break;
    }
  }
  Group asked = *group;
  GroupAnswers answers;
  WorkMeter meter;
  const absl::Status answered = EvaluateGroup(**scene, asked, answers, meter);
  if (!answered.ok()) return answered;
  return WriteFile(options.svg, DrawSvg(**scene, &asked, &answers));
}

// Answers `query`, prints the answer and draws the picture.
int Answer(const QuestionOptions& options, absl::StatusOr<Query> query) {
  if (!query.ok()) return Fail(query.status());
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator = EvaluatorOf(options.target);
  if (!evaluator.ok()) return FailAbout(options.target, evaluator.status());
  const Pending pending{"", *std::move(query)};
  const BodyColumns no_bodies;
  const absl::StatusOr<std::vector<std::string>> lines =
      AnswerLines({&pending, 1}, no_bodies, **evaluator);
  if (!lines.ok()) return FailAbout(options.target, lines.status());
  PrintAnswer(lines->front(), options.output);
  if (options.svg.empty()) return kSuccess;
  const QueryColumns columns({&pending, 1}, no_bodies);
  const absl::Status drawn = WritePicture(options, columns.groups());
  return drawn.ok() ? kSuccess : Fail(drawn);
}

int Sight(const QuestionOptions& options) {
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator = EvaluatorOf(options.target);
  if (!evaluator.ok()) return FailAbout(options.target, evaluator.status());
  const auto column = [](const double& value) { return std::span<const double>(&value, 1); };
  Group group;
  group.sights = {column(options.x), column(options.y), column(options.to_x), column(options.to_y)};
  group.sight_options.soft_mask = options.soft.mask;
  group.sight_options.soft_count = options.soft.count;
  const absl::StatusOr<std::vector<GroupResult>> results = (*evaluator)->Evaluate({&group, 1});
  if (!results.ok()) return FailAbout(options.target, results.status());
  const GroupResult& result = results->front();
  if (!result.status.ok()) return FailAbout(options.target, result.status);
  const bool is_visible = result.answers.sights.visible.front() != 0;
  PrintAnswer(is_visible ? R"({"visible":true})" : R"({"visible":false})", options.output);
  if (options.svg.empty()) return kSuccess;
  const absl::Status drawn = WritePicture(options, {&group, 1});
  return drawn.ok() ? kSuccess : Fail(drawn);
}

// Reads poses from standard input, a line `x y`, or `x y angle`, for each, and prints what the
// shape touches at each of them.
int Track(const QuestionOptions& options) {
  absl::StatusOr<Shape> shape = ShapeOf(options.shape);
  if (!shape.ok()) return Fail(shape.status());
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator = EvaluatorOf(options.target);
  if (!evaluator.ok()) return FailAbout(options.target, evaluator.status());
  const absl::Status defined = (*evaluator)->Track(0, *std::move(shape));
  if (!defined.ok()) return Fail(defined);
  size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    QuestionOptions at = options;
    const std::vector<std::string> parts = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const bool is_read = (parts.size() == 2 || parts.size() == 3) &&
                         absl::SimpleAtod(parts[0], &at.x) && absl::SimpleAtod(parts[1], &at.y) &&
                         (parts.size() == 2 || absl::SimpleAtod(parts[2], &at.shape.angle));
    const absl::StatusOr<Pose> pose = PoseOf(at);
    if (!is_read || !pose.ok()) {
      return Fail(absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": must be `x y` or `x y angle`")));
    }
    const Pending pending{"", Query(MoveQuery{0, *pose})};
    const absl::StatusOr<std::vector<std::string>> lines =
        AnswerLines({&pending, 1}, BodyColumns(), **evaluator);
    if (!lines.ok()) return FailAbout(options.target, lines.status());
    PrintAnswer(lines->front(), options.output);
  }
  return kSuccess;
}

void AddShape(CLI::App& command, ShapeFlags& flags, bool has_circles) {
  CLI::Option_group* shape = command.add_option_group("Shape", "the shape, around (0, 0)");
  if (has_circles) {
    shape->add_option("--circle", flags.circle, "Radius of a disc")->check(CLI::NonNegativeNumber);
    shape->add_option("--capsule", flags.capsule, "AX AY BX BY R: the points within R of a segment")
        ->expected(5);
  }
  shape->add_option("--box", flags.box, "WIDTH HEIGHT of a box around its centre")->expected(2);
  shape->add_option("--polygon", flags.ring, "X,Y of each vertex, such as 0,0 4,0 4,3")
      ->expected(1, 4096);
  shape->require_option(0, 1);
  command.add_option("--angle", flags.angle, "Radians by which the shape is turned")
      ->group("Question");
}

struct QuestionCommand {
  const char* name;
  const char* help;
  const char* example;  // the arguments of an example
  // Names of the coordinates after NAME, with descriptions.
  std::span<const std::pair<const char*, const char*>> arguments;
};

CLI::App* AddQuestion(CLI::App& app, const QuestionCommand& added,
                      const std::shared_ptr<QuestionOptions>& options) {
  CLI::App* command = app.add_subcommand(added.name, added.help);
  AddTarget(*command, options->target);
  double* values[] = {&options->x, &options->y, &options->to_x, &options->to_y};
  for (size_t i = 0; i < added.arguments.size(); ++i) {
    AddCoordinate(*command, added.arguments[i].first, *values[i], added.arguments[i].second);
  }
  AddExample(*command, absl::StrCat("carom ", added.name, " --local client/examples/arena.json ",
                                    added.example));
  AddOutput(*command, options->output);
  if (!added.arguments.empty()) {  // one question, not a line for each
    command->add_option("--svg", options->svg, "SVG file for a picture of scene and answer")
        ->group("Output");
  }
  return command;
}

void AddInside(CLI::App& command, QuestionOptions& options, const char* value) {
  options.inside = value;
  command
      .add_option("--inside", options.inside,
                  "What counts for a polygon that contains the start: report, ignore, exit; or, "
                  "for shapes that only overlap blocks: blocking, blocking_leave")
      ->check(CLI::IsMember({"report", "ignore", "exit", "blocking", "blocking_leave"}))
      ->capture_default_str()
      ->group("Question");
  command.add_option("--skin", options.skin, "Gap to keep from what blocks, in world units")
      ->check(CLI::NonNegativeNumber)
      ->group("Question");
}

const std::pair<const char*, const char*> kPlace[] = {{"X", "x of the shape"},
                                                      {"Y", "y of the shape"}};
const std::pair<const char*, const char*> kMotion[] = {{"X", "x of the shape"},
                                                       {"Y", "y of the shape"},
                                                       {"DX", "x of the displacement"},
                                                       {"DY", "y of the displacement"}};
const std::pair<const char*, const char*> kEye[] = {{"X", "x of the eye, in world units"},
                                                    {"Y", "y of the eye, in world units"}};
const std::pair<const char*, const char*> kEnds[] = {{"X1", "x of the start, in world units"},
                                                     {"Y1", "y of the start, in world units"},
                                                     {"X2", "x of the end, in world units"},
                                                     {"Y2", "y of the end, in world units"}};

using MakeQuery = absl::StatusOr<Query> (*)(const QuestionOptions&);

// A command and its options, which live as long as the command.
struct Added {
  CLI::App* command;
  std::shared_ptr<QuestionOptions> options;
};

Added Add(CLI::App& app, const QuestionCommand& question, MakeQuery query, int& exit_status) {
  const auto options = std::make_shared<QuestionOptions>();
  CLI::App* command = AddQuestion(app, question, options);
  command->callback(
      [options, query, &exit_status] { exit_status = Answer(*options, query(*options)); });
  return {command, options};
}

void AddQuestionsOfShapes(CLI::App& app, int& exit_status) {
  const Added overlap =
      Add(app,
          {"overlap", "Print the polygons that a shape, or a point, touches at (X, Y)",
           "100 100 --circle 50", kPlace},
          OverlapOf, exit_status);
  AddShape(*overlap.command, overlap.options->shape, true);
  const Added nearest = Add(
      app,
      {"nearest", "Print the polygons nearest to a shape, or a point, at (X, Y)", "20 20", kPlace},
      NearestOf, exit_status);
  AddShape(*nearest.command, nearest.options->shape, false);
  nearest.command->add_option("--k", nearest.options->k, "Number of polygons, nearest first")
      ->check(CLI::Range(1, static_cast<int>(kMaxNearestK)));
  nearest.command
      ->add_option("--max-distance", nearest.options->max_distance,
                   "With --k: greatest distance of a polygon, in world units")
      ->check(CLI::NonNegativeNumber);
  const Added sweep = Add(app,
                          {"sweep", "Print what a shape hits that moves from (X, Y) by (DX, DY)",
                           "20 20 100 100 --box 4 4", kMotion},
                          SweepOf, exit_status);
  AddShape(*sweep.command, sweep.options->shape, true);
  AddInside(*sweep.command, *sweep.options, "report");
  const Added slide =
      Add(app,
          {"slide", "Print where a shape gets to that moves from (X, Y) by (DX, DY) and slides",
           "20 20 300 50 --circle 5", kMotion},
          SlideOf, exit_status);
  AddShape(*slide.command, slide.options->shape, true);
  AddInside(*slide.command, *slide.options, "blocking_leave");
  slide.command
      ->add_option("--max-contacts", slide.options->max_contacts, "Contacts after which it stops")
      ->check(CLI::Range(1, 8))
      ->capture_default_str()
      ->group("Question");
}

void AddArea(CLI::App& app, int& exit_status) {
  const Added area = Add(
      app,
      {"area", "Print which area is visible from (X, Y): the pieces of its boundary, and its size",
       "20 20 --range 150", kEye},
      AreaOf, exit_status);
  area.command
      ->add_option("--range", area.options->range, "Length of the longest sight, in world units")
      ->required();
  area.command
      ->add_option("--cone", area.options->cone,
                   "FROM TO: radians, counter-clockwise, of the directions in sight")
      ->expected(2);
  area.options->inside = "report";
  area.command
      ->add_option("--inside", area.options->inside,
                   "What counts for a polygon that contains (X, Y): report, ignore")
      ->check(CLI::IsMember({"report", "ignore"}))
      ->capture_default_str();
}

}  // namespace

void AddQuestionCommands(CLI::App& app, int& exit_status) {
  AddQuestionsOfShapes(app, exit_status);
  const Added bounce =
      Add(app,
          {"bounce", "Print the path from (X1, Y1) to (X2, Y2) with its reflections",
           "20 20 380 280", kEnds},
          BounceOf, exit_status);
  bounce.command
      ->add_option("--max-bounces", bounce.options->max_bounces,
                   "Reflections after which the path ends")
      ->check(CLI::Range(1, 16))
      ->capture_default_str()
      ->group("Question");
  const auto sight = std::make_shared<QuestionOptions>();
  CLI::App* const sights = AddQuestion(
      app, {"sight", "Print whether (X1, Y1) and (X2, Y2) see each other", "20 20 380 280", kEnds},
      sight);
  AddSoftWalls(*sights, sight->soft);
  sights->callback([sight, &exit_status] { exit_status = Sight(*sight); });
  AddArea(app, exit_status);
  const auto track = std::make_shared<QuestionOptions>();
  CLI::App* command =
      AddQuestion(app,
                  {"track",
                   "Print what a shape touches at each pose `x y [angle]` of standard input",
                   "--circle 5",
                   {}},
                  track);
  AddShape(*command, track->shape, true);
  command->callback([track, &exit_status] { exit_status = Track(*track); });
}

}  // namespace carom::cli
