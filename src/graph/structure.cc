// Attributes read by OpenVINO's visitor. May use: base, model, OpenVINO.
#include "graph/structure.h"

#include <string_view>
#include <type_traits>
#include <vector>

#include "model/cached_attention.h"
#include "openvino/core/attribute_visitor.hpp"
#include "openvino/op/constant.hpp"

namespace ahead::graph {
namespace {

/// Values one behind the other, each as long as it says.
class Bytes {
 public:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(std::string_view value) {
    add(value.size());
    text_ += value;
  }
  void add(const std::string& value) { add(std::string_view(value)); }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Attributes final : public ov::AttributeVisitor {
 public:
  explicit Attributes(Bytes& bytes) : bytes_(bytes) {}

  /// Whether there was an attribute of a kind that is not read here.
  [[nodiscard]] bool incomplete() const { return incomplete_; }

  using ov::AttributeVisitor::on_adapter;
  void on_adapter(const std::string& name, ov::ValueAccessor<void>& adapter) override {
    if (auto* const shape = ov::as_type<ov::AttributeAdapter<ov::PartialShape>>(&adapter)) {
      bytes_.add(name);
      bytes_.add(shape->get().to_string());
    } else {
      incomplete_ = true;
    }
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<bool>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<std::int32_t>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<std::int64_t>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<std::uint64_t>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<float>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<double>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<std::string>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name,
                  ov::ValueAccessor<std::vector<std::int64_t>>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name,
                  ov::ValueAccessor<std::vector<std::uint64_t>>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name,
                  ov::ValueAccessor<std::vector<float>>& adapter) override {
    read(name, adapter);
  }
  void on_adapter(const std::string& name,
                  ov::ValueAccessor<std::vector<std::string>>& adapter) override {
    read(name, adapter);
  }

 private:
  template <typename T>
  void read(const std::string& name, ov::ValueAccessor<T>& adapter) {
    bytes_.add(name);
    bytes_.add(adapter.get());
  }

  Bytes& bytes_;
  bool incomplete_ = false;
};

/// Whether all attributes were read.
bool add_attributes(const ov::Node& node, Bytes& bytes) {
  if (const auto* constant = ov::as_type<const ov::op::v0::Constant>(&node)) {
    if (constant->get_element_type() == ov::element::string) return false;
    bytes.add(std::string_view(static_cast<const char*>(constant->get_data_ptr()),
                               constant->get_byte_size()));
    return true;
  }
  if (const auto* attention = ov::as_type<const model::CachedAttention>(&node)) {
    bytes.add(attention->attributes().shape);
    bytes.add(attention->attributes().scale);
    return true;
  }
  Attributes attributes(bytes);
  // Reading changes nothing, but the visitor could.
  return const_cast<ov::Node&>(node).visit_attributes(attributes) && !attributes.incomplete();
}

}  // namespace

std::string structure_of(const ov::Node& node) {
  Bytes bytes;
  bytes.add(std::string_view(node.get_type_info().name));
  bytes.add(std::string_view(node.get_type_info().get_version()));
  for (const auto& output : node.outputs()) {
    bytes.add(output.get_element_type().to_string());
    bytes.add(output.get_partial_shape().to_string());
  }
  if (!add_attributes(node, bytes)) bytes.add(&node);
  return bytes.take();
}

}  // namespace ahead::graph
