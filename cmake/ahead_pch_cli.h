// Precompiled for the command line's program. Nobody includes this file.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include "ahead_pch.h"
