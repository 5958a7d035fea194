// Which files are one and the same, by whatever path. May use: GoogleTest, POSIX.
#include "named_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NamedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ahead_named_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ofstream(path(name)) << name;
    return path(name);
  }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // Empty when there is nothing to refuse.
  static std::string refusal(const CommandFiles& files) {
    try {
      check_files(files);
      return {};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      return error.what();
    }
  }

  fs::path folder_;
};

// While it lives, a standard stream goes there.
class Redirected {
 public:
  Redirected(int stream, const std::string& path, int flags)
      : stream_(stream), before_(::fcntl(stream, F_DUPFD_CLOEXEC, 10)) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    ::dup2(fd, stream);
    ::close(fd);
  }
  ~Redirected() {
    ::dup2(before_, stream_);
    ::close(before_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int stream_;
  int before_;
};

TEST_F(NamedFiles, TwoPathsToOneFileAreTheSame) {
  const std::string there = file("there");
  fs::create_symlink("there", path("link"));
  fs::create_hard_link(there, path("hard"));
  fs::create_symlink(folder_, path("folder"));
  for (const char* other : {"there", "./there", "link", "hard", "folder/there"}) {
    EXPECT_EQ(identity_of(path(other)), identity_of(there)) << other;
  }
  EXPECT_NE(identity_of(file("other")), identity_of(there));
}

TEST_F(NamedFiles, TwoPathsToOneFileThatIsNotThereYetAreTheSame) {
  const std::string later = path("later");
  fs::create_symlink("later", path("link"));
  fs::create_symlink(folder_, path("folder"));
  ASSERT_TRUE(identity_of(later).has_value());
  for (const char* other : {"./later", "link", "folder/later"}) {
    EXPECT_EQ(identity_of(path(other)), identity_of(later)) << other;
  }
  EXPECT_NE(identity_of(path("latest")), identity_of(later));
  EXPECT_EQ(identity_of(path("none/of/./it")), identity_of(path("folder/none/of/it")));
  EXPECT_NE(identity_of(path("none/of/it")), identity_of(path("it")));
}

TEST_F(NamedFiles, ARelativePathIsTheFileInTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(identity_of("later"), identity_of(path("later")));
  EXPECT_EQ(identity_of("none/later"), identity_of(path("none/later")));
  fs::current_path(before);
}

TEST_F(NamedFiles, DevicesThatKeepNothingMayBeGivenOften) {
  EXPECT_EQ(identity_of("/dev/null"), std::nullopt);
  EXPECT_EQ(refusal({.inputs = {{"--prompt-file", "/dev/null"}},
                     .outputs = {{"--json", "/dev/null"}, {"--trace", "/dev/null"}},
                     .kept = {{"--history", "/dev/null"}}}),
            "");
}

TEST_F(NamedFiles, AnOutputThatIsAnotherIsRefusedByBothNames) {
  EXPECT_THAT(refusal({.outputs = {{"--json", path("r")}, {"--trace", path("./r")}}}),
              AllOf(HasSubstr("--json '"), HasSubstr("--trace '"), HasSubstr("/./r'")));
  EXPECT_THAT(refusal({.outputs = {{"--json", path("r")}}, .kept = {{"--history", path("r")}}}),
              AllOf(HasSubstr("--json '"), HasSubstr("--history '")));
  EXPECT_EQ(refusal({.outputs = {{"--json", path("r")}, {"--trace", path("s")}}}), "");
}

TEST_F(NamedFiles, AnOutputThatIsAnInputIsRefused) {
  const std::string prompt = file("p.txt");
  EXPECT_THAT(refusal({.inputs = {{"--prompt-file", prompt}}, .outputs = {{"--json", prompt}}}),
              AllOf(HasSubstr("--json '"), HasSubstr("--prompt-file '"), HasSubstr("p.txt'")));
  EXPECT_THAT(refusal({.inputs = {{"--prompt-file", prompt}}, .kept = {{"--history", prompt}}}),
              HasSubstr("--history '"));
}

TEST_F(NamedFiles, AnOutputThatIsAFileOfAModelsFolderIsRefused) {
  fs::create_directory(path("ir"));
  const std::string config = file("ir/config.json");
  CommandFiles files{.outputs = {{"--json", path("ir/./config.json")}}};
  files.read_model("MODEL", path("ir"));
  EXPECT_THAT(refusal(files), AllOf(HasSubstr("MODEL '"), HasSubstr("config.json'")));
  files.outputs = {{"--json", path("ir/new.json")}};
  EXPECT_EQ(refusal(files), "");
}

TEST_F(NamedFiles, AStreamThatIsAnInputIsRefused) {
  const std::string model = file("m.gguf");
  for (const auto& [fd, name] :
       {std::pair(STDOUT_FILENO, "standard output"), std::pair(STDERR_FILENO, "standard error")}) {
    std::string text;
    {
      const Redirected redirected(fd, model, O_WRONLY | O_APPEND);
      text = refusal({.inputs = {{"MODEL", model}}});
    }
    EXPECT_THAT(text, AllOf(HasSubstr(name), HasSubstr("MODEL '"))) << fd;
  }
}

TEST_F(NamedFiles, AnOutputThatIsStandardOutputStandsBehindTheText) {
  const std::string both = path("both");
  for (const std::string& named : {both, std::string("/dev/stdout")}) {
    fs::remove(both);
    {
      const Redirected redirected(STDOUT_FILENO, both, O_WRONLY | O_CREAT | O_TRUNC);
      CommandFiles files{.outputs = {{"--json", named}}};
      check_files(files);
      const Destination json({"--json", named});
      TextOutput out(STDOUT_FILENO);
      Outlet err(STDERR_FILENO);
      out.write("text");
      json.write("{}\n", {.out = out, .err = err});
    }
    EXPECT_EQ(contents(both), "text\n{}\n") << named;
  }
}

TEST_F(NamedFiles, AnOutputOfItsOwnIsAFile) {
  const Destination json({"--json", path("r.json")});
  TextOutput out(STDOUT_FILENO);
  Outlet err(STDERR_FILENO);
  json.write("{}\n", {.out = out, .err = err});
  EXPECT_EQ(contents(path("r.json")), "{}\n");
}

}  // namespace
}  // namespace ahead::cli
