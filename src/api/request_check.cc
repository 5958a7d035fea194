// One check a value. May use: include.
#include "api/request_check.h"

#include <string>

#include "ahead/error.h"

namespace ahead {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::kInvalidArgument, text);
}

void check_ids(std::span<const std::int32_t> ids, std::int64_t vocabulary, const char* what) {
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      refuse("token id " + std::to_string(id) + " of the " + what +
             " is outside the model's vocabulary of " + std::to_string(vocabulary) +
             "; encode the text with this model");
    }
  }
}

}  // namespace

void check_request(const RequestCheck& request) {
  const auto prompt = static_cast<std::int64_t>(request.prompt_ids.size());
  if (prompt == 0) refuse("the prompt has no tokens; give at least one");
  if (prompt > request.last_rung) {
    refuse("the prompt has " + std::to_string(prompt) + " tokens, more than the last rung of " +
           std::to_string(request.last_rung) + "; shorten it or give a longer ladder");
  }
  if (request.config.max_new_tokens < 1) {
    refuse("max_new_tokens is " + std::to_string(request.config.max_new_tokens) +
           "; give at least 1");
  }
  check_ids(request.prompt_ids, request.vocabulary, "prompt");
  check_ids(request.config.forced_token_ids, request.vocabulary, "forced tokens");
}

SortedPrompts sort_prompts(std::span<const std::vector<std::int32_t>> prompts, std::size_t most,
                           const std::function<void(const std::vector<std::int32_t>&)>& check) {
  SortedPrompts sorted;
  for (std::size_t place = 0; place < prompts.size(); ++place) {
    RowResult& row = sorted.refused.emplace_back();
    row.prompt = static_cast<std::int64_t>(prompts[place].size());
    try {
      check(prompts[place]);
      if (sorted.prompts.size() == most) {
        refuse("a batch has " + std::to_string(most) +
               " rows at most, and this is one more; run it in another batch");
      }
    } catch (const Error& error) {
      row.finish_reason = FinishReason::kError;
      row.error = error.what();
      continue;
    }
    sorted.prompts.push_back(prompts[place]);
    sorted.places.push_back(place);
  }
  if (sorted.prompts.empty()) {
    refuse(prompts.empty()
               ? "the batch has no prompt; give at least one"
               : "no prompt of the batch can run; the first: " + sorted.refused.front().error);
  }
  return sorted;
}

}  // namespace ahead
