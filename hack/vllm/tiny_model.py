"""Write a tiny random Llama with its own tokenizer: enough of a model for a real vLLM on CPU.

Runs under the Python that has vLLM and transformers installed, not under the project's own.
Random weights repeat themselves, so n-gram drafts are accepted; a one-layer twin serves as a draft model.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 512
MAXIMUM_POSITIONS = 2048
SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "Speculative decoding drafts several tokens and verifies them in one step.",
    "Past the break-even concurrency the same setting makes the service slower.",
    "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ",
] * 20


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer with a vocabulary of 512."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(SENTENCES, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>", eos_token="</s>")  # noqa: S106


def save(folder: Path, layers: int) -> None:
    """Write a Llama of so many layers, its weights drawn with a fixed seed."""
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=MAXIMUM_POSITIONS,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer().save_pretrained(folder)


def main() -> None:
    """Write `target` (four layers) and `draft` (one layer) under the folder given."""
    folder = Path(sys.argv[1])
    save(folder / "target", layers=4)
    save(folder / "draft", layers=1)


if __name__ == "__main__":
    main()
