"""How do several processes work on one job? Devices, torchrun, what each rank reports, and a watch over it."""
