// Asks AsyncDepsInfo, as a checkout has it, at random between random changes, and prints every
// answer: the file with the patch and the one without must print the same. Built by check.sh over
// standins.h. May use: std.
#include <cstdio>
#include <random>

#include "vpux/compiler/core/async_deps_info.hpp"

namespace {

using Nodes = std::vector<std::unique_ptr<mlir::Node>>;

void print(const char* what, std::size_t op, const llvm::SmallVector<std::size_t>& answer) {
  std::printf("%s %zu:", what, op);
  for (const std::size_t other : answer) std::printf(" %zu", other);
  std::printf("\n");
}

void play(unsigned seed) {
  std::mt19937 random(seed);
  Nodes nodes;
  const std::size_t begin = 5 + random() % 60;
  const auto add = [&] {
    auto node = std::make_unique<mlir::Node>();
    for (std::size_t i = 0; i < 3 && !nodes.empty(); ++i) {
      if (random() % 2 == 0) node->operands.push_back(nodes[random() % nodes.size()].get());
    }
    nodes.push_back(std::move(node));
  };
  for (std::size_t i = 0; i < begin; ++i) add();
  vpux::AsyncDepsInfo info{mlir::func::FuncOp(nodes)};
  bool consumers = false;
  std::size_t ops = nodes.size();
  for (int step = 0; step < 3000; ++step) {
    const std::size_t op = random() % ops;
    switch (random() % 60) {
      case 0:
        info.optimizeDepsMap();
        break;
      case 1:
        if (!consumers) info.buildConsMap();
        consumers = true;
        break;
      case 2:
        if (!consumers) break;  // it makes the consumers' map look built
        if (random() % 3 == 0) info.preAllocateForNewOps(random() % 4);
        add();
        ops = 1 + info.insertNewExecOpToDepsMap(mlir::async::ExecuteOp(nodes.back().get()));
        break;
      case 3:
      case 4:
      case 5: {
        const std::size_t to = random() % ops;
        if (op < to) info.addDependency(info.getExecuteOpAtIndex(op), info.getExecuteOpAtIndex(to));
        break;
      }
      case 6:
        info.updateTokenDependencies();
        for (const auto& node : nodes) std::printf("%zu ", node->dependencies.size());
        std::printf("\n");
        break;
      default:
        print("deps", op, info.getOpDeps(op));
        if (consumers) print("consumers", op, info.getConsumerOps(op));
    }
  }
}

}  // namespace

int main() {
  for (unsigned seed = 0; seed < 100; ++seed) play(seed);
  return 0;
}
