"""Icons of one set -> the nearest of another: compared, judged, shown, read back."""
