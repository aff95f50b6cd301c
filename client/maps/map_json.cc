// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/map_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_reader.h"
#include "client/maps/counted_text.h"
#include "client/maps/import_common.h"

namespace carom {
namespace {

using nlohmann::json;

// Builds the values that a stream keeps, and hands over the elements of its arrays.
class JsonStreamHandler : public nlohmann::json_sax<json> {
 public:
  explicit JsonStreamHandler(const JsonStream& stream) : stream_(stream) {}

  bool null() override { return Value(nullptr); }
  bool boolean(bool value) override { return Value(value); }
  bool number_integer(number_integer_t value) override { return Value(value); }
  bool number_unsigned(number_unsigned_t value) override { return Value(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return Value(value);
  }
  bool string(string_t& value) override { return mode_ == Mode::kSkip || Value(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(size_t /*size*/) override { return Open(json::object()); }
  bool start_array(size_t /*size*/) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override;
  bool parse_error(size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& /*error*/) override {
    offset = position;
    token = last_token;
    return false;
  }

  json root;
  size_t offset = 0;  // where the parser stopped
  std::string token;
  bool is_too_deep = false;
  absl::Status status = absl::OkStatus();  // of `element`

 private:
  // What becomes of the member at the top that is open.
  enum class Mode { kKeep, kStream, kSkip };

  json* Place(json value);
  bool Value(json value);
  bool Open(json value);
  bool Close();
  bool HandOver();

  const JsonStream& stream_;
  Mode mode_ = Mode::kKeep;
  std::vector<json*> stack_;  // the open values that are built
  size_t depth_ = 0;          // the open values; the document is the first
  std::string key_;
  std::string array_;  // the name of the array that is handed over
  // Of the array that is handed over, and the number of its next element.
  json element_;
  size_t index_ = 0;
};

// The keys of the document decide what becomes of their values.
bool JsonStreamHandler::key(string_t& name) {
  key_ = std::move(name);
  if (depth_ != 1) return true;
  const auto is_in = [&](const std::vector<std::string_view>& names) {
    return std::find(names.begin(), names.end(), key_) != names.end();
  };
  mode_ = is_in(stream_.arrays)    ? Mode::kStream
          : is_in(stream_.members) ? Mode::kKeep
                                   : Mode::kSkip;
  return true;
}

// Adds a value to the open array or object, and returns where it is.
json* JsonStreamHandler::Place(json value) {
  if (stack_.empty()) {
    root = std::move(value);
    return &root;
  }
  return &AddValue(*stack_.back(), key_, std::move(value));
}

// Takes a number, string, boolean or null.
bool JsonStreamHandler::Value(json value) {
  if (mode_ == Mode::kSkip) return true;
  if (mode_ == Mode::kStream && depth_ == 2) {
    element_ = std::move(value);
    return HandOver();
  }
  Place(std::move(value));
  return true;
}

// Takes the begin of an array or object.
bool JsonStreamHandler::Open(json value) {
  is_too_deep = ++depth_ > kMaxDepth;
  if (is_too_deep) return false;
  // A document that is an array has no members.
  if (depth_ == 1 && value.is_array()) mode_ = Mode::kSkip;
  if (depth_ > 1 && mode_ == Mode::kSkip) return true;
  // A member that is no array is kept, for the error of the caller.
  if (mode_ == Mode::kStream && depth_ == 2 && value.is_object()) mode_ = Mode::kKeep;
  if (mode_ == Mode::kStream && depth_ == 3) {
    element_ = std::move(value);
    stack_.push_back(&element_);
    return true;
  }
  json* place = Place(std::move(value));
  if (mode_ == Mode::kStream && depth_ == 2) {
    array_ = key_;
    index_ = 0;
    return true;
  }
  stack_.push_back(place);
  return true;
}

// Takes the end of an array or object.
bool JsonStreamHandler::Close() {
  --depth_;
  if (depth_ > 0 && mode_ == Mode::kSkip) return true;
  if (depth_ == 1 && mode_ == Mode::kStream) return true;
  stack_.pop_back();
  return depth_ != 2 || mode_ != Mode::kStream || HandOver();
}

// Hands over the element that has ended; an error ends the parse.
bool JsonStreamHandler::HandOver() {
  status = stream_.element(array_, index_++, element_);
  element_ = nullptr;
  return status.ok();
}

// Returns an error with a path of another string type than that of `InvalidField`.
absl::Status InvalidMember(std::string_view path, absl::string_view description) {
  return InvalidField(absl::string_view(path.data(), path.size()), description);
}

// Returns the number of the line that contains the byte `offset`; lines count from 1.
size_t LineAt(std::string_view bytes, size_t offset) {
  const std::string_view before = bytes.substr(0, std::min(offset, bytes.size()));
  return 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace

// The parser refuses a number above the range of a double as it refuses a wrong letter.
absl::Status JsonSyntaxError(std::string_view bytes, size_t offset, std::string_view token) {
  const std::string where = absl::StrCat("line ", LineAt(bytes, offset > 0 ? offset - 1 : 0));
  const bool is_number =
      !token.empty() && (token.front() == '-' || (token.front() >= '0' && token.front() <= '9'));
  if (is_number && std::isinf(std::strtod(std::string(token).c_str(), nullptr))) {
    return InvalidMember(where, "a number above every double");
  }
  return InvalidMember(where, "not JSON");
}

// The parser keeps its own stack, so that no nesting is too deep for it.
absl::StatusOr<json> StreamMapJson(std::string_view bytes, const JsonStream& stream) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  JsonStreamHandler handler(stream);
  if (ParseCounted(bytes, stream.progress, &handler)) return std::move(handler.root);
  if (!handler.status.ok()) return handler.status;
  if (!handler.is_too_deep) return JsonSyntaxError(bytes, handler.offset, handler.token);
  return InvalidMember("", absl::StrCat("arrays and objects are nested deeper than ", kMaxDepth));
}

const json* Member(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto member = object.find(name);
  return member == object.end() || member->is_null() ? nullptr : &*member;
}

absl::StatusOr<double> NumberOf(const json& value, std::string_view path) {
  const std::optional<double> number = ReadNumber(value);
  if (!number) return InvalidMember(path, kNumberRange);
  return *number;
}

absl::StatusOr<double> NumberMember(const json& object, std::string_view name, double absent,
                                    std::string_view path) {
  const json* value = Member(object, name);
  if (value == nullptr) return absent;
  return NumberOf(*value, PathOf(path, name));
}

// Numbers such as 3.0 count as integers: some programs write all numbers so.
absl::StatusOr<int64_t> IntegerMember(const json& object, std::string_view name, int64_t absent,
                                      IntegerRange range, std::string_view path) {
  const json* value = Member(object, name);
  if (value == nullptr) return absent;
  const std::optional<double> number = ReadNumber(*value);
  if (!number || *number != std::floor(*number) || *number < static_cast<double>(range.least) ||
      *number > static_cast<double>(range.greatest)) {
    return InvalidMember(PathOf(path, name), absl::StrCat("must be an integer from ", range.least,
                                                          " to ", range.greatest));
  }
  return static_cast<int64_t>(*number);
}

// Checks both numbers before the error, which shows the form of the whole.
absl::StatusOr<Vec2> PointOf(const json& value, std::string_view path) {
  const json* x = Member(value, "x");
  const json* y = Member(value, "y");
  const std::optional<double> px = x == nullptr ? std::nullopt : ReadNumber(*x);
  const std::optional<double> py = y == nullptr ? std::nullopt : ReadNumber(*y);
  if (!px || !py) {
    return InvalidMember(path, R"(must be {"x": X, "y": Y}, numbers of at most 2^53 in magnitude)");
  }
  return Vec2{*px, *py};
}

absl::StatusOr<const json*> ArrayMember(const json& object, std::string_view name,
                                        std::string_view path) {
  const json* value = Member(object, name);
  if (value != nullptr && !value->is_array()) {
    return InvalidMember(PathOf(path, name), "must be an array");
  }
  return value;
}

std::string TextMember(const json& object, std::string_view name) {
  const json* value = Member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

bool IsTrue(const json& object, std::string_view name) {
  const json* value = Member(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

// Ids that have other letters than digits are names, not numbers.
json& AddValue(json& parent, const std::string& key, json value) {
  if (parent.is_array()) {
    parent.push_back(std::move(value));
    return parent.back();
  }
  json& member = parent[key];
  member = std::move(value);
  return member;
}

std::optional<uint64_t> IdOf(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  uint64_t id = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), id);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return id;
}

}  // namespace carom
