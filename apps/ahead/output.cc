// See output.h. May use: include/ahead, base, POSIX.
#include "output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ahead/error.h"

namespace ahead::cli {

bool TextOutput::write(std::string_view text) {
  if (errno_ == 0 && !text.empty()) {
    errno_ = outlet_.write(text);
    line_open_ = text.back() != '\n';
  }
  return errno_ == 0;
}

void TextOutput::end_line() {
  if (line_open_) {
    (void)write("\n");
  }
}

bool TextOutput::reader_gone() const { return errno_ == EPIPE || errno_ == EBADF; }

bool TextOutput::given_up() const { return errno_ == ECANCELED; }

std::string TextOutput::error() const {
  return errno_ == 0 || reader_gone() || given_up()
             ? ""
             : "cannot write to standard output: " + std::generic_category().message(errno_);
}

void write_text(std::string_view text) {
  TextOutput out(STDOUT_FILENO);
  out.write(text);
  if (!out.error().empty()) {
    throw Error(ErrorKind::kIo, out.error());
  }
}

void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 &&  // The lowest free number is this one.
        ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) {
      (void)::open("/", O_RDONLY | O_DIRECTORY);  // takes the number, and nothing else
    }
  }
}

}  // namespace ahead::cli
