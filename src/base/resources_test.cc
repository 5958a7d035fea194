// Which exceptions mean that something ran out. May use: GoogleTest.
#include "base/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace ahead {
namespace {

using ::testing::HasSubstr;

TEST(Resources, ShortagesAreToldFromTheWordsOfLibraries) {
  struct Case {
    const char* what;
    std::optional<Shortage> shortage;
  };
  for (const Case& one : {
           Case{"std::bad_alloc", Shortage::kMemory},
           Case{"Exception from src/x.cc:7:\nCannot allocate memory", Shortage::kMemory},
           Case{"OUT OF MEMORY", Shortage::kMemory},
           Case{"libx.so: failed to map segment from shared object", Shortage::kMemory},
           Case{"Resource temporarily unavailable", Shortage::kThreads},
           Case{"pthread_create has failed: 11", Shortage::kThreads},
           Case{"Too many open files", Shortage::kOpenFiles},
           Case{"Unsupported model type: mamba", std::nullopt},
           Case{"", std::nullopt},
       }) {
    EXPECT_EQ(shortage_in(std::string_view(one.what)), one.shortage) << one.what;
  }
}

TEST(Resources, ShortagesAreToldFromTypesAndCodes) {
  EXPECT_EQ(shortage_in(std::bad_alloc()), Shortage::kMemory);
  EXPECT_EQ(shortage_in(std::bad_array_new_length()), Shortage::kMemory);
  EXPECT_EQ(shortage_in(std::system_error(EAGAIN, std::generic_category())), Shortage::kThreads);
  EXPECT_EQ(shortage_in(std::system_error(ENOMEM, std::system_category())), Shortage::kMemory);
  EXPECT_EQ(shortage_in(std::system_error(EMFILE, std::generic_category())), Shortage::kOpenFiles);
  EXPECT_EQ(shortage_in(std::system_error(ENOENT, std::generic_category())), std::nullopt);
  EXPECT_EQ(shortage_in(std::runtime_error("no attention was found")), std::nullopt);
}

TEST(Resources, ARemedyNamesWhatLimitsIt) {
  EXPECT_THAT(resource_remedy(std::bad_alloc()).value_or(""), HasSubstr("ulimit -v"));
  EXPECT_THAT(resource_remedy("Resource temporarily unavailable").value_or(""),
              HasSubstr("ulimit -u"));
  EXPECT_EQ(resource_remedy("no attention was found"), std::nullopt);
}

}  // namespace
}  // namespace ahead
