#!/usr/bin/env python3
"""Makes statistics.json: what SciPy and NumPy say of random pairs, for src/lab/statistics.h.

usage: make_references.py > statistics.json        (scipy==1.17.1)
"""

import json

import numpy
import scipy
from scipy import stats


def case(random: numpy.random.Generator, pairs: int) -> dict:
    a = random.lognormal(random.uniform(-3, 6), 0.3, pairs)
    b = a * random.normal(random.choice([0.7, 0.97, 1.0, 1.02]), 0.05, pairs)
    found = {"a": a.tolist(), "b": b.tolist(), "median_a": float(numpy.median(a)),
             "mean_a": float(numpy.mean(a)), "difference": float(numpy.mean(b - a))}
    if pairs > 1:
        interval = stats.ttest_rel(b, a).confidence_interval(0.95)
        found["low"], found["high"] = float(interval.low), float(interval.high)
        flipped = stats.permutation_test(
            (b - a,), lambda x, axis: numpy.mean(x, axis=axis), permutation_type="samples",
            vectorized=True, n_resamples=numpy.inf, alternative="two-sided")
        found["p"] = float(flipped.pvalue)
    return found


def main() -> None:
    random = numpy.random.default_rng(20261201)
    cases = [case(random, pairs) for pairs in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12) for _ in range(4)]
    print(json.dumps({"scipy": scipy.__version__, "cases": cases}))


if __name__ == "__main__":
    main()
