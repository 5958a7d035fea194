# A room is one static library of src/<room>/ plus one test program of the x_test.cc beside it.
include(GoogleTest)

# ahead_room(NAME SOURCES a.cc... [TESTS a_test.cc...] [USES targets...] [LABEL unit])
function(ahead_room name)
  cmake_parse_arguments(ROOM "" "LABEL" "SOURCES;TESTS;USES" ${ARGN})
  add_library(ahead_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(ahead_${name} PUBLIC "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(ahead_${name} PUBLIC ${ROOM_USES})
  if(ROOM_TESTS)
    ahead_test(test_${name} LABEL "${ROOM_LABEL}" SOURCES ${ROOM_TESTS} USES ahead_${name})
  endif()
endfunction()

# ahead_test(NAME SOURCES ... USES ... [LABEL unit|sim|openvino|npu-compiler])
# Unit tests are one ctest entry a case; the others, which load models, one entry a program, and so are
# all under a sanitizer, where a process takes longer to begin than most cases to run.
function(ahead_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;USES" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL unit)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_USES} GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
  if(AHEAD_SANITIZE)
    # Compiling the tests would take most of a sanitizer's run; what they test keeps its -O1.
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(NOT AHEAD_SANITIZE AND (TEST_LABEL STREQUAL "unit" OR TEST_LABEL STREQUAL "sim"))
    gtest_discover_tests(${name} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT 120 DISCOVERY_TIMEOUT 60)
  else()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT 600
      ENVIRONMENT "AHEAD_DEPS_DIR=${AHEAD_DEPS_DIR}")
  endif()
endfunction()
