# A room is one static library of src/<room>/ plus the test programs of the x_test.cc beside it.

# ahead_room(NAME SOURCES a.cc... [TESTS a_test.cc...] [THREAD_TESTS b_test.cc...] [USES targets...]
#            [TEST_USES targets...] [OPENVINO])
# OPENVINO: it sees OpenVINO, and so do its tests, whose label is then openvino. THREAD_TESTS have
# threads: a program of their own, the only one that ThreadSanitizer runs.
function(ahead_room name)
  cmake_parse_arguments(ROOM "OPENVINO" "" "SOURCES;TESTS;THREAD_TESTS;TEST_USES;USES" ${ARGN})
  set(label unit)
  set(headers ahead_pch)
  if(ROOM_OPENVINO)
    set(label openvino)
    set(headers ahead_pch_openvino)
  endif()
  add_library(ahead_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(ahead_${name} PUBLIC "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(ahead_${name} PUBLIC ${ROOM_USES})
  ahead_only_what_tests_need(ahead_${name})
  ahead_precompiled(ahead_${name} ${headers})
  if(ROOM_TESTS)
    ahead_test(test_${name} LABEL ${label} SOURCES ${ROOM_TESTS}
      USES ahead_${name} ${ROOM_TEST_USES})
  endif()
  if(ROOM_THREAD_TESTS)
    ahead_test(test_${name}_threads THREADS LABEL ${label} SOURCES ${ROOM_THREAD_TESTS}
      USES ahead_${name} ${ROOM_TEST_USES})
  endif()
endfunction()

# ahead_test(NAME SOURCES ... USES ... [LABEL unit|sim|openvino|npu-compiler] [THREADS])
# One ctest entry a program: a process takes longer to begin than most cases to run. Unit tests run
# in an order that is drawn anew each time, so that none leans on the one before; GoogleTest prints
# the seed, which `--gtest_shuffle --gtest_random_seed=N` takes.
# Under ThreadSanitizer only programs with THREADS exist: it finds nothing where there are none.
function(ahead_test name)
  cmake_parse_arguments(TEST "THREADS" "LABEL" "SOURCES;USES" ${ARGN})
  if(AHEAD_SANITIZE STREQUAL "thread" AND NOT TEST_THREADS)
    return()
  endif()
  if(NOT TEST_LABEL)
    set(TEST_LABEL unit)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_USES} GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
  # Compiling the tests would take most of the time; what they test keeps its optimising.
  target_compile_options(${name} PRIVATE -O0 ${AHEAD_SANITIZE_TESTS})
  if(TEST_LABEL STREQUAL "openvino" OR TEST_LABEL STREQUAL "npu-compiler")
    ahead_precompiled(${name} ahead_pch_test_openvino)
  else()
    ahead_precompiled(${name} ahead_pch_test)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT 600
    ENVIRONMENT "AHEAD_DEPS_DIR=${AHEAD_DEPS_DIR}")
  if(TEST_LABEL STREQUAL "unit")
    set_tests_properties(${name} PROPERTIES TIMEOUT 120
      ENVIRONMENT "AHEAD_DEPS_DIR=${AHEAD_DEPS_DIR};GTEST_SHUFFLE=1")
  endif()
endfunction()

# A sanitizer's build leaves out what none of its tests links.
function(ahead_only_what_tests_need target)
  if(AHEAD_SANITIZE)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# ahead_precompiled(TARGET HEADERS): TARGET reads what stands in the file cmake/HEADERS.h from the
# compiler's memory, where AHEAD_PCH is on. Sources still include what they use: the sanitizers'
# builds have nothing precompiled but what tests include.
function(ahead_precompiled target headers)
  if(AHEAD_PCH AND TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# ahead_precompiled_headers(NAME [OPTIONS ...] [USES ...]): precompiles cmake/NAME.h.
# OPTIONS must be those of the targets that use it.
function(ahead_precompiled_headers name)
  cmake_parse_arguments(PCH "" "" "OPTIONS;USES" ${ARGN})
  if(NOT AHEAD_PCH)
    return()
  endif()
  set(source "${CMAKE_BINARY_DIR}/${name}.cc")
  if(NOT EXISTS "${source}")
    file(WRITE "${source}" "// Nothing but what is precompiled.\n")
  endif()
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE ${PCH_USES})
  target_compile_options(${name} PRIVATE ${PCH_OPTIONS})
  target_precompile_headers(${name} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/${name}.h")
  ahead_only_what_tests_need(${name})
endfunction()
