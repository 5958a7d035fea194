#!/usr/bin/env python3
"""Writes a small synthetic GGUF model of the architecture `qwen2`.

usage: make_qwen2_gguf.py OUT.gguf

A tool of the tests only. It differs from the llama-like test model where Qwen2 does: biases on q, k
and v, an output matrix apart from the embedding, the qwen2 pre-tokenizer; and it mixes F16, F32 and
Q8_0 tensors. The weights are noise from a fixed seed, scaled so that logits spread over several
units: greedy choices are then not near-ties, which rounding would flip. Same file at every call.
"""

import sys

import gguf
import numpy as np

LAYERS, HIDDEN, FFN = 4, 128, 256
HEADS, KV_HEADS, HEAD_DIM = 8, 2, 16
CONTEXT = 1024
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# In order of rank; "_" stands for the space's byte symbol. Each side is a byte or an earlier result.
MERGES = """
_ t; _ a; h e; i n; r e; o n; _t he; e r; _ s; a t; _ w; _ o; e n; _ c; i t; i s; a n; o r; e s; _ b;
e d; _ f; in g; _ p; o u; _a n; a l; a r; _t o; _ m; _o f; _ in; _ d; _ h; _an d; i c; l e; _t h;
o m; l l
"""
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def byte_symbols() -> list[str]:
    """The printable character byte-level BPE writes for each byte, in order of the byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (chr(0x100 + n) for n in range(256 - len(printable)))
    return [chr(byte) if byte in printable else next(others) for byte in range(256)]


def vocabulary() -> tuple[list[str], list[str]]:
    """Tokens in order of their id, special ones last, and merges in order of rank."""
    symbols = byte_symbols()
    text = " ".join(MERGES.split()).replace("_", symbols[ord(" ")])
    merges = [merge.strip() for merge in text.split(";")]
    tokens = symbols + [merge.replace(" ", "") for merge in merges]
    assert len(set(tokens)) == len(tokens)
    assert all(part in tokens for merge in merges for part in merge.split(" "))
    return tokens + SPECIAL, merges


def add_metadata(writer: gguf.GGUFWriter) -> int:
    """Returns the size of the vocabulary."""
    tokens, merges = vocabulary()
    kinds = [gguf.TokenType.NORMAL] * (len(tokens) - len(SPECIAL))
    kinds += [gguf.TokenType.CONTROL] * len(SPECIAL)
    writer.add_type(gguf.GGUFType.MODEL)
    # OpenVINO GenAI looks for scales only when the file type is a quantised one.
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_name("Ahead synthetic qwen2")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)
    return len(tokens)


def add_tensors(writer: gguf.GGUFWriter, vocab: int) -> None:
    rng = np.random.Generator(np.random.PCG64(20261129))

    def noise(shape, scale):
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    def matrix(name, rows, columns, gain=1.0, kind=gguf.GGMLQuantizationType.F16):
        data = noise((rows, columns), gain / np.sqrt(columns))
        writer.add_tensor(name, gguf.quants.quantize(data, kind), raw_dtype=kind)

    def vector(name, size, mean, spread):
        writer.add_tensor(name, (mean + noise(size, spread)).astype(np.float32))

    q8_0 = gguf.GGMLQuantizationType.Q8_0
    matrix("token_embd.weight", vocab, HIDDEN, gain=np.sqrt(HIDDEN))
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        vector(block + "attn_norm.weight", HIDDEN, 1.0, 0.1)
        # A gain above 1 on q and k makes attention choose, so that positions and masks matter.
        for name, rows, gain in (
            ("attn_q", HEADS * HEAD_DIM, 1.5),
            ("attn_k", KV_HEADS * HEAD_DIM, 1.5),
            ("attn_v", KV_HEADS * HEAD_DIM, 1.0),
        ):
            matrix(f"{block}{name}.weight", rows, HIDDEN, gain)
            vector(f"{block}{name}.bias", rows, 0.0, 0.3)
        matrix(block + "attn_output.weight", HIDDEN, HEADS * HEAD_DIM)
        vector(block + "ffn_norm.weight", HIDDEN, 1.0, 0.1)
        matrix(block + "ffn_gate.weight", FFN, HIDDEN, kind=q8_0)
        matrix(block + "ffn_up.weight", FFN, HIDDEN, kind=q8_0)
        matrix(block + "ffn_down.weight", HIDDEN, FFN, kind=q8_0)
    vector("output_norm.weight", HIDDEN, 1.0, 0.1)
    matrix("output.weight", vocab, HIDDEN, gain=4.0)


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    writer = gguf.GGUFWriter(sys.argv[1], "qwen2")
    add_tensors(writer, add_metadata(writer))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
