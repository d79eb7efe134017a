// SPDX-License-Identifier: MIT
// Tests of the replacing file: the old content or the new, never a part; and every reason to refuse a path.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/replacing_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

using dnnkit::refuse_to_replace;
using dnnkit::replacing_file;

static std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST_CASE("a new file appears with commit") {
  const temporary_folder folder;
  replacing_file out(folder / "new");
  out.write(bytes("one "));
  out.write(bytes("two"));
  CHECK(!std::filesystem::exists(folder / "new"));
  out.commit();
  CHECK(read_file(folder / "new") == "one two");
  CHECK(folder.entries() == 1);
}

TEST_CASE("an existing file stays whole until commit and keeps its permissions") {
  const temporary_folder folder;
  write_file(folder / "f", "old content");
  REQUIRE(::chmod((folder / "f").c_str(), 0640) == 0);
  {
    replacing_file given_up(folder / "f");
    given_up.write(bytes("half of"));
    CHECK(read_file(folder / "f") == "old content");
  }
  CHECK(read_file(folder / "f") == "old content");
  CHECK(folder.entries() == 1);
  replacing_file first(folder / "f");
  replacing_file out(std::move(first));
  out.write(bytes("new"));
  out.commit();
  CHECK(read_file(folder / "f") == "new");
  CHECK(folder.entries() == 1);
  struct stat status {};
  REQUIRE(::stat((folder / "f").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("two writers of one file do not disturb each other") {
  const temporary_folder folder;
  replacing_file a(folder / "f"), b(folder / "f");
  a.write(bytes("aaaa"));
  b.write(bytes("bb"));
  a.commit();
  CHECK(read_file(folder / "f") == "aaaa");
  b.commit();
  CHECK(read_file(folder / "f") == "bb");
}

TEST_CASE("a symbolic link stays one") {
  const temporary_folder folder;
  write_file(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  replacing_file out(folder / "link");
  out.write(bytes("new"));
  out.commit();
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_file(folder / "target") == "new");
}

TEST_CASE("a device is written, not replaced") {
  replacing_file out("/dev/null");
  out.write(bytes("into the void"));
  out.commit();
  CHECK(std::filesystem::is_character_file("/dev/null"));
  replacing_file full("/dev/full");
  CHECK(error_of([&] { return full.write(bytes("x")), 0; }) ==
        "/dev/full: cannot write to file (No space left on device)");
}

TEST_CASE("what cannot be written is refused by name, before anything is written") {
  const temporary_folder folder;
  const auto refusal = [&](std::string_view name) { return error_of([&] { return replacing_file(folder / name); }); };
  const std::string prefix = folder.path().string() + "/";
  CHECK(refusal("absent/f") == prefix + "absent/f: cannot write file (No such file or directory)");
  CHECK(refusal("") == prefix + ": is a directory, expected a file to write");
  write_file(folder / "plain", "x");
  CHECK(refusal("plain/f") == prefix + "plain/f: cannot write file (Not a directory)");
  CHECK(refusal(std::string(300, 'n')) == prefix + std::string(300, 'n') + ": cannot write file (File name too long)");
  CHECK(folder.entries() == 1);
  CHECK(error_of([] { return replacing_file("/proc/absent"); }) ==
        "/proc/absent: cannot write file (No such file or directory)");
  if (::geteuid() != 0) {  // the superuser may write everywhere
    std::filesystem::permissions(folder / "plain", std::filesystem::perms::owner_read);
    CHECK(refusal("plain") == prefix + "plain: cannot write file (Permission denied)");
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK(refusal("new") == prefix + "new: cannot write file (Permission denied)");
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

TEST_CASE("what would replace a file that is read is refused, by whatever links") {
  const temporary_folder folder;
  write_file(folder / "model", "x");
  write_file(folder / "other", "x");
  std::filesystem::create_symlink("model", folder / "symbolic");
  std::filesystem::create_hard_link(folder / "model", folder / "hard");
  const auto said = [&](const char* written) {
    return error_of([&] { refuse_to_replace("--output", folder / written, "the model", folder / "model"); });
  };
  for (const char* written : {"model", "./model", "symbolic", "hard"})
    CHECK(said(written) ==
          "--output: would replace the model, expected another file, found " + (folder / written).string());
  for (const char* written : {"other", "new", "absent/new"}) CHECK(said(written) == "no error");
}
