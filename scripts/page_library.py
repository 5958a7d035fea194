#!/usr/bin/env python3
"""Writes the plotting library of reports (Vega, Vega-Lite, vega-embed) as one file of JavaScript.

usage: page_library.py FILE

Takes it from vl_convert, which carries it: nothing is fetched. In a page it defines vegaEmbed.
"""

import pathlib
import sys

import vl_convert


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    file = pathlib.Path(sys.argv[1])
    draft = file.with_suffix(".draft")
    draft.write_text(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", "6.4"),
                     encoding="utf-8")
    draft.replace(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
