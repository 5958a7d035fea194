#!/usr/bin/env python3
"""OpenVINO's NPU pipeline for language models (NPUW) on the CPU, one request:
npuw.py MODEL.xml b0|b1 CAPACITY PROMPT TOKENS; or --check. b0 is one graph of the whole capacity, b1 its pyramid."""

import json
import sys
import time

import numpy as np
import openvino as ov

from genai import since_start

RESPONSE = 128


def infer(request: ov.InferRequest, first: int, count: int) -> int:
    """Runs `count` tokens at the positions from `first` on; the likeliest next one."""
    request.set_tensor("input_ids", ov.Tensor(np.full([1, count], 5, np.int64)))
    request.set_tensor("attention_mask", ov.Tensor(np.ones([1, first + count], np.int64)))
    request.set_tensor("position_ids", ov.Tensor(np.arange(first, first + count, dtype=np.int64)[None]))
    request.infer()
    return int(np.argmax(request.get_tensor("logits").data[0, -1]))


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        return
    model, design, capacity, prompt, tokens = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    origin = since_start() - time.perf_counter()
    core = ov.Core()
    compiled = core.compile_model(core.read_model(model), "NPU", {
        "NPU_USE_NPUW": "YES", "NPUW_LLM": "YES", "NPUW_DEVICES": "CPU", "NPUW_ONLINE_PIPELINE": "NONE",
        "NPUW_WEIGHTS_BANK": "shared", "NPUW_LLM_BATCH_DIM": 0, "NPUW_LLM_SEQ_LEN_DIM": 2,
        "NPUW_LLM_MAX_PROMPT_LEN": capacity - RESPONSE, "NPUW_LLM_MIN_RESPONSE_LEN": RESPONSE,
        "NPUW_LLM_GENERATE_PYRAMID": "YES" if design == "b1" else "NO"})
    request = compiled.create_infer_request()
    begin = time.perf_counter()
    infer(request, 0, prompt)
    first = time.perf_counter()
    print(".", flush=True)
    for step in range(tokens - 1):
        infer(request, prompt + step, 1)
    end = time.perf_counter()
    print(json.dumps({
        "peer": f"openvino {ov.__version__}, NPUW on the CPU, {design}",
        "time_s": {"load": origin + begin, "prefill": first - begin, "ttft": first - begin,
                   "ttft_cold": origin + first, "decode": end - first},
        "tokens": {"prompt": prompt, "generated": tokens}}))


if __name__ == "__main__":
    main()
