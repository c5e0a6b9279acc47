"""Training of icon encoders: captions, batches, distillation, the DDP loop. Needs the extra `train`."""
