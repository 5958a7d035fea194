#!/usr/bin/env python3
"""Tiny random GGUF files, one for each family and condition: python3 tiny_gguf.py OUT_DIR [NAME...]

The same bytes every time: llamacpp.mjs wrote down what llama.cpp makes of them (expected.json).
Needs gguf and numpy.
"""

import dataclasses
import pathlib
import sys

import gguf
import numpy as np

HIDDEN, FEED, HEADS, HEAD_DIM, VOCABULARY, CONTEXT, WINDOW, EXPERTS = 64, 256, 4, 16, 320, 512, 32, 4
KV_HEADS = 2


@dataclasses.dataclass(frozen=True)
class Family:
    architecture: str
    layers: int = 4
    kv_heads: int = KV_HEADS
    window: int = 0
    qk_norm: bool = False
    qkv_bias: bool = False
    fused: bool = False
    experts: bool = False
    expert_norm: bool | None = None
    gpt_oss: bool = False
    post_norms: bool = False
    tied: bool = False
    rotated: int = HEAD_DIM
    factors: tuple = ()
    scaling: str = ""
    base: float = 1e4


def llama3_factors():
    """Llama 3's own formula, for a context that was stretched eightfold from 64."""
    low, high, factor, original = 1.0, 4.0, 8.0, 64
    out = []
    for i in range(HEAD_DIM // 2):
        wave = 2 * np.pi * 1e4 ** (2 * i / HEAD_DIM)
        if wave < original / high:
            out.append(1.0)
        elif wave > original / low:
            out.append(factor)
        else:
            smooth = (original / wave - low) / (high - low)
            out.append(1 / ((1 - smooth) / factor + smooth))
    return tuple(out)


FAMILIES = {
    "llama": Family("llama"),
    "llama_factors_8": Family("llama", factors=(8.0,) * (HEAD_DIM // 2)),
    "llama_factors_eighth": Family("llama", factors=(0.125,) * (HEAD_DIM // 2)),
    "llama_factors_llama3": Family("llama", factors=llama3_factors()),
    "llama_linear": Family("llama", scaling="linear"),
    "llama_yarn": Family("llama", scaling="yarn"),
    "llama_experts": Family("llama", experts=True),
    "qwen2": Family("qwen2", qkv_bias=True),
    "qwen3": Family("qwen3", qk_norm=True),
    "mistral3": Family("mistral3"),
    "phi3": Family("phi3", fused=True),
    "phi3_partial": Family("phi3", fused=True, rotated=8),
    "gemma": Family("gemma", kv_heads=1, tied=True),
    "gemma3": Family("gemma3", layers=7, post_norms=True, qk_norm=True, window=WINDOW, tied=True,
                     kv_heads=1, base=1e6),
    "gpt-oss": Family("gpt-oss", experts=True, gpt_oss=True, qkv_bias=True, window=WINDOW),
    "olmoe": Family("olmoe", experts=True, kv_heads=HEADS, qk_norm=True),
    "qwen3moe": Family("qwen3moe", experts=True, qk_norm=True),
    "qwen3moe_norm": Family("qwen3moe", experts=True, qk_norm=True, expert_norm=True),
    "smollm3": Family("smollm3", tied=True),
}


def alphabet():
    """GPT-2's characters for the 256 bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def write(family: Family, path: pathlib.Path) -> None:
    writer = gguf.GGUFWriter(str(path), family.architecture)
    random = np.random.default_rng(0)
    writer.add_file_type(0)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(family.layers)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(family.kv_heads)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_dimension_count(family.rotated)
    writer.add_rope_freq_base(family.base)
    writer.add_layer_norm_rms_eps(1e-6)
    if family.window:
        writer.add_sliding_window(family.window)
    if family.scaling:
        writer.add_rope_scaling_type(gguf.RopeScalingType(family.scaling))
        writer.add_rope_scaling_factor(4.0)
        writer.add_rope_scaling_orig_ctx_len(64)
    if family.experts:
        writer.add_expert_count(EXPERTS)
        writer.add_expert_used_count(2)
        writer.add_expert_feed_forward_length(FEED)
    if family.expert_norm is not None:
        writer.add_expert_weights_norm(family.expert_norm)
    tokens = alphabet() + ["th"] + [f"x{i}" for i in range(VOCABULARY - 257)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * VOCABULARY)
    writer.add_token_merges(["t h"])

    def tensor(name, *shape):
        values = random.standard_normal(shape)
        values = values * 0.2 if len(shape) > 1 else 1 + values * 0.1
        writer.add_tensor(name, values.astype(np.float32))

    tensor("token_embd.weight", VOCABULARY, HIDDEN)
    tensor("output_norm.weight", HIDDEN)
    if not family.tied:
        tensor("output.weight", VOCABULARY, HIDDEN)
    if family.factors:
        writer.add_tensor("rope_freqs.weight", np.array(family.factors, dtype=np.float32))
    for layer in range(family.layers):
        add_layer(family, lambda name, *shape, at=f"blk.{layer}.": tensor(at + name, *shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_layer(family, tensor):
    q, kv = HEADS * HEAD_DIM, family.kv_heads * HEAD_DIM
    tensor("attn_norm.weight", HIDDEN)
    if family.fused:
        tensor("attn_qkv.weight", q + 2 * kv, HIDDEN)
    else:
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            tensor(f"attn_{name}.weight", rows, HIDDEN)
    if family.qkv_bias:
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            tensor(f"attn_{name}.bias", rows)
    if family.qk_norm:  # OLMoE's go over all heads at once
        whole = family.architecture == "olmoe"
        tensor("attn_q_norm.weight", q if whole else HEAD_DIM)
        tensor("attn_k_norm.weight", kv if whole else HEAD_DIM)
    tensor("attn_output.weight", HIDDEN, q)
    if family.gpt_oss:
        tensor("attn_output.bias", HIDDEN)
        tensor("attn_sinks.weight", HEADS)
        tensor("post_attention_norm.weight", HIDDEN)
    else:
        tensor("ffn_norm.weight", HIDDEN)
    if family.post_norms:
        tensor("post_attention_norm.weight", HIDDEN)
        tensor("post_ffw_norm.weight", HIDDEN)
    if family.experts:
        tensor("ffn_gate_inp.weight", EXPERTS, HIDDEN)
        tensor("ffn_gate_exps.weight", EXPERTS, FEED, HIDDEN)
        tensor("ffn_up_exps.weight", EXPERTS, FEED, HIDDEN)
        tensor("ffn_down_exps.weight", EXPERTS, HIDDEN, FEED)
        if family.gpt_oss:
            tensor("ffn_gate_inp.bias", EXPERTS)
            tensor("ffn_gate_exps.bias", EXPERTS, FEED)
            tensor("ffn_up_exps.bias", EXPERTS, FEED)
            tensor("ffn_down_exps.bias", EXPERTS, HIDDEN)
    elif family.fused:
        tensor("ffn_up.weight", 2 * FEED, HIDDEN)
        tensor("ffn_down.weight", HIDDEN, FEED)
    else:
        tensor("ffn_gate.weight", FEED, HIDDEN)
        tensor("ffn_up.weight", FEED, HIDDEN)
        tensor("ffn_down.weight", HIDDEN, FEED)


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or FAMILIES:
        write(FAMILIES[name], out / f"{name}.gguf")


if __name__ == "__main__":
    main()
