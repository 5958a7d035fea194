// Stands in for what async_deps_info.{hpp,cpp} take from LLVM, MLIR and the compiler, so that these
// two files, as a checkout has them, can be built and asked without either. Only what they use, and
// only as they use it. May use: std.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace llvm {

template <typename T>
class SmallVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  // Its iterators are pointers.
  T* begin() { return this->data(); }
  T* end() { return this->data() + this->size(); }
  const T* begin() const { return this->data(); }
  const T* end() const { return this->data() + this->size(); }
};

template <typename T>
class DenseSet : public std::unordered_set<T> {
 public:
  using std::unordered_set<T>::unordered_set;
};

class BitVector {
 public:
  std::size_t size() const { return bits_.size(); }
  bool test(std::size_t at) const { return bits_.at(at); }
  void set(std::size_t at) { bits_.at(at) = true; }
  void reset(std::size_t at) { bits_.at(at) = false; }
  void reset() { bits_.assign(bits_.size(), false); }
  void resize(std::size_t size) { bits_.resize(size); }

 private:
  std::vector<bool> bits_;
};

template <typename It>
void sort(It begin, It end) {
  std::sort(begin, end);
}

}  // namespace llvm

namespace mlir {

struct MLIRContext {};
struct Location {};
struct Value;

struct StringAttr {
  std::string text;
  static StringAttr get(MLIRContext*, const char* text) { return {text}; }
};
struct APInt {
  std::uint64_t value;
  std::uint64_t getZExtValue() const { return value; }
};
struct IntegerAttr {
  std::optional<std::uint64_t> value;
  APInt getValue() const { return {*value}; }
  bool operator!=(std::nullptr_t) const { return value.has_value(); }
};

/// One node of a test's graph.
struct Node {
  std::vector<Node*> operands;
  std::optional<std::uint64_t> index;
  std::vector<Value> dependencies;
};

struct Operation;

struct Value {
  Node* node = nullptr;
  Node* getDefiningOp() const { return node; }
};

namespace async {

struct MutableDependencies {
  Node* node;
  template <typename Range>
  void assign(const Range& range) {
    node->dependencies.assign(range.begin(), range.end());
  }
};

class ExecuteOp {
 public:
  ExecuteOp() = default;
  explicit ExecuteOp(Node* node) : node_(node) {}
  const ExecuteOp* operator->() const { return this; }
  ExecuteOp* operator->() { return this; }
  MLIRContext* getContext() const { return nullptr; }
  void setAttr(const StringAttr&, const IntegerAttr& attr) { node_->index = attr.value; }
  template <typename Attr>
  Attr getAttrOfType(const StringAttr&) const {
    return {node_->index};
  }
  const char* getName() const { return "async.execute"; }
  Location getLoc() const { return {}; }
  std::vector<Value> getOperands() const {
    std::vector<Value> values;
    for (Node* operand : node_->operands) values.push_back({operand});
    return values;
  }
  Value getToken() const { return {node_}; }
  MutableDependencies getDependenciesMutable() const { return {node_}; }
  bool operator!=(std::nullptr_t) const { return node_ != nullptr; }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  Node* node_ = nullptr;
};

/// Not in a test's graph.
struct AwaitOp {
  struct Result {
    bool operator!=(std::nullptr_t) const { return false; }
    struct User {
      template <typename Op>
      void* getParentOfType() const {
        return nullptr;
      }
    };
    std::vector<User*> getUsers() const { return {}; }
  };
  Result getResult() const { return {}; }
  explicit operator bool() const { return false; }
};

}  // namespace async

struct Operation {
  Node* node;
  Location getLoc() const { return {}; }
};

template <typename To, typename From>
To dyn_cast(const From& from) {
  if constexpr (std::is_same_v<To, async::AwaitOp>) {
    return {};
  } else if constexpr (std::is_same_v<From, Operation>) {
    return To(from.node);
  } else {
    return To(from);
  }
}

namespace func {

class FuncOp {
 public:
  explicit FuncOp(std::vector<std::unique_ptr<Node>>& nodes) : nodes_(&nodes) {}
  const FuncOp* operator->() const { return this; }
  MLIRContext* getContext() const { return nullptr; }
  template <typename Op>
  std::vector<Op> getOps() const {
    std::vector<Op> ops;
    for (const auto& node : *nodes_) ops.emplace_back(node.get());
    return ops;
  }
  std::vector<Operation>& getOps() {
    all_.clear();
    for (const auto& node : *nodes_) all_.push_back({node.get()});
    return all_;
  }

 private:
  std::vector<std::unique_ptr<Node>>* nodes_;
  std::vector<Operation> all_;
};

}  // namespace func
}  // namespace mlir

namespace vpux {

using llvm::SmallVector;

class Logger {
 public:
  static Logger global() { return {}; }
  Logger nest() const { return {}; }
  Logger nest(const char*, int) const { return {}; }
  Logger unnest() const { return {}; }
  template <typename... Args>
  void trace(Args&&...) const {}
};

inline mlir::IntegerAttr getIntAttr(mlir::MLIRContext*, std::uint64_t value) { return {value}; }

template <typename To, typename From>
To checked_cast(From from) {
  return static_cast<To>(from);
}

template <typename T>
SmallVector<T> to_small_vector(const std::vector<T>& range) {
  return SmallVector<T>(range.begin(), range.end());
}

template <typename T>
struct Indexed {
  T* item;
  std::size_t at;
  T& value() const { return *item; }
  std::size_t index() const { return at; }
};
struct IndexedTag {};
inline constexpr IndexedTag indexed;
template <typename T>
std::vector<Indexed<T>> operator|(SmallVector<T>& range, IndexedTag) {
  std::vector<Indexed<T>> items;
  for (std::size_t i = 0; i < range.size(); ++i) items.push_back({&range[i], i});
  return items;
}

template <typename T>
const SmallVector<T>& ArrayRef(const SmallVector<T>& range) {
  return range;
}

}  // namespace vpux

#define VPUX_THROW_UNLESS(condition, ...) \
  if (!(condition)) throw std::runtime_error(#condition)
#define VPUX_THROW_WHEN(condition, ...) \
  if (condition) throw std::runtime_error(#condition)
