"""Teaching the detector of icons in screens: screens -> tiles -> net -> ONNX."""
