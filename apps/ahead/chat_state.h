// A conversation and what is typed into it, apart from any terminal. May use: include/ahead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ahead::cli {

/// The messages so far.
class ChatState {
 public:
  explicit ChatState(std::string system) : system_(std::move(system)) {}

  void ask(std::string text) { said_.push_back({"user", std::move(text)}); }
  void answer(std::string text) { said_.push_back({"assistant", std::move(text)}); }
  /// Takes the last question back, and its answer; false when there is none.
  bool undo();
  /// Forgets everything but the system message.
  void reset() { said_.clear(); }
  void set_system(std::string text) { system_ = std::move(text); }
  /// Forgets the oldest question and its answer, but never the last question; false when there is
  /// no other.
  bool drop_oldest();

  [[nodiscard]] std::size_t questions() const;
  /// As ChatPrompt has them.
  [[nodiscard]] std::string messages() const;
  /// Takes the messages of a file (checked_messages()). Throws Error(kInvalidArgument), with
  /// nothing changed, for one that a chat cannot go on from.
  void load(const std::string& name, std::string_view json);

 private:
  struct Said {
    std::string role;
    std::string text;
  };
  std::string system_;
  std::vector<Said> said_;
};

/// A line that was typed.
struct ChatLine {
  std::string command;  ///< "/undo" and so on; empty: a message
  std::string text;     ///< the message, or what stands behind the command
};
/// A message that begins with a slash is typed with two.
[[nodiscard]] ChatLine parse_chat_line(std::string_view line);

/// Parts in which a model thinks, "<think>" to "</think>", told apart from its answer as it comes.
class Thoughts {
 public:
  enum class Show { kPlain, kDimmed, kHidden };
  explicit Thoughts(Show show) : show_(show) {}

  /// What of `piece` is to be written now: a beginning of a mark is held back until it is clear.
  [[nodiscard]] std::string take(std::string_view piece);
  /// What is still held back.
  [[nodiscard]] std::string finish();

 private:
  const Show show_;
  bool inside_ = false;
  std::string held_;
};

}  // namespace ahead::cli
