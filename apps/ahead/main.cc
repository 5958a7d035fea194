// The program `ahead`: everything it does is in command_line.cc and what that names.
#include "command_line.h"

int main(int argc, char** argv) { return ahead::cli::run_command_line(argc, argv); }
