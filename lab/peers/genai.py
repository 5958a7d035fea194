#!/usr/bin/env python3
"""OpenVINO GenAI's LLMPipeline on the CPU, one request: genai.py MODEL THREADS PROMPT TOKENS SDPA|PA; or --check."""

import json
import sys
import time

import numpy as np
import openvino as ov
import openvino_genai as genai


def since_start() -> float:
    """Seconds since the process began, as the kernel has it."""
    with open("/proc/self/stat", encoding="ascii") as stat, open("/proc/uptime", encoding="ascii") as uptime:
        begin = float(stat.read().rsplit(") ", 1)[1].split()[19]) / 100
        return float(uptime.read().split()[0]) - begin


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        return
    model, threads, prompt, tokens, attention = sys.argv[1:6]
    origin = since_start() - time.perf_counter()
    pipeline = genai.LLMPipeline(model, "CPU", INFERENCE_NUM_THREADS=int(threads), NUM_STREAMS=1,
                                 ENABLE_CPU_PINNING=False, ATTENTION_BACKEND=attention)
    config = genai.GenerationConfig()
    config.max_new_tokens, config.ignore_eos = int(tokens), True
    ids = np.array([[5 + (i * 7) % 1000 for i in range(int(prompt))]], dtype=np.int64)
    loaded = time.perf_counter()

    told = []

    def streamer(_: str) -> bool:
        if not told:
            print(".", flush=True)
            told.append(True)
        return False

    result = pipeline.generate(genai.TokenizedInputs(ov.Tensor(ids), ov.Tensor(np.ones_like(ids))), config, streamer)
    metrics = result.perf_metrics
    first = metrics.get_ttft().mean / 1e3
    generated = metrics.get_num_generated_tokens()
    print(json.dumps({
        "peer": f"openvino-genai {genai.__version__}, {attention}",
        "time_s": {"load": origin + loaded, "prefill": first, "ttft": first, "ttft_cold": origin + loaded + first,
                   "decode": metrics.get_tpot().mean / 1e3 * (generated - 1)},
        "tokens": {"prompt": int(prompt), "generated": generated}}))


if __name__ == "__main__":
    main()
