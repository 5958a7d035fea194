// Events in words. May use: base.
#include "sim/event.h"

#include <cstdio>

namespace ahead::sim {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kRequest:
      return "request";
    case EventKind::kEnd:
      return "end";
    case EventKind::kPosted:
      return "compile posted";
    case EventKind::kCompileBegin:
      return "compile begins";
    case EventKind::kCompileEnd:
      return "compile ends";
    case EventKind::kFreed:
      return "freed";
    case EventKind::kWaitBegin:
      return "wait begins";
    case EventKind::kWaitEnd:
      return "wait ends";
    case EventKind::kCall:
      return "call";
    case EventKind::kChoose:
      return "choose";
    case EventKind::kToken:
      return "token";
    case EventKind::kProgress:
      return "progress";
    case EventKind::kAllocate:
      return "allocate";
    case EventKind::kRelease:
      return "release";
    case EventKind::kStop:
      return "stop";
    case EventKind::kFault:
      return "fault";
  }
  return "";
}

std::string to_string(const Event& event) {
  char time[32];
  std::snprintf(time, sizeof time, "%14.6f ms  ", to_seconds(event.at) * 1e3);
  return std::string(time) + std::string(to_string(event.kind)) + " " + std::to_string(event.a) +
         " " + std::to_string(event.b) + " " + std::to_string(event.c);
}

}  // namespace ahead::sim
