// Finding and reading what the tokenizer tests need. May use: std, OpenVINO, JSON,
// GoogleTest.
#include "tokenizer_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <openvino/frontend/gguf/tokenizer_metadata.hpp>
#include <openvino/frontend/manager.hpp>
#include <stdexcept>

namespace ahead::text {
namespace {

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string in_deps(const std::string& path) {
  return environment_or("AHEAD_DEPS_DIR", AHEAD_TEST_DEPS_DIR) + "/" + path;
}

/// The file leaves out what equals "ids".
std::vector<std::int32_t> ids_of(const nlohmann::json& entry, const char* key) {
  return entry.at(entry.contains(key) ? key : "ids").get<std::vector<std::int32_t>>();
}

std::vector<ReferenceCase> read_reference() {
  const std::string path = environment_or("AHEAD_TEST_REFERENCE", AHEAD_TEST_REFERENCE_PATH);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path + "; make it with make_reference.py");
  const nlohmann::json json = nlohmann::json::parse(file);
  std::vector<ReferenceCase> cases;
  for (const nlohmann::json& entry : json.at("cases")) {
    cases.push_back({.text = entry.at("text").get<std::string>(),
                     .ids = ids_of(entry, "ids"),
                     .decoded = entry.at("decoded").get<std::string>(),
                     .ids_gpt2 = ids_of(entry, "ids_gpt-2"),
                     .ids_qwen2 = ids_of(entry, "ids_qwen2"),
                     .ids_ir = ids_of(entry, "ids_ir"),
                     .ids_ir_unknown = ids_of(entry, "ids_ir_unknown")});
  }
  return cases;
}

ov::AnyMap read_metadata() {
  const std::string path =
      environment_or("AHEAD_TEST_GGUF", in_deps("model/SmolLM2-135M-Instruct.Q4_1.gguf"));
  if (!std::filesystem::exists(path)) {
    throw std::runtime_error(path +
                             " is missing; run scripts/setup.sh, or let AHEAD_TEST_GGUF name "
                             "SmolLM2-135M-Instruct.Q4_1.gguf");
  }
  ov::frontend::FrontEndManager manager;
  const auto frontend = manager.load_by_framework("gguf");
  const auto model = frontend->convert(frontend->load(path));
  const std::string& key = ov::frontend::gguf::gguf_tokenizer_metadata_key();
  return model->get_rt_info()
      .at(key)
      .as<std::shared_ptr<ov::frontend::gguf::GGUFTokenizerMetadata>>()
      ->config;
}

}  // namespace

const std::vector<ReferenceCase>& reference() {
  static const std::vector<ReferenceCase> kCases = read_reference();
  return kCases;
}

const ov::AnyMap& gguf_metadata() {
  static const ov::AnyMap kMetadata = read_metadata();
  return kMetadata;
}

std::filesystem::path ir_folder() {
  std::filesystem::path folder = environment_or("AHEAD_TEST_IR", in_deps("test-ir"));
  if (!std::filesystem::exists(folder / "openvino_tokenizer.xml")) {
    throw std::runtime_error(folder.string() +
                             " has no openvino_tokenizer.xml; run scripts/setup.sh, or let "
                             "AHEAD_TEST_IR name an IR folder of SmolLM2");
  }
  return folder;
}

bool ir_has_unknown_token() {
  std::ifstream file(ir_folder() / "openvino_tokenizer.xml");
  const std::string xml{std::istreambuf_iterator<char>(file), {}};
  return xml.find("unk_token=\"&lt;") != std::string::npos;
}

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error with \"" << part << '"';
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      out += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += escaped;
  }
  return out;
}

}  // namespace ahead::text
