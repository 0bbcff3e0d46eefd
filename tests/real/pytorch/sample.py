# sample.py
import torch
import torch.nn as nn

class ITTSample(nn.Module):
    def __init__(self):
        super(ITTSample, self).__init__()
        self.conv = nn.Conv2d(3, 5, 3)
        self.linear = nn.Linear(292820, 1000)

    def forward(self, x):
        x = self.conv(x)
        x = x.view(x.shape[0], -1)
        x = self.linear(x)
        return x

def main():
    m = ITTSample()
    # Uncomment the following line for XPU (GPU) profiling
    # m = m.to("xpu")

    x = torch.rand(10, 3, 244, 244)
    # Uncomment the following line for XPU (GPU) profiling
    # x = x.to("xpu")

    with torch.autograd.profiler.emit_itt():
        for i in range(3):
            # Method 1: Label a region using push/pop
            # torch.profiler.itt.range_push(f'iteration_{i}')
            # m(x)
            # torch.profiler.itt.range_pop()

            # Method 2: Label a region using a context manager (recommended)
            with torch.profiler.itt.range(f'iteration_{i}'):
                m(x)

if __name__ == '__main__':
    main()
