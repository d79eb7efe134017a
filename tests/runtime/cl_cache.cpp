// SPDX-License-Identifier: MIT
// Binaries on disk: kept under their hash, and never taken for whole when they are not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_cache.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using dnnkit::detail::cl_cache;
using dnnkit::detail::hash_of_bytes;

namespace {

hash_of_bytes hash_of(std::string_view text) {
  hash_of_bytes h;
  h.add(text);
  return h;
}
std::vector<std::byte> some_bytes(std::size_t n) {
  std::vector<std::byte> b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>(i * 7 + 3);
  return b;
}
struct folder {
  std::filesystem::path path = std::filesystem::path("cl_cache_test") / std::to_string(::getpid());
  folder() { std::filesystem::remove_all(path); }
  ~folder() { std::filesystem::remove_all("cl_cache_test"); }
};
std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("hashes: other bytes, other lengths and other borders between pieces are others") {
  std::set<hash_of_bytes> all;
  for (std::size_t n = 0; n < 40; ++n) {
    std::string s(n, '\0');
    all.insert(hash_of(s));
    for (std::size_t i = 0; i < n; ++i) {
      s[i] = 1;
      all.insert(hash_of(s));
      s[i] = 0;
    }
  }
  CHECK(all.size() == 40 + 39 * 40 / 2);
  hash_of_bytes a, b;
  a.add("ab");
  a.add("c");
  b.add("a");
  b.add("bc");
  CHECK(a != b);
  CHECK(hash_of("x").hexadecimal().size() == 32);
  CHECK(hash_of("x") == hash_of("x"));
}

TEST_CASE("what is written is read, under its own hash only") {
  const folder f;
  const cl_cache cache(f.path / "deep");
  CHECK(!cache.read(hash_of("a")));
  CHECK(cache.write(hash_of("a"), some_bytes(1000)));
  CHECK(cache.read(hash_of("a")) == some_bytes(1000));
  CHECK(!cache.read(hash_of("b")));
  CHECK(cache.write(hash_of("a"), some_bytes(10)));
  CHECK(cache.read(hash_of("a")) == some_bytes(10));
  CHECK(std::distance(std::filesystem::directory_iterator(f.path / "deep"), {}) == 1);  // nothing half written
  CHECK((std::filesystem::status(f.path / "deep").permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  std::filesystem::copy(cache.file(hash_of("a")), cache.file(hash_of("b")));
  CHECK(!cache.read(hash_of("b")));  // which is another's
}

TEST_CASE("every damage is seen") {
  const folder f;
  const cl_cache cache(f.path);
  CHECK(cache.write(hash_of("a"), some_bytes(100)));
  const std::string whole = text_of(cache.file(hash_of("a")));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CAPTURE(i);
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(cache.file(hash_of("a")), damaged);
    CHECK(!cache.read(hash_of("a")));
    write(cache.file(hash_of("a")), whole.substr(0, i));
    CHECK(!cache.read(hash_of("a")));
  }
  write(cache.file(hash_of("a")), whole + "x");
  CHECK(!cache.read(hash_of("a")));
  std::filesystem::remove(cache.file(hash_of("a")));
  std::filesystem::create_directory(cache.file(hash_of("a")));
  CHECK(!cache.read(hash_of("a")));
  CHECK(!cache.write(hash_of("a"), some_bytes(3)));
}

TEST_CASE("a link in the place of a file is not followed, and a pipe is not waited for") {
  const folder f;
  const cl_cache cache(f.path / "cache");
  std::filesystem::create_directories(f.path / "cache");
  write(f.path / "mine", "keep this");
  std::filesystem::create_symlink(f.path / "mine", cache.file(hash_of("a")));
  REQUIRE(::mkfifo(cache.file(hash_of("b")).c_str(), 0600) == 0);
  for (const char* key : {"a", "b"}) {
    CHECK(!cache.read(hash_of(key)));
    CHECK(cache.write(hash_of(key), some_bytes(10)));
    CHECK(is_regular_file(std::filesystem::symlink_status(cache.file(hash_of(key)))));
    CHECK(cache.read(hash_of(key)) == some_bytes(10));
  }
  CHECK(text_of(f.path / "mine") == "keep this");
}

TEST_CASE("a folder that cannot be written, and none at all") {
  const folder f;
  std::filesystem::create_directories(f.path);
  write(f.path / "file", "no folder");
  const cl_cache in_file(f.path / "file"), none({});
  for (const cl_cache* c : {&in_file, &none}) {
    CHECK(!c->write(hash_of("a"), some_bytes(3)));
    CHECK(!c->read(hash_of("a")));
  }
}

TEST_CASE("a folder of a file system that takes no files, and one that others own") {
  const folder f;
  const cl_cache nowhere("/proc/dnnkit/cache");  // where nobody makes folders
  CHECK(!nowhere.write(hash_of("a"), some_bytes(3)));
  CHECK(!nowhere.read(hash_of("a")));

  const cl_cache theirs(f.path);
  CHECK(theirs.write(hash_of("a"), some_bytes(3)));
  std::filesystem::permissions(f.path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  if (::access(f.path.c_str(), W_OK) != 0) {  // who is root may write all the same
    CHECK(!theirs.write(hash_of("b"), some_bytes(3)));
    CHECK(!theirs.read(hash_of("b")));
    CHECK(theirs.read(hash_of("a")) == some_bytes(3));
  }
  std::filesystem::permissions(f.path, std::filesystem::perms::owner_all);
}

TEST_CASE("a disk that is full: what was there stays, and nothing half written") {
  const folder f;
  const cl_cache cache(f.path);
  CHECK(cache.write(hash_of("a"), some_bytes(100)));
  rlimit of_files{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &of_files) == 0);
  const rlimit few{4096, of_files.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);  // so that it is write() that fails
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &few) == 0);
  const bool replaced = cache.write(hash_of("a"), some_bytes(10000)),
             added = cache.write(hash_of("b"), some_bytes(10000));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &of_files) == 0);
  CHECK(!replaced);
  CHECK(!added);
  CHECK(cache.read(hash_of("a")) == some_bytes(100));
  CHECK(std::distance(std::filesystem::directory_iterator(f.path), {}) == 1);
}

TEST_CASE("the folder is the environment's") {
  const auto folder_of = [] { return cl_cache::of_environment().file(hash_of("a")).parent_path(); };
  ::setenv("HOME", "/home/somebody", 1);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("DNNKIT_CACHE");
  CHECK(folder_of() == "/home/somebody/.cache/dnnkit");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(folder_of() == "/home/somebody/.cache/dnnkit");
  ::setenv("XDG_CACHE_HOME", "/var/cache/somebody", 1);
  CHECK(folder_of() == "/var/cache/somebody/dnnkit");
  ::setenv("DNNKIT_CACHE", "here", 1);
  CHECK(folder_of() == "here");
  ::setenv("DNNKIT_CACHE", "", 1);
  CHECK(!cl_cache::of_environment().write(hash_of("a"), some_bytes(3)));
}
