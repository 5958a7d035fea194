# The engine of chat templates: a small Rust library over minijinja (src/text/chat_template), built
# once for all presets. scripts/setup.sh has fetched what its Cargo.lock names.
find_program(AHEAD_CARGO cargo REQUIRED)
set(source "${CMAKE_SOURCE_DIR}/src/text/chat_template")
set(target "${CMAKE_SOURCE_DIR}/build/chat_template")
set(library "${target}/release/libahead_chat_template.a")
add_custom_command(
  OUTPUT "${library}"
  COMMAND "${AHEAD_CARGO}" build --release --locked --offline --quiet
    --manifest-path "${source}/Cargo.toml" --target-dir "${target}"
  DEPENDS "${source}/Cargo.toml" "${source}/Cargo.lock" "${source}/src/lib.rs"
    "${source}/src/python.rs" "${source}/src/settings.rs"
  COMMENT "Building the chat templates' engine (Rust)"
  VERBATIM)
add_custom_target(ahead_chat_engine_build DEPENDS "${library}")
add_library(ahead_chat_engine INTERFACE)
add_dependencies(ahead_chat_engine ahead_chat_engine_build)
target_link_libraries(ahead_chat_engine INTERFACE "${library}" Threads::Threads ${CMAKE_DL_LIBS} m)
