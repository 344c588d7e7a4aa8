"""fastText models: .bin, quantized .ftz."""
