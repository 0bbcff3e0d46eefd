"""with_torch.py - two copies of ITT's static part in one process, speaking of the same things."""
import ittapi
import torch

with torch.autograd.profiler.emit_itt():
    for i in range(2):
        # Torch's domain and one of its names, said by another library.
        with ittapi.task("aten::ones", domain="PyTorch"):
            torch.ones(4)
        with torch.profiler.itt.range("shared"):
            pass
        with ittapi.task("shared", domain="PyTorch"):
            pass
