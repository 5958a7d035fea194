// The orders in which arms of a campaign take turns. May use: std.
#pragma once

#include <cstddef>
#include <vector>

namespace ahead::lab {

/// The sequences of a Williams design for `arms` arms (at least one), by their numbers from 0. Over
/// all sequences each arm stands in each place, and directly behind each other arm, equally often:
/// what one run leaves behind (a warm cache, a hot processor) falls on all alike. As many sequences
/// as arms where their number is even, twice as many where it is odd; there a sequence is followed
/// by its reverse. (E. J. Williams, "Experimental designs balanced for the estimation of residual
/// effects of treatments", Australian Journal of Scientific Research A 2, 1949.)
[[nodiscard]] std::vector<std::vector<std::size_t>> williams_sequences(std::size_t arms);

}  // namespace ahead::lab
