// SentencePiece's BPE: pieces by score, bytes where there is none. May use: base.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ahead::text {

/// Makes tokens of texts and back, as GGUF files with tokenizer.ggml.model "llama" have them (Kudo
/// and Richardson, "SentencePiece", 2018; llama.cpp's src/llama-vocab.cpp). Immutable once built;
/// every call is thread-safe.
class SpmEncoder {
 public:
  enum class Kind {
    kNormal,
    kUnknown,      ///< stands for what cannot be spelled; written out it is recognised
    kControl,      ///< has no text; written out it is recognised
    kUserDefined,  ///< recognised before any merging
    kUnused,
    kByte,  ///< "<0x0A>"
  };
  struct Token {
    std::string text;  ///< UTF-8, with U+2581 for a space
    float score = 0;   ///< of two merges the higher comes first
    Kind kind = Kind::kNormal;
  };
  struct Options {
    std::vector<Token> tokens;  ///< a token's id is its index
    /// A space is put in front of a text, and behind every control token that is written out.
    bool space_in_front = true;
  };
  /// Throws Error(kInvalidModel) where bytes have no tokens and there is no unknown one either.
  explicit SpmEncoder(Options options);
  SpmEncoder(const SpmEncoder&) = delete;  // tables refer to the options
  SpmEncoder& operator=(const SpmEncoder&) = delete;

  /// Ids of `text`, valid UTF-8. Takes n log n.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;

  /// Bytes of `ids`, without the space that was put in front of the text; may end inside a
  /// character.
  [[nodiscard]] std::string decode(const std::int32_t* ids, std::size_t count) const;

 private:
  /// Tokens that are recognised where they are written out.
  struct WrittenOut {
    std::unordered_map<std::string_view, std::int32_t> ids;
    /// By first byte: lengths that there are, the longest first. A vocabulary may have thousands of
    /// such tokens that all begin with "<".
    std::vector<std::vector<std::size_t>> lengths = std::vector<std::vector<std::size_t>>(256);

    void add(std::string_view text, std::int32_t id);
    /// The longest at the beginning of `text`, which is not empty; -1: none.
    [[nodiscard]] std::int32_t at(std::string_view text) const;
  };
  void encode_words(std::string_view text, bool front, std::vector<std::int32_t>& ids) const;
  void merge(std::string_view text, std::vector<std::int32_t>& ids) const;
  void spell(std::string_view text, std::vector<std::int32_t>& ids) const;
  [[nodiscard]] std::string text_of(std::int32_t id) const;

  Options options_;
  std::unordered_map<std::string_view, std::int32_t> pieces_;  ///< that merging makes
  std::vector<std::int32_t> bytes_;                            ///< a token each; -1: there is none
  std::int32_t unknown_ = -1;
  WrittenOut special_;
  WrittenOut user_defined_;  ///< looked for once spaces are written as U+2581
};

}  // namespace ahead::text
