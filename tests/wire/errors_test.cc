// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Errors on the wire: what is sent is what arrives, it fits, and garbage does no harm.

#include "wire/errors.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "gtest/gtest.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr size_t kMaxBytes = 4096;

// One violation: field "a", description "b", of NOT_FOUND "m".
constexpr char kHandMade[] =
    "\x08\x05"                                           // code: 5
    "\x12\x01m"                                          // message: "m"
    "\x1a\x35"                                           // details: 53 bytes
    "\x0a\x29type.googleapis.com/google.rpc.BadRequest"  // type_url: 41 bytes
    "\x12\x08"                                           // value: 8 bytes
    "\x0a\x06"                                           // field_violations: 6 bytes
    "\x0a\x01"
    "a"  // field: "a"
    "\x12\x01"
    "b";  // description: "b"

std::string Bytes(const char* text, size_t size) { return std::string(text, size - 1); }

// `count` violations whose names and descriptions are as long as they may be.
absl::Status LongRefusal(int count, StatusCode code = StatusCode::kInvalidArgument) {
  Refusal refusal;
  for (int i = 0; i < count; ++i) {
    refusal.Add(absl::StrCat("polygons[", i, "]", std::string(1000, 'f')), std::string(1000, 'd'));
  }
  return refusal.status(code);
}

// google/rpc/status.proto and error_details.proto, as published, to read with.
class GoogleRpc {
 public:
  GoogleRpc() {
    google::protobuf::FileDescriptorProto any;
    google::protobuf::Any::descriptor()->file()->CopyTo(&any);
    pool_.BuildFile(any);
    google::protobuf::FileDescriptorProto duration;
    google::protobuf::Duration::descriptor()->file()->CopyTo(&duration);
    pool_.BuildFile(duration);
    file_ = pool_.BuildFile(FromText<google::protobuf::FileDescriptorProto>(R"(
      name: "rpc.proto" package: "google.rpc" syntax: "proto3"
      dependency: "google/protobuf/any.proto" dependency: "google/protobuf/duration.proto"
      message_type { name: "Status"
        field { name: "code" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
        field { name: "message" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
        field { name: "details" number: 3 type: TYPE_MESSAGE label: LABEL_REPEATED
                type_name: ".google.protobuf.Any" } }
      message_type { name: "BadRequest"
        nested_type { name: "FieldViolation"
          field { name: "field" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
          field { name: "description" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL } }
        field { name: "field_violations" number: 1 type: TYPE_MESSAGE label: LABEL_REPEATED
                type_name: ".google.rpc.BadRequest.FieldViolation" } }
      message_type { name: "RetryInfo"
        field { name: "retry_delay" number: 1 type: TYPE_MESSAGE label: LABEL_OPTIONAL
                type_name: ".google.protobuf.Duration" } })"));
  }

  // The google.rpc.Status in `bytes` as text, its details in full.
  std::string Text(const std::string& bytes) {
    const std::unique_ptr<google::protobuf::Message> message(
        factory_.GetPrototype(file_->FindMessageTypeByName("Status"))->New());
    EXPECT_TRUE(message->ParseFromString(bytes));
    std::string text;
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    printer.SetExpandAny(true);
    EXPECT_TRUE(printer.PrintToString(*message, &text));
    return text;
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::FileDescriptor* file_;
};

// --- EncodeStatus, DecodeStatus

TEST(EncodeStatus, EveryCodeTravels) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status = Refused(static_cast<StatusCode>(code), "a.b[3]", "in [0, 1]");
    v1::Status message;
    EncodeStatus(status, message);
    EXPECT_EQ(message.code(), code);
    EXPECT_EQ(DecodeStatus(Sent(message)), status);
  }
}

TEST(EncodeStatus, AStatusWithoutViolationsTravels) {
  const absl::Status status = absl::NotFoundError("no such scene");
  v1::Status message;
  EncodeStatus(LongRefusal(20), message);
  EncodeStatus(status, message);
  EXPECT_EQ(message.violations_size(), 0);
  EXPECT_EQ(DecodeStatus(Sent(message)), status);
}

TEST(EncodeStatus, ManyViolationsTravel) {
  const absl::Status status = LongRefusal(1000, StatusCode::kAlreadyExists);
  v1::Status message;
  EncodeStatus(status, message);
  EXPECT_EQ(message.violations_size(), 16);
  EXPECT_LE(message.ByteSizeLong(), kMaxBytes);
  const absl::Status arrived = DecodeStatus(Sent(message));
  EXPECT_EQ(arrived.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(Violations(arrived), Violations(status));
}

TEST(EncodeStatus, ALongMessageIsCut) {
  v1::Status message;
  EncodeStatus(absl::InternalError(std::string(100000, 'x')), message);
  EXPECT_LE(message.ByteSizeLong(), kMaxBytes);
  EXPECT_GT(message.ByteSizeLong(), kMaxBytes - 200);
}

TEST(DecodeStatus, AnUnknownCodeIsUnknown) {
  for (const int code : {-2147483647 - 1, -1, 0, 17, 2147483647}) {
    v1::Status message;
    message.set_code(code);
    message.set_message("text");
    EXPECT_EQ(DecodeStatus(message).code(), StatusCode::kUnknown) << code;
    EXPECT_EQ(DecodeStatus(message).message(), "text") << code;
  }
}

TEST(DecodeStatus, ReadsSixteenViolations) {
  v1::Status message;
  message.set_code(3);
  for (int i = 0; i < 1000; ++i) message.add_violations()->set_field(absl::StrCat(i));
  const std::vector<std::string> fields = Fields(DecodeStatus(message));
  ASSERT_THAT(fields, SizeIs(16));
  EXPECT_EQ(fields[15], "15");
}

// --- SerializeDetails, StatusFromDetails

TEST(SerializeDetails, AreTheBytesOfGoogleRpcStatus) {
  absl::Status status(StatusCode::kNotFound, "m");
  status = WithViolations(status, {{"a", "b"}});
  EXPECT_EQ(SerializeDetails(status), Bytes(kHandMade, sizeof(kHandMade)));
}

TEST(SerializeDetails, OthersReadThem) {
  absl::Status status(StatusCode::kInvalidArgument, "two violations");
  status = WithViolations(
      status, {{"polygons[3].rings[0].x[7]", "must be finite"}, {"", "the request as a whole"}});
  EXPECT_EQ(GoogleRpc().Text(SerializeDetails(status)),
            "code: 3 message: \"two violations\" details { "
            "[type.googleapis.com/google.rpc.BadRequest] { "
            "field_violations { field: \"polygons[3].rings[0].x[7]\" "
            "description: \"must be finite\" } "
            "field_violations { description: \"the request as a whole\" } } } ");
}

TEST(SerializeDetails, AreEmptyWithoutViolations) {
  EXPECT_THAT(SerializeDetails(absl::NotFoundError("no such scene")), IsEmpty());
  EXPECT_THAT(SerializeDetails(absl::OkStatus()), IsEmpty());
}

TEST(SerializeDetails, ARetryDelayTravels) {
  for (const uint64_t delay_us : {uint64_t{1}, uint64_t{999999}, uint64_t{2500000}}) {
    const absl::Status full = WithRetryDelay(absl::ResourceExhaustedError("full"), delay_us);
    v1::Status message;
    EncodeStatus(full, message);
    EXPECT_EQ(DecodeStatus(Sent(message)), full);
    EXPECT_EQ(StatusFromDetails(full.code(), full.message(), SerializeDetails(full)), full);
    const absl::Status both = WithViolations(full, {{"a", "b"}});
    EXPECT_EQ(StatusFromDetails(both.code(), both.message(), SerializeDetails(both)), both);
  }
  // A month is cut to a day, and without a delay there is none.
  const absl::Status late = WithRetryDelay(absl::ResourceExhaustedError("full"), 2592000000000);
  EXPECT_EQ(RetryDelay(StatusFromDetails(late.code(), "full", SerializeDetails(late))),
            86400000000u);
  EXPECT_EQ(RetryDelay(absl::ResourceExhaustedError("full")), 0u);
  EXPECT_EQ(RetryDelay(WithRetryDelay(late, 0)), 0u);
}

TEST(SerializeDetails, OthersReadARetryDelay) {
  EXPECT_EQ(
      GoogleRpc().Text(SerializeDetails(WithRetryDelay(absl::UnavailableError("later"), 2500000))),
      "code: 14 message: \"later\" details { "
      "[type.googleapis.com/google.rpc.RetryInfo] { "
      "retry_delay { seconds: 2 nanos: 500000000 } } } ");
}

TEST(SerializeDetails, EveryCodeTravels) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status = Refused(static_cast<StatusCode>(code), "a.b[3]", "in [0, 1]");
    EXPECT_EQ(StatusFromDetails(status.code(), status.message(), SerializeDetails(status)), status);
  }
}

TEST(SerializeDetails, AThousandLongOffencesFit) {
  const absl::Status status = LongRefusal(1000);
  const std::string details = SerializeDetails(status);
  EXPECT_LE(details.size(), kMaxBytes);
  const absl::Status arrived = StatusFromDetails(status.code(), status.message(), details);
  EXPECT_THAT(Violations(arrived), SizeIs(16));
  EXPECT_EQ(Violations(arrived), Violations(status));
  EXPECT_EQ(arrived.message(), status.message());  // which says that there were 1000
}

TEST(SerializeDetails, ALongMessageIsCut) {
  for (const int count : {1, 8, 16}) {
    const absl::Status status = WithViolations(absl::InvalidArgumentError(std::string(100000, 'm')),
                                               Violations(LongRefusal(count)));
    const std::string details = SerializeDetails(status);
    EXPECT_LE(details.size(), kMaxBytes);
    EXPECT_GT(details.size(), kMaxBytes - 100);
    EXPECT_THAT(Violations(StatusFromDetails(status.code(), "", details)), SizeIs(count));
  }
}

TEST(StatusFromDetails, ReadsHandMadeBytes) {
  const absl::Status status =
      StatusFromDetails(StatusCode::kAborted, "of the call", Bytes(kHandMade, sizeof(kHandMade)));
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(status.message(), "of the call");
  EXPECT_THAT(Violations(status), ElementsAre(Violation{"a", "b"}));
}

TEST(StatusFromDetails, OkStaysOk) {
  EXPECT_TRUE(StatusFromDetails(StatusCode::kOk, "", Bytes(kHandMade, sizeof(kHandMade))).ok());
}

TEST(StatusFromDetails, AnUnknownCodeIsUnknown) {
  EXPECT_EQ(StatusFromDetails(static_cast<StatusCode>(77), "m", ""), absl::UnknownError("m"));
}

std::string WithLength(char tag, const std::string& value) {
  EXPECT_LT(value.size(), 128u);
  return std::string(1, tag) + static_cast<char>(value.size()) + value;
}

std::string Detail(const std::string& type_url, const std::string& value) {
  return WithLength('\x1a', WithLength('\x0a', type_url) + WithLength('\x12', value));
}

std::vector<Violation> Read(const std::string& details) {
  return Violations(StatusFromDetails(StatusCode::kInvalidArgument, "m", details));
}

TEST(StatusFromDetails, FindsTheBadRequestAmongOthers) {
  const std::string bad_request =
      WithLength('\x0a', WithLength('\x0a', "f") + WithLength('\x12', "d"));
  const std::string others = Detail("type.googleapis.com/google.rpc.DebugInfo", "\x0a\x01x") +
                             Detail("type.googleapis.com/google.rpc.BadRequest", "\xff\xff") +
                             Detail("", "") + WithLength('\x1a', "not an Any") +
                             WithLength('\x22', "of another release");
  EXPECT_THAT(Read(others), IsEmpty());
  EXPECT_THAT(Read(others + Detail("another.host/google.rpc.BadRequest", bad_request)),
              ElementsAre(Violation{"f", "d"}));
}

TEST(StatusFromDetails, MembersOfAnotherTypeAreIgnored) {
  EXPECT_THAT(Read("\x18\x05"), IsEmpty());  // details: a number
  const char* url = "type.googleapis.com/google.rpc.BadRequest";
  EXPECT_THAT(Read(Detail(url, "\x08\x05")), IsEmpty());  // field_violations: a number
  EXPECT_THAT(Read(Detail(url, WithLength('\x0a', "\x08\x05\x10\x05"))),  // field: a number
              ElementsAre(Violation{"", ""}));
  EXPECT_THAT(Read(Detail(url, WithLength('\x0a', ""))), ElementsAre(Violation{"", ""}));
}

TEST(StatusFromDetails, ReadsSixteenViolations) {
  std::string details;
  for (int i = 0; i < 100; ++i) {
    details +=
        Detail("x/google.rpc.BadRequest", WithLength('\x0a', WithLength('\x0a', absl::StrCat(i))));
  }
  const std::vector<Violation> violations = Read(details);
  ASSERT_THAT(violations, SizeIs(16));
  EXPECT_EQ(violations[15].field, "15");
}

TEST(StatusFromDetails, GarbageIsIgnored) {
  const std::string hand_made = Bytes(kHandMade, sizeof(kHandMade));
  std::vector<std::string> garbage = {
      "x",
      std::string(1, '\0'),
      std::string(1000, '\xff'),
      "\x1a\xff\xff\xff\xff\x0f",                      // a length of 2^32 - 1
      "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  // a length of 2^64 - 1
      std::string(100000, '\x0b'),                     // groups in groups
      std::string(30000, '\x1b'),
      "\x1c",                                 // the end of no group
      std::string(100000, '\0') + hand_made,  // longer than is read
      std::string(65535, '\x08'),
  };
  for (size_t size = 0; size < hand_made.size(); ++size) {
    if (size == 0 || size == 2 || size == 5) continue;  // whole members
    garbage.push_back(hand_made.substr(0, size));
  }
  for (const std::string& details : garbage) {
    const absl::Status status = StatusFromDetails(StatusCode::kInvalidArgument, "m", details);
    EXPECT_EQ(status, absl::InvalidArgumentError("m")) << details.substr(0, 100);
  }
}

TEST(StatusFromDetails, RandomGarbageDoesNoHarm) {
  const std::string whole = SerializeDetails(LongRefusal(3));
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string details = whole;
    if (round % 2 == 0) details.resize(random() % (whole.size() + 1));
    for (uint64_t changes = random() % 8; changes > 0 && !details.empty(); --changes) {
      details[random() % details.size()] = static_cast<char>(random());
    }
    const absl::Status status = StatusFromDetails(StatusCode::kInvalidArgument, "m", details);
    ASSERT_EQ(status.code(), StatusCode::kInvalidArgument) << round;
    ASSERT_LE(Violations(status).size(), 16u) << round;
    v1::Status message;
    EncodeStatus(status, message);
    Sent(message);
    ASSERT_LE(message.ByteSizeLong(), kMaxBytes) << round;
  }
}

// --- Text

// A proto3 string is UTF-8: one that is not would be refused by whoever parses it.
TEST(EncodeStatus, TextIsUtf8) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain", "plain"},
      {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xb1", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xb1"},
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},  // U+10FFFF
      {"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"},
      {"\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80", "\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80"},
      {"a\x80z", "a?z"},  // a continuation alone
      {"\xc3", "?"},      // an end within a character
      {"\xe2\x82", "??"},
      {"\xf0\x9f\x8e", "???"},
      {"\xc3(", "?("},  // a character that is broken off
      {"\xe2\x82z", "??z"},
      {"\xc0\x80", "??"},  // overlong
      {"\xc1\xbf", "??"},
      {"\xe0\x9f\xbf", "???"},
      {"\xf0\x8f\xbf\xbf", "????"},
      {"\xed\xa0\x80", "???"},  // a surrogate
      {"\xed\xbf\xbf", "???"},
      {"\xf4\x90\x80\x80", "????"},  // above U+10FFFF
      {"\xf5\x80\x80\x80", "????"},
      {"\xfe\xff", "??"},
  };
  for (const auto& [text, expected] : cases) {
    v1::Status message;
    EncodeStatus(WithViolations(absl::InternalError(text), {{text, text}}), message);
    const v1::Status arrived = Sent(message);
    EXPECT_EQ(arrived.message(), expected);
    ASSERT_EQ(arrived.violations_size(), 1);
    EXPECT_EQ(arrived.violations(0).field(), expected);
    EXPECT_EQ(arrived.violations(0).description(), expected);
  }
}

TEST(SerializeDetails, TextIsUtf8) {
  const absl::Status status =
      WithViolations(absl::InternalError("m\xff"), {{"f\xff", "d\xc3\xa9"}});
  EXPECT_EQ(GoogleRpc().Text(SerializeDetails(status)),
            "code: 13 message: \"m?\" details { "
            "[type.googleapis.com/google.rpc.BadRequest] { "
            "field_violations { field: \"f?\" description: \"d\\303\\251\" } } } ");
}

TEST(EncodeStatus, TextIsNotCutWithinACharacter) {
  std::string text = "x";
  for (int i = 0; i < 5000; ++i) text += "\xe2\x82\xac";
  v1::Status message;
  EncodeStatus(WithViolations(absl::InternalError(text), {{text, text}}), message);
  const v1::Status arrived = Sent(message);
  EXPECT_LE(arrived.ByteSizeLong(), kMaxBytes);
  EXPECT_EQ(arrived.message().size() % 3, 1u);
  EXPECT_EQ(arrived.message().find('?'), std::string::npos);
}

}  // namespace
}  // namespace carom::wire
