// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Declares the commands of `carom`, and the functions that the commands share.
//
// Each `Add…Command` function adds one command, or a group of commands, to `app`. A command that
// runs sets `exit_status` to the exit status of the process: 0 for success, 1 if a request failed
// (with a message on standard error), 3 if `scene lint` has findings. CLI11 reports a malformed
// command line; the exit status is then 2.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "carom/client.h"

namespace CLI {
class App;
class Error;
class Option;
}  // namespace CLI

namespace carom::cli {

struct SoftWalls;

// Exit statuses, as `carom --help` lists them.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;
inline constexpr int kFindings = 3;

// What an exit status means, for `--help` and the man page.
struct ExitStatus {
  int number;
  const char* meaning;
};
inline constexpr ExitStatus kExitStatuses[] = {
    {kSuccess, "Success."},
    {kFailure,
     "A request failed, with its code and field on standard error; or eval read a line "
     "that is not JSON; or an answer that load checked differs from the library's; or the file of "
     "record is damaged."},
    {kUsage, "The command line is malformed."},
    {kFindings, "scene lint has findings."},
};

void AddSceneCommands(CLI::App& app, int& exit_status);
// Adds the commands of `carom scene` that `--local FILE` asks about a file.
void AddSceneFileCommands(CLI::App& scene, int& exit_status);
void AddCastCommand(CLI::App& app, int& exit_status);
void AddQuestionCommands(CLI::App& app, int& exit_status);
void AddExplainCommand(CLI::App& app, int& exit_status);
void AddContextCommand(CLI::App& app, int& exit_status);
void AddDocumentCommands(CLI::App& app, int& exit_status);
void AddBundleCommand(CLI::App& app, int& exit_status);
void AddConvertCommand(CLI::App& app, int& exit_status);
void AddEvalCommand(CLI::App& app, int& exit_status);
void AddDemoCommand(CLI::App& app, int& exit_status);
void AddLoadCommand(CLI::App& app, int& exit_status);
void AddRecordCommand(CLI::App& app, int& exit_status);
void AddViewCommand(CLI::App& app, int& exit_status);

// Adds a paragraph to the end of the help of `command`, and to the man page.
void AddNote(CLI::App& command, const std::string& note);

// Adds an example to the end of the help of `command`. A test runs all examples in the order of
// the man page, in the folder of the project, with a server.
inline constexpr char kExample[] = "Example:\n  ";
void AddExample(CLI::App& command, const std::string& example);

// Returns the full name of a scene: `scenes/arena` for `arena` and for `scenes/arena`.
std::string FullName(std::string_view scene);

// Writes `text` to the file `path`. Returns UNKNOWN if the file cannot be written.
absl::Status WriteFile(const std::string& path, const std::string& text);

// Writes `carom: CODE: message` to standard error, all field violations of `status` if it has
// several, and after UNAVAILABLE what to do (`AdviceAbout`). Returns `kFailure`.
int Fail(const absl::Status& status);

// Reports `status`, the error of a request about `scene`, as `Fail` does. If `status` refuses the
// field `name` or `scene` of the request, writes the name of the scene in place of the field.
// Returns `kFailure`.
int FailOf(std::string_view scene, const absl::Status& status);

// Adds to `command` the required argument `name`, a coordinate that is stored in `value`. It must
// be a number that `IsAccepted` (carom/geometry.h) accepts. `description` explains the argument in
// the help.
CLI::Option* AddCoordinate(CLI::App& command, const std::string& name, double& value,
                           const std::string& description);
// Adds the options --soft-mask and --soft-count, which let a line pass soft walls.
void AddSoftWalls(CLI::App& command, SoftWalls& soft);

// Returns a line of text that explains `error`, an error of CLI11 about the command line: the
// faulty argument as the user typed it, and the command or option that the user may have meant.
std::string UsageMessage(CLI::App& app, const CLI::Error& error);

// Returns the names of the program and of the commands that the user gave, without arguments and
// options, such as `carom scene import`.
std::string CommandName(CLI::App& app);

}  // namespace carom::cli
