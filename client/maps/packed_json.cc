// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/packed_json.h"

#include <bit>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/geometry.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/maps/counted_text.h"
#include "client/maps/map_json.h"

namespace carom {
namespace {

using nlohmann::json;

// The least number of elements of a list: shorter arrays, such as points, gain nothing.
constexpr size_t kLeastList = 16;

}  // namespace

// Builds a document from the events of the parser. While the innermost array has only unsigned
// 32-bit integers, they are at the end of `lists_`.
class PackedBuilder : public nlohmann::json_sax<json> {
 public:
  using Kind = PackedJson::Kind;

  explicit PackedBuilder(PackedJson& result) : result_(result) {}

  // Scalars.
  bool null() override { return Add(Kind::kNull, 0); }
  bool boolean(bool value) override { return Add(value ? Kind::kTrue : Kind::kFalse, 0); }
  bool number_integer(number_integer_t value) override {
    return Add(Kind::kNumber, std::bit_cast<uint64_t>(static_cast<double>(value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_ || value > std::numeric_limits<uint32_t>::max()) {
      return Add(Kind::kUnsigned, value);
    }
    result_.lists_.push_back(static_cast<uint32_t>(value));
    return true;
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return Add(Kind::kNumber, std::bit_cast<uint64_t>(value));
  }
  // A text is preceded by its length, in 8 bytes.
  bool string(string_t& value) override {
    const uint64_t place = result_.texts_.size();
    const uint64_t length = value.size();
    result_.texts_.append(reinterpret_cast<const char*>(&length), sizeof length);
    result_.texts_.append(value);
    return Add(Kind::kString, place);
  }
  bool binary(binary_t& /*value*/) override { return false; }
  // Arrays and objects: a node is made at the start, and completed at the end.
  bool start_object(size_t /*size*/) override { return Open(Kind::kObject); }
  bool end_object() override { return Close(); }
  bool start_array(size_t /*size*/) override {
    if (!Open(Kind::kArray)) return false;
    in_list_ = true;
    list_ = result_.lists_.size();
    result_.lists_.push_back(0);  // the length
    return true;
  }
  // An array that is still a list becomes one if it is long.
  bool end_array() override {
    const size_t count = in_list_ ? result_.lists_.size() - list_ - 1 : 0;
    if (count >= kLeastList && count <= std::numeric_limits<uint32_t>::max()) {
      result_.lists_[list_] = static_cast<uint32_t>(count);
      PackedJson::Node& node = result_.nodes_[open_.back()];
      node.kind = Kind::kList;
      node.bits = list_;
      in_list_ = false;
      open_.pop_back();
      return true;
    }
    EndList();
    return Close();
  }
  // Each name is kept once: its number stands for it in the nodes.
  bool key(string_t& name) override {
    const auto [known, is_new] =
        key_numbers_.try_emplace(name, static_cast<uint32_t>(result_.keys_.size()));
    if (is_new) result_.keys_.push_back(name);
    key_ = known->second;
    return true;
  }
  // Keeps where the parser stopped, for the message.
  bool parse_error(size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& /*error*/) override {
    offset = position;
    token = last_token;
    return false;
  }

  bool is_too_deep = false;
  size_t offset = 0;
  std::string token;

 private:
  // A value that is no small integer ends a list, so that its numbers become nodes in front of it.
  bool Add(Kind kind, uint64_t bits) {
    EndList();
    result_.nodes_.push_back({key_, kind, bits});
    return true;
  }
  // Refuses to go deeper than the readers do.
  bool Open(Kind kind) {
    Add(kind, 0);
    is_too_deep = open_.size() >= kMaxDepth;
    open_.push_back(result_.nodes_.size() - 1);
    return !is_too_deep;
  }
  bool Close() {
    const size_t node = open_.back();
    result_.nodes_[node].bits = result_.nodes_.size() - 1 - node;
    open_.pop_back();
    return true;
  }
  // Makes the numbers of the array that is open values of their own: it is no list, or too short.
  void EndList() {
    if (!in_list_) return;
    in_list_ = false;
    std::vector<uint32_t>& lists = result_.lists_;
    for (size_t i = list_ + 1; i < lists.size(); ++i) {
      result_.nodes_.push_back({0, Kind::kUnsigned, lists[i]});
    }
    lists.resize(list_);
  }

  PackedJson& result_;
  std::unordered_map<std::string, uint32_t> key_numbers_;
  std::vector<size_t> open_;  // the arrays and objects that are open
  uint32_t key_ = 0;          // of the next value
  bool in_list_ = false;      // the innermost array has only unsigned 32-bit integers so far
  size_t list_ = 0;           // where its numbers begin in `lists_`
};

PackedJson::PackedJson() : nodes_(1) {}

absl::StatusOr<PackedJson> PackedJson::Parse(std::string_view bytes, const ReadProgress* progress) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  PackedJson result;
  result.nodes_.clear();
  PackedBuilder builder(result);
  if (ParseCounted(bytes, progress, &builder)) return result;
  if (builder.is_too_deep) {
    return InvalidField("", absl::StrCat("arrays and objects are nested deeper than ", kMaxDepth));
  }
  return JsonSyntaxError(bytes, builder.offset, builder.token);
}

PackedValue PackedJson::root() const {
  return nodes_[0].kind == Kind::kNull ? PackedValue() : PackedValue(this, &nodes_[0]);
}

// Goes through all members, since the last of several with one name counts.
PackedValue PackedValue::Member(std::string_view name) const {
  PackedValue found;
  if (!is_object()) return found;
  for (const PackedValue member : *this) {
    if (member.key() == name) found = member;
  }
  return found.Is(Kind::kNull) ? PackedValue() : found;
}

// Reads both kinds of numbers, as JSON has only one.
std::optional<double> PackedValue::Number() const {
  double number = 0;
  if (Is(Kind::kUnsigned)) {
    number = static_cast<double>(node_->bits);
  } else if (Is(Kind::kNumber)) {
    number = std::bit_cast<double>(node_->bits);
  } else {
    return std::nullopt;
  }
  if (!IsAccepted(number)) return std::nullopt;
  return Normalized(number);
}

std::optional<uint64_t> PackedValue::Unsigned() const {
  if (!Is(Kind::kUnsigned)) return std::nullopt;
  return node_->bits;
}

std::optional<std::string_view> PackedValue::Text() const {
  if (!Is(Kind::kString)) return std::nullopt;
  const char* place = json_->texts_.data() + node_->bits;
  uint64_t length = 0;
  std::memcpy(&length, place, sizeof length);
  return std::string_view(place + sizeof length, length);
}

std::optional<std::span<const uint32_t>> PackedValue::Numbers(std::vector<uint32_t>& buffer) const {
  if (Is(Kind::kList)) {
    const uint32_t* list = json_->lists_.data() + node_->bits;
    return std::span<const uint32_t>(list + 1, *list);
  }
  if (!Is(Kind::kArray)) return std::nullopt;
  for (const PackedValue value : *this) {
    const std::optional<uint64_t> number = value.Unsigned();
    if (!number || *number > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    buffer.push_back(static_cast<uint32_t>(*number));
  }
  return buffer;
}

PackedValue PackedValue::Iterator::operator*() const { return {json_, &json_->nodes_[at_]}; }

// Steps over the nodes inside a value.
PackedValue::Iterator& PackedValue::Iterator::operator++() {
  const PackedJson::Node& node = json_->nodes_[at_];
  const bool has_nodes = node.kind == Kind::kArray || node.kind == Kind::kObject;
  at_ += 1 + (has_nodes ? node.bits : 0);
  return *this;
}

// A value without values inside has equal ends.
PackedValue::Iterator PackedValue::begin() const {
  const size_t node = has_nodes() ? static_cast<size_t>(node_ - json_->nodes_.data()) : 0;
  return {json_, has_nodes() ? node + 1 : 0};
}

PackedValue::Iterator PackedValue::end() const {
  const size_t node = has_nodes() ? static_cast<size_t>(node_ - json_->nodes_.data()) : 0;
  return {json_, has_nodes() ? node + 1 + node_->bits : 0};
}

}  // namespace carom
