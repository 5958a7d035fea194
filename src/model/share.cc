// Every operation written out as a text; equal texts are equal operations. May use: OpenVINO.
#include "model/share.h"

#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <unordered_set>

#include "openvino/core/attribute_visitor.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Constant;

/// Constants up to here are compared by what they hold: axes, patterns, factors, and a rotation's
/// frequencies, which are half as many floats as a head is wide.
constexpr std::size_t kMostBytesCompared = 2048;

/// Writes an operation's attributes as text.
class AttributeText final : public ov::AttributeVisitor {
 public:
  explicit AttributeText(std::ostream& text) : text_(text) {}

  void on_adapter(const std::string& name, ov::ValueAccessor<void>& /*adapter*/) override {
    text_ << name << "=?;";
    complete_ = false;
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<std::string>& adapter) override {
    text_ << name << '=' << adapter.get() << ';';
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<bool>& adapter) override {
    text_ << name << '=' << adapter.get() << ';';
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<std::int64_t>& adapter) override {
    text_ << name << '=' << adapter.get() << ';';
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<double>& adapter) override {
    text_ << name << '=' << std::hexfloat << adapter.get() << ';';
  }
  void on_adapter(const std::string& name,
                  ov::ValueAccessor<std::vector<std::int64_t>>& adapter) override {
    text_ << name << '=';
    for (const std::int64_t value : adapter.get()) text_ << value << ',';
    text_ << ';';
  }

  /// Whether all attributes were of a kind that is written.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  std::ostream& text_;
  bool complete_ = true;
};

void write_source(std::ostream& text, const ov::Output<ov::Node>& source) {
  const auto* constant = ov::as_type<const Constant>(source.get_node());
  if (constant == nullptr || constant->get_byte_size() > kMostBytesCompared) {
    text << source.get_node() << ':' << source.get_index() << '|';
    return;
  }
  text << constant->get_element_type() << constant->get_shape();
  text.write(static_cast<const char*>(constant->get_data_ptr()),
             static_cast<std::streamsize>(constant->get_byte_size()));
  text << '|';
}

/// The operation and its inputs as text; empty when it cannot be told from another.
std::string text_of(ov::Node& node) {
  std::ostringstream text;
  const auto& type = node.get_type_info();
  text << type.name << ' ' << (type.version_id == nullptr ? "" : type.version_id) << '|';
  for (const auto& source : node.input_values()) write_source(text, source);
  AttributeText attributes(text);
  if (!node.visit_attributes(attributes) || !attributes.complete()) return {};
  return text.str();
}

}  // namespace

void share_repeated(const std::shared_ptr<ov::Model>& graph) {
  std::unordered_set<const ov::Node*> live;  // depends on an input
  std::map<std::string, std::shared_ptr<ov::Node>> first_of;
  for (const auto& node : graph->get_ordered_ops()) {
    bool depends = ov::is_type<ov::op::v0::Parameter>(node);
    for (const auto& source : node->input_values()) depends |= live.count(source.get_node()) != 0;
    if (depends) live.insert(node.get());
    if (!depends || ov::is_type<ov::op::v0::Parameter>(node) ||
        ov::is_type<ov::op::v0::Result>(node)) {
      continue;
    }
    const std::string text = text_of(*node);
    if (text.empty()) continue;
    const auto [found, added] = first_of.emplace(text, node);
    if (added) continue;
    for (std::size_t port = 0; port < node->get_output_size(); ++port) {
      node->output(port).replace(found->second->output(port));
    }
  }
}

}  // namespace ahead::model
