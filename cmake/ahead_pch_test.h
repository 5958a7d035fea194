// Precompiled for the tests. Nobody includes this file.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
