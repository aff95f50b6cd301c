// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The file of credentials: what it may say, and what is said of one that is wrong.
#include "server/access/credentials.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace carom::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of "abc" (FIPS 180-2, B.1), and of nothing.
constexpr char kHashOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kHashOfNothing[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(CredentialsTest, TokensAreFoundByTheirHashes) {
  const auto parsed = Credentials::Parse(absl::StrCat(
      "# who\n\n token ", kHashOfAbc, "\tacme writer expires=2027-01-31T00:00:00Z  # comment\r\n",
      "token ", kHashOfNothing, " other-1 reader"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Credential* const abc = parsed->FindToken("abc");
  ASSERT_NE(abc, nullptr);
  EXPECT_EQ(abc->tenant, "acme");
  EXPECT_EQ(abc->role, Role::kWriter);
  EXPECT_EQ(abc->expires, absl::FromCivil(absl::CivilDay(2027, 1, 31), absl::UTCTimeZone()));
  EXPECT_EQ(parsed->Find(abc->id)->tenant, "acme");
  EXPECT_THAT(abc->id, Not(HasSubstr("abc ")));
  EXPECT_EQ(parsed->FindToken("")->tenant, "other-1");
  EXPECT_EQ(parsed->FindToken("")->expires, absl::InfiniteFuture());
  for (const char* token : {"ab", "abcd", "ABC", "abc ", kHashOfAbc}) {
    EXPECT_EQ(parsed->FindToken(token), nullptr) << token;
  }
}

TEST(CredentialsTest, CertificatesAreFoundByAnyOfTheirNames) {
  const auto parsed =
      Credentials::Parse("certificate game.example acme admin\ncertificate Player-1 acme reader\n");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->FindCertificate({"unknown", "game.example"})->role, Role::kAdmin);
  EXPECT_EQ(parsed->FindCertificate({"Player-1", "game.example"})->role, Role::kReader);
  EXPECT_EQ(parsed->FindCertificate({"player-1"}), nullptr);
  EXPECT_EQ(parsed->FindCertificate({}), nullptr);
  // A name is no token.
  EXPECT_EQ(parsed->FindToken("Player-1"), nullptr);
}

// What is wrong may be a token in place of its hash, so nothing of a line is repeated.
TEST(CredentialsTest, ErrorsNameTheLineAndNothingOfIt) {
  const std::string hash(64, 'a');
  struct Case {
    std::string line, reason;
  };
  for (const Case& c : {
           Case{"secret", "the first word"},
           Case{"token secret", "must be followed by"},
           Case{"token secret acme reader", "64 hexadecimal digits"},
           Case{"token " + hash + "0 acme reader", "64 hexadecimal digits"},
           Case{"token " + hash + " secret! reader", "the tenant must match"},
           Case{"token " + hash + " acme secret", "reader, writer or admin"},
           Case{"token " + hash + " acme reader secret", "expires=TIME"},
           Case{"token " + hash + " acme reader expires=secret", "expires=TIME"},
           Case{"token " + hash + " acme reader expires=2027-01-31T00:00:00Z secret", "at most"},
           Case{absl::StrCat("token ", kHashOfAbc, " secret reader"), "an earlier line"},
           Case{"certificate " + std::string(256, 'n') + " secret reader", "at most 255 bytes"},
       }) {
    const absl::Status status =
        Credentials::Parse(absl::StrCat("# one\ntoken ", kHashOfAbc, " acme reader\n", c.line))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.line;
    EXPECT_THAT(std::string(status.message()), ::testing::StartsWith("line 3: ")) << c.line;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.reason));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
  }
}

TEST(CredentialsTest, SharesAreOfATenant) {
  const auto parsed =
      Credentials::Parse("tenant acme scenes=3 work=18446744073709551614\ntenant b\n");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->shares().size(), 2);
  const TenantShares& shares = parsed->shares().at("acme");
  EXPECT_EQ(shares.scenes, 3);
  EXPECT_EQ(shares.work, 18446744073709551614u);
  EXPECT_EQ(shares.bytes, TenantShares::kUnlimited);
  EXPECT_EQ(shares.streams, TenantShares::kUnlimited);
  for (const char* line :
       {"tenant", "tenant A", "tenant acme scenes", "tenant acme scenes=", "tenant acme scenes=0",
        "tenant acme scenes=-1", "tenant acme frames=1", "tenant acme scenes=1 scenes=2",
        "tenant acme bytes=1k", "tenant acme bytes=18446744073709551616"}) {
    EXPECT_FALSE(Credentials::Parse(line).ok()) << line;
  }
  EXPECT_FALSE(Credentials::Parse("tenant acme bytes=1\ntenant acme scenes=1").ok());
}

TEST(CredentialsTest, LinesAreBounded) {
  std::string text;
  for (size_t i = 0; i < Credentials::kMaxLines; ++i) {
    absl::StrAppend(&text, "certificate n", i, " acme reader\n");
  }
  EXPECT_TRUE(Credentials::Parse(text).ok());
  EXPECT_THAT(
      std::string(Credentials::Parse(text + "certificate n acme reader").status().message()),
      ::testing::StartsWith("line 4097: "));
}

}  // namespace
}  // namespace carom::server
