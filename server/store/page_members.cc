// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/page_members.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cassert>

#include "carom/store/v1/pages.pb.h"

namespace carom::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint32_t BytesTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t NumberTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_VARINT);
}

// Reads an encoded protobuf message field by field.
class Fields {
 public:
  explicit Fields(absl::string_view bytes)
      : bytes_(bytes),
        input_(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {}

  // Returns the tag (field number and wire type) of the next field; 0 at the end of the message,
  // and also for malformed bytes.
  uint32_t Next() { return input_.ReadTag(); }
  // The two `Read` functions read the value of the field whose tag `Next` returned last: a number
  // (varint), or bytes that follow their length. They return false for malformed bytes.
  bool Read(uint64_t& number) { return input_.ReadVarint64(&number); }
  bool Read(absl::string_view& bytes) {
    uint32_t size = 0;
    if (!input_.ReadVarint32(&size)) return false;
    const auto at = static_cast<size_t>(input_.CurrentPosition());
    if (size > bytes_.size() - at) return false;
    bytes = bytes_.substr(at, size);
    return input_.Skip(static_cast<int>(size));
  }
  bool Skip(uint32_t tag) { return WireFormatLite::SkipField(&input_, tag); }
  bool is_over() { return input_.ConsumedEntireMessage(); }

 private:
  const absl::string_view bytes_;
  CodedInputStream input_;
};

// Sets `number` to the value of the field with the number `field`; leaves `number` unchanged if
// `message` has no such field. Returns false if bytes of `message` before that field are malformed.
bool ReadNumber(absl::string_view message, int field, uint64_t& number) {
  Fields fields(message);
  while (const uint32_t tag = fields.Next()) {
    if (tag == NumberTag(field)) return fields.Read(number);
    if (!fields.Skip(tag)) return false;
  }
  return fields.is_over();
}

bool ReadId(absl::string_view entry, uint64_t& id) {
  Fields fields(entry);
  while (const uint32_t tag = fields.Next()) {
    if (tag == NumberTag(store::v1::LeafEntry::kIdFieldNumber)) return fields.Read(id);
    if (tag == BytesTag(store::v1::LeafEntry::kPolygonFieldNumber)) {
      absl::string_view polygon;
      return fields.Read(polygon) && ReadNumber(polygon, v1::Polygon::kIdFieldNumber, id);
    }
    if (!fields.Skip(tag)) return false;
  }
  return fields.is_over();
}

// Field number of `entries` in the protobuf message Leaf, and also of `children` in the message
// Inner.
constexpr int kMembersField = store::v1::Leaf::kEntriesFieldNumber;
static_assert(kMembersField == store::v1::Inner::kChildrenFieldNumber);

bool ReadMembers(absl::string_view content, PageMembers& page) {
  Fields fields(content);
  while (const uint32_t tag = fields.Next()) {
    if (tag != BytesTag(kMembersField)) return false;
    PageMember& member = page.members.emplace_back();
    if (!fields.Read(member.bytes)) return false;
    const bool is_read =
        page.kind == PageKind::kLeaf
            ? ReadId(member.bytes, member.id)
            : ReadNumber(member.bytes, store::v1::Child::kFirstIdFieldNumber, member.id);
    if (!is_read) return false;
  }
  return fields.is_over();
}

size_t SizeOf(absl::string_view bytes) {
  return 1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(bytes.size())) + bytes.size();
}

// Appends the tag and the length of a protobuf field to `to`. The messages of a page have only
// field numbers below 16, so a tag takes one byte.
void AppendHead(uint32_t tag, size_t size, std::string& to) {
  uint8_t head[16];
  uint8_t* const end =
      CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size), head + 1);
  head[0] = static_cast<uint8_t>(tag);
  to.append(head, end);
}

}  // namespace

absl::StatusOr<PageMembers> MembersOf(absl::string_view bytes) {
  const absl::Status none =
      absl::DataLossError("the stored scene is damaged: a page does not parse");
  PageMembers page;
  Fields fields(bytes);
  const uint32_t tag = fields.Next();
  absl::string_view content;
  if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
      !fields.Read(content) || fields.Next() != 0 || !fields.is_over()) {
    return none;
  }
  const int field = WireFormatLite::GetTagFieldNumber(tag);
  if (field < 1 || field > 3) return none;
  page.kind = static_cast<PageKind>(field);
  if (page.kind != PageKind::kChunk && !ReadMembers(content, page)) return none;
  return page;
}

std::string MakePage(PageKind kind, std::span<const PageMember> members) {
  size_t size = 0;
  for (const PageMember& member : members) size += SizeOf(member.bytes);
  std::string page;
  page.reserve(size + 8);
  AppendHead(BytesTag(static_cast<int>(kind)), size, page);
  [[maybe_unused]] const size_t end = page.size() + size;
  for (const PageMember& member : members) {
    AppendHead(BytesTag(kMembersField), member.bytes.size(), page);
    page.append(member.bytes.data(), member.bytes.size());
  }
  assert(page.size() == end);
  return page;
}

}  // namespace carom::server
