"""Icons in screenshots: detector, boxes, crops, and the index of what was seen."""
