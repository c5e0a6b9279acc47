"""How does data reach a device without anyone waiting for it? Page-locked, and on a GPU while it computes."""

import torch
from torch import Tensor


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy to a device in the order of its work; the host goes on at once.

    From memory that is not page-locked the driver would copy twice, and the host wait for all that is queued before.
    """
    if device.type == "cpu" or tensor.device == device:
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
