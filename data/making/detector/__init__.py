"""How the detector of icons was taught: screens of real products, and of ones that never were."""
