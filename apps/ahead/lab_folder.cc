// See lab_folder.h. May use: include/ahead, base, lab, POSIX.
#include "lab_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/replace_file.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostJournal = std::size_t{1} << 30U;

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

std::string text_of_file(const std::string& path, std::size_t most) {
  std::error_code ignored;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kInvalidArgument, path_in_quotes(path) + ": " + why);
  };
  if (fs::is_directory(path, ignored)) refuse("it is a folder; give a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(reason(errno != 0 ? errno : EIO) + "; give a file that can be read");
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().size() > most) refuse("it has more than " + std::to_string(most) + " bytes");
  return text.str();
}

LabFolder::LabFolder(Options options)
    : options_(std::move(options)), path_(options_.folder + "/runs.jsonl") {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (!fs::is_directory(options_.folder)) {
    throw Error(ErrorKind::kInvalidArgument, "-o " + path_in_quotes(options_.folder) +
                                                 " cannot be made a folder: " + error.message() +
                                                 "; name another");
  }
  lock();
  read();
}

LabFolder::~LabFolder() {
  if (file_ >= 0) ::close(file_);
}

void LabFolder::lock() {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw Error(ErrorKind::kIo, path_in_quotes(path_) + " cannot be written: " + reason(errno));
  }
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    throw Error(ErrorKind::kInvalidArgument, "another process runs a campaign in " +
                                                 path_in_quotes(options_.folder) +
                                                 "; wait for it, or name another folder with -o");
  }
}

void LabFolder::read() {
  const std::string campaign = options_.folder + "/campaign.toml";
  const std::string text = text_of_file(path_, kMostJournal);
  const bool known = fs::exists(campaign);
  if (!options_.force && !text.empty()) {
    if (!options_.resume) {
      throw Error(ErrorKind::kInvalidArgument,
                  path_in_quotes(options_.folder) +
                      " has runs already; --resume goes on, --force begins anew, -o names another "
                      "folder");
    }
    if (!known || text_of_file(campaign, kMostJournal) != options_.campaign) {
      throw Error(ErrorKind::kInvalidArgument,
                  path_in_quotes(options_.folder) +
                      " has the runs of another campaign (its campaign.toml is not this one); name "
                      "another folder with -o, or begin anew with --force");
    }
    journal_ = lab::read_journal(path_, text);
  }
  was_cut_ = !options_.force && journal_.whole_bytes < text.size();
  if (::ftruncate(file_, static_cast<off_t>(journal_.whole_bytes)) != 0) {
    throw Error(ErrorKind::kIo, path_in_quotes(path_) + " cannot be written: " + reason(errno));
  }
  replace_file(campaign, options_.campaign);
}

void LabFolder::append(const std::string& line) {
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = ::write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw Error(ErrorKind::kIo, path_in_quotes(path_) + " cannot be written: " + reason(errno) +
                                      "; mend that and go on with --resume");
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file_) != 0 && errno != EINVAL) {
    throw Error(ErrorKind::kIo, path_in_quotes(path_) + " cannot be kept: " + reason(errno));
  }
}

}  // namespace ahead::cli
