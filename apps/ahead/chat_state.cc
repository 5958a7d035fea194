// See chat_state.h. May use: include/ahead, base, nlohmann-json.
#include "chat_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ahead/chat.h"
#include "ahead/error.h"
#include "base/utf8.h"

namespace ahead::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kUndim = "\x1b[22m";

// Of a message's content, which may come in parts.
std::string text_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const Json& part : content) text += part.value("text", std::string());
  return text;
}

}  // namespace

bool ChatState::undo() {
  const auto last = std::find_if(said_.rbegin(), said_.rend(),
                                 [](const Said& said) { return said.role == "user"; });
  if (last == said_.rend()) return false;
  said_.erase(std::prev(last.base()), said_.end());
  return true;
}

bool ChatState::drop_oldest() {
  const auto is_question = [](const Said& said) { return said.role == "user"; };
  const auto first = std::find_if(said_.begin(), said_.end(), is_question);
  if (first == said_.end()) return false;
  const auto second = std::find_if(std::next(first), said_.end(), is_question);
  if (second == said_.end()) return false;
  said_.erase(said_.begin(), second);
  return true;
}

std::size_t ChatState::questions() const {
  return static_cast<std::size_t>(std::count_if(
      said_.begin(), said_.end(), [](const Said& said) { return said.role == "user"; }));
}

std::string ChatState::messages() const {
  Json all = Json::array();
  if (!system_.empty()) all.push_back({{"role", "system"}, {"content", to_valid_utf8(system_)}});
  for (const Said& said : said_) {
    all.push_back({{"role", said.role}, {"content", to_valid_utf8(said.text)}});
  }
  return all.dump(1);
}

void ChatState::load(const std::string& name, std::string_view json) {
  const Json all = Json::parse(checked_messages(name, json));
  std::string system;
  std::vector<Said> said;
  for (const Json& message : all) {
    const auto role = message.at("role").get<std::string>();
    const std::string text = message.contains("content") ? text_of(message["content"]) : "";
    if (role == "system" && said.empty()) {
      system = text;
    } else if (role == "user" || role == "assistant") {
      said.push_back({role, text});
    } else {
      std::string what = name;
      what.append(" has a message of role '").append(role);
      what.append(
          "' in the middle, and a chat goes on from questions and answers; run it with "
          "'ahead run --messages'");
      throw Error(ErrorKind::kInvalidArgument, what);
    }
  }
  system_ = std::move(system);
  said_ = std::move(said);
}

ChatLine parse_chat_line(std::string_view line) {
  if (!line.starts_with('/')) return {.command = {}, .text = std::string(line)};
  if (line.starts_with("//")) return {.command = {}, .text = std::string(line.substr(1))};
  const std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::size_t begin = std::min(line.find_first_not_of(" \t\n", end), line.size());
  std::string text(line.substr(begin));
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return {.command = std::string(line.substr(0, end)), .text = std::move(text)};
}

std::string Thoughts::take(std::string_view piece) {
  held_ += piece;
  std::string out;
  while (true) {
    const std::string_view mark = inside_ ? kClose : kOpen;
    const std::size_t at = held_.find(mark);
    if (at != std::string::npos) {
      const std::string before = held_.substr(0, at);
      if (show_ == Show::kPlain) {
        out += before;
        out += mark;
      } else if (show_ == Show::kDimmed) {
        out += before;
        out += inside_ ? kUndim : kDim;
      } else if (!inside_) {
        out += before;
      }
      held_.erase(0, at + mark.size());
      inside_ = !inside_;
      continue;
    }
    // As much as may be the beginning of a mark.
    std::size_t keep = std::min(held_.size(), mark.size() - 1);
    while (keep > 0 && !mark.starts_with(std::string_view(held_).substr(held_.size() - keep))) {
      --keep;
    }
    const std::string text = held_.substr(0, held_.size() - keep);
    if (!inside_ || show_ != Show::kHidden) out += text;
    held_.erase(0, text.size());
    return out;
  }
}

std::string Thoughts::finish() {
  std::string out;
  if (!inside_ || show_ != Show::kHidden) out = std::exchange(held_, {});
  if (std::exchange(inside_, false) && show_ == Show::kDimmed) out += kUndim;
  held_.clear();
  return out;
}

}  // namespace ahead::cli
