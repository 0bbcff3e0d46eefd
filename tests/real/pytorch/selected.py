"""selected.py - the training loop of the users' guide, on the CPU, of which three batches count."""
import os
import sys

import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
train_loader = [(torch.rand(8, 16), torch.randint(0, 4, (8,))) for _ in range(6)]
by_itt = sys.argv[1:] == ["itt"]


def switch(on):
    if by_itt:
        import ittapi.compat as itt
        (itt.resume if on else itt.pause)()
    else:
        os.environ["PTI_ENABLE_COLLECTION"] = "1" if on else "0"


with torch.autograd.profiler.emit_itt(record_shapes=False):
    switch(True)
    for batch_idx, (data, target) in enumerate(train_loader):
        with torch.profiler.itt.range(f"batch_{batch_idx}"):
            optimizer.zero_grad()
            output = model(data)
            loss = criterion(output, target)
            loss.backward()
            optimizer.step()
        if batch_idx == 2:
            switch(False)
print("trained")
