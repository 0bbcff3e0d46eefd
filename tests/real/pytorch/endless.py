"""endless.py - one operator after the other, until somebody ends it."""
import torch

with torch.autograd.profiler.emit_itt():
    i = 0
    while True:
        with torch.profiler.itt.range(f"step_{i % 10}"):
            torch.ones(8).sum()
        i += 1
        if i == 1000:
            print("a thousand", flush=True)
