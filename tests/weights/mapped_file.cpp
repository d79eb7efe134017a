// SPDX-License-Identifier: MIT
// Tests of the mapped file: its bytes, moves, and every reason to refuse a path.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/mapped_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tests/support/error_of.hpp"
#include "tests/support/resident_memory.hpp"
#include "tests/support/temporary_folder.hpp"

using dnnkit::mapped_file;

static_assert(!std::is_copy_constructible_v<mapped_file> && !std::is_copy_assignable_v<mapped_file>);
static_assert(std::is_nothrow_move_constructible_v<mapped_file> && std::is_nothrow_move_assignable_v<mapped_file>);

static std::string_view text(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST_CASE("the bytes are those of the file and stay in place when the object moves") {
  const temporary_folder folder;
  write_file(folder / "a", std::string(10'000, 'x') + "end");
  write_file(folder / "b", "other");
  mapped_file first(folder / "a");
  CHECK(text(first) == std::string(10'000, 'x') + "end");
  const std::byte* address = first.bytes().data();
  mapped_file second(std::move(first));
  CHECK(second.bytes().data() == address);
  CHECK(first.bytes().empty());  // NOLINT(bugprone-use-after-move): a moved-from file has no bytes
  mapped_file third(folder / "b");
  third = std::move(second);
  CHECK(third.bytes().data() == address);
  CHECK(text(third).ends_with("xend"));
}

TEST_CASE("a removed file stays readable while it is mapped") {
  const temporary_folder folder;
  write_file(folder / "a", "still here");
  const mapped_file file(folder / "a");
  std::filesystem::remove(folder / "a");
  CHECK(text(file) == "still here");
}

TEST_CASE("pages that are filled by what is evicted leave memory, and nothing changes for who reads them") {
  const temporary_folder folder;
  std::string written(1 << 20, ' ');
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<char>('a' + i / 4096 % 26);
  write_file(folder / "a", written);
  const mapped_file file(folder / "a");
  CHECK(text(file) == written);
  const auto resident = [&] { return resident_bytes(folder / "a"); };
  if (resident()) CHECK(resident() == written.size());
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  file.evict(file.bytes().subspan(10 * page + 1, 2 * page - 2));  // parts of two pages
  if (resident()) CHECK(resident() == written.size());
  file.evict(file.bytes().subspan(10 * page + 1, 4 * page));  // parts of five, three of them full
  if (resident()) CHECK(resident() == written.size() - 3 * page);
  file.evict(file.bytes());
  file.evict({});
  if (resident()) CHECK(resident() == 0);
  CHECK(text(file) == written);
}

TEST_CASE("what is not the file's is not evicted") {
  const temporary_folder folder;
  write_file(folder / "a", std::string(100'000, 'a'));
  write_file(folder / "b", std::string(100'000, 'b'));
  const mapped_file a(folder / "a"), b(folder / "b");
  const std::string memory(100'000, 'm');
  CHECK((std::ranges::count(text(a), 'a') == 100'000 && std::ranges::count(text(b), 'b') == 100'000));
  a.evict(b.bytes());
  a.evict(std::as_bytes(std::span(memory)));
  a.evict({a.bytes().data() - 1, 100'000});
  a.evict({a.bytes().data() + 1, 100'000});
  CHECK(std::ranges::count(memory, 'm') == 100'000);
  if (const auto resident = resident_bytes(folder / "b")) CHECK(*resident >= 100'000);
  if (const auto resident = resident_bytes(folder / "a")) CHECK(*resident >= 100'000);
}

TEST_CASE("what cannot be mapped is refused by name") {
  const temporary_folder folder;
  const auto refusal = [&](std::string_view name) { return error_of([&] { return mapped_file(folder / name); }); };
  const std::string prefix = folder.path().string() + "/";
  CHECK(refusal("absent") == prefix + "absent: cannot open file (No such file or directory)");
  write_file(folder / "plain", "x");
  CHECK(refusal("plain/below") == prefix + "plain/below: cannot open file (Not a directory)");
  std::filesystem::create_directory(folder / "folder");
  CHECK(refusal("folder") == prefix + "folder: is a directory, expected a file");
  write_file(folder / "empty", "");
  CHECK(refusal("empty") == prefix + "empty: file is empty");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(refusal("pipe") == prefix + "pipe: is not a regular file");
  if (::geteuid() != 0) {  // the superuser may read everything
    std::filesystem::permissions(folder / "plain", std::filesystem::perms::none);
    CHECK(refusal("plain") == prefix + "plain: cannot open file (Permission denied)");
  }
}
